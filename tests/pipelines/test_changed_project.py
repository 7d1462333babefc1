"""Whole projects under DVC after a change: what runs again, and what does not."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from whole_project import change, stages_that_ran

from conftest import run, save_toy_tagger
from cxprobe.files.tables import read_table

pytestmark = pytest.mark.pipeline


def test_a_new_file_of_the_corpus_is_mined(project):
    text = {"text": "Now the old fox runs, the young bird sings.", "url": "toy/new"}
    (project / "corpus" / "2.jsonl").write_text(json.dumps(text) + "\n")
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran[0] == "mine_sentences@toys"


def test_new_probe_parameters_ask_no_model_for_vectors(project):
    asked = answers_kept(project)
    change(project, lambda params: params["recognition"]["probe"].update(C=0.5))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    measured = [f"measure_recognition@{model}" for model in ("one", "one-random", "by-form")]
    assert sorted(ran) == sorted([*measured, "judge_recognition", "report_recognition", "report"])
    assert answers_kept(project) == asked


def test_another_score_decides_without_asking_a_model(project):
    def decide_otherwise(params):
        params["pairs"]["judge"]["score"] = "sum"
        params["prompts"]["judge"]["score"] = "sum"

    change(project, decide_otherwise)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    expected = [f"{step}_{line}" for step in ("judge", "report") for line in ("pairs", "prompts")]
    assert sorted(ran) == sorted([*expected, "report"])


@pytest.mark.parametrize(
    ("file", "code", "expected"),
    [
        ("pairs/evaluate.py", "_CHANGED = 1\n", {"evaluate_pairs", "report"}),
        ("scenarios/evaluate.py", "_CHANGED = 1\n", {"evaluate_scenarios", "report"}),
        ("report/dots.py", "_CHANGED = 1\n", {"judge_", "report"}),
        (
            "pairs/params.py",
            "_CHANGED = 1\n",
            {*(f"{step}_pairs" for step in ("make", "score", "probe", "evaluate")), "report"},
        ),
        ("pairs/evaluate.py", "# another comment\n", set()),
        ("pairs/params.py", '"""Another text."""\n', set()),
        ("run/tracking.py", "_CHANGED = 1\n", set()),
    ],
)
def test_an_edit_of_code_runs_what_uses_the_module_and_a_comment_runs_nothing(project, file, code, expected):
    with (project / "src" / "cxprobe" / file).open("a") as changed:
        changed.write(f"\n{code}")
    run(project, "dvc", "repro", "list_code")
    status = json.loads(run(project, "dvc", "status", "--json").stdout)
    outdated = {
        stage
        for stage, reasons in status.items()
        if any(
            "data/list_code" in path
            for reason in reasons
            if isinstance(reason, dict)
            for path in reason.get("changed deps", {})
        )
    }
    assert bool(outdated) == bool(expected)
    assert all(stage.startswith((*expected, "report")) for stage in outdated), outdated


def test_a_corrected_frame_costs_its_own_texts(project):
    path = project / "constructions/toy/pairs.yaml"
    asked = answers_kept(project)
    run(project, "dvc", "repro", "--force", "--single-item", "score_pairs@mlm", "score_pairs@clm")
    assert answers_kept(project) == asked  # everything was kept
    path.write_text(path.read_text().replace("gift: a song", "gift: an ode"))
    run(project, "dvc", "repro", "score_pairs")
    more = answers_kept(project) - asked
    assert 0 < more < asked / 2


def answers_kept(folder: Path) -> int:
    """Return how many answers the stores of all models hold."""
    files = (folder / "data/.scratch/answers").glob("*/*.answers")
    return len({key for file in files for key in np.load(file, allow_pickle=False).tolist()})  # the first array


def test_a_new_model_is_measured_alone_and_one_that_left_leaves_the_report(project):
    change(project, lambda params: params["recognition"].update(models={"one": {}, "two": {}}))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran == ["measure_recognition@two", "judge_recognition", "report_recognition", "report"]
    assert models_reported(project) == ["one", "two"]
    change(project, lambda params: params["recognition"].update(models={"two": {}}))
    run(project, "dvc", "repro", "report_recognition")
    assert models_reported(project) == ["two"]


def test_what_one_model_is_asked_about_runs_no_stage_of_another(project):
    def ask_fewer(params):
        params["pairs"]["models"]["clm"] = {"meaning": 1, "form": 1, "control": 1}
        params["recognition"]["constructions"]["toy"] = ["generated", "mined"]
        params["recognition"]["make"]["mined"].update(train_per_label=2, test_per_label=2, all_sentences=True)
        params["recognition"]["models"] |= {"one": {"toy": ["mined"]}, "one-random": {"toy": ["mined"]}}

    change(project, ask_fewer)
    ran = stages_that_ran(run(project, "dvc", "repro", "evaluate_pairs", "report_recognition").stdout)
    assert [stage for stage in ran if stage.startswith("score_")] == ["score_pairs@clm"]
    table = read_table(project / "results/report_recognition/accuracy.csv")
    asked, mined = table.groupby("model")["source"].agg(set).to_dict(), {"mined"}
    both = mined | {"generated"}
    assert asked == {"one": mined, "one-random": mined, "positions": both, "word-ngrams": both}
    responses = read_table(project / "data/evaluate_pairs/responses.parquet")
    judged = responses[responses["decides"]].groupby("model").size()
    assert judged["clm"] < judged["mlm"]

    change(project, lambda params: params["recognition"]["models"].update(one={}))
    ran = stages_that_ran(run(project, "dvc", "repro", "report_recognition").stdout)
    assert ran == ["measure_recognition@one", "judge_recognition", "report_recognition"]


def models_reported(folder: Path) -> list[str]:
    return sorted(set(read_table(folder / "results/report_recognition/accuracy.csv")["model"]))


def test_marked_sentences_have_the_subsets_of_mined_ones_and_other_vectors(project):
    pattern = project / "constructions/toy/pattern.yaml"
    tokens, slot = "tokens: [{LOWER: the}, {TAG: JJ}]", "dependencies: [{RIGHT_ID: half-1, RIGHT_ATTRS: {TAG: JJ}}]"

    def mark_too(params):
        params["recognition"]["models"] = {"one": {}, "by-form": {}}
        params["recognition"]["constructions"]["toy"] = ["mined", "marked"]
        params["recognition"]["make"]["mined"].update(train_per_label=2, test_per_label=2, all_sentences=True)

    change(project, mark_too)
    refused = run(project, "dvc", "repro", "make_recognition", check=False)
    assert refused.returncode
    assert (
        "toy/pattern.yaml: not every form fills a slot of construction.yaml (half-1" in refused.stdout + refused.stderr
    )
    pattern.write_text(pattern.read_text().replace(tokens, slot))
    save_toy_tagger(project / "models/parser/en_ewt_cxprobe", parses=True)
    ran = stages_that_ran(run(project, "dvc", "repro", "report_recognition").stdout)
    assert {"mine_sentences@toys", "make_recognition", "measure_recognition@one", "report_recognition"} <= set(ran)
    made = {source: project / "data/make_recognition/toy" / source for source in ("mined", "marked")}
    mined, marked = (read_table(folder / "splits.parquet") for folder in made.values())
    pd.testing.assert_frame_equal(mined, marked)
    mined, marked = (read_table(folder / "sentences.parquet") for folder in made.values())
    pd.testing.assert_frame_equal(mined, marked.drop(columns=["start", "end"]))
    assert marked["start"].dtype == marked["end"].dtype == np.int64
    adjectives = {"red", "old", "green", "young"}
    for text, start, end in marked[["text", "start", "end"]].to_numpy():
        seen = text[start:end].split()
        assert {seen[0], seen[-1]} <= adjectives
        assert not adjectives & set((text[:start] + text[end:]).replace(",", "").split())
    folders = [project / "data/measure_recognition/one/toy" / source for source in made]
    whole, spans = (np.load(folder / "features.npy") for folder in folders)
    assert whole.shape == spans.shape
    assert np.abs(whole - spans).max() > 1e-3
    summary = read_table(project / "results/report_recognition/accuracy.csv")
    assert {*zip(summary["source"], summary["model"], strict=True)} >= {("mined", "one"), ("marked", "one")}


def test_a_line_without_models_makes_and_measures_nothing(project):
    def only_pairs(params):
        for line in ("recognition", "scenarios", "prompts"):
            for key in ("models", "llms", "constructions"):
                if key in params[line]:
                    params[line][key] = type(params[line][key])()

    change(project, only_pairs)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert not [stage for stage in ran if "@" in stage]
