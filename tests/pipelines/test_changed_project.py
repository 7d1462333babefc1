"""Whole projects under DVC after a change: what runs again, and what does not."""

import json
from pathlib import Path

import numpy as np
import pytest
from whole_project import change, stages_that_ran

from conftest import run
from cxprobe.files.tables import read_table

pytestmark = pytest.mark.pipeline


def test_a_new_file_of_the_corpus_is_mined(project):
    text = {"text": "Now the old fox runs, the young bird sings.", "url": "toy/new"}
    (project / "corpus" / "2.jsonl").write_text(json.dumps(text) + "\n")
    ran = stages_that_ran(run(project, "dvc", "repro", "make_recognition").stdout)
    assert ran[0] == "mine_sentences@toys"


def test_new_probe_parameters_and_another_score_ask_no_model(project):
    def judge_otherwise(params):
        params["recognition"]["probe"]["C"] = 0.5
        params["pairs"]["evaluate"]["score"] = "sum"
        params["prompts"]["evaluate"]["score"] = "sum"

    asked = answers_kept(project)
    change(project, judge_otherwise)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    measured = [f"measure_recognition@{model}" for model in ("one", "one-random", "by-form")]
    judged = ["evaluate_recognition", "evaluate_pairs", "evaluate_prompts"]
    assert sorted(ran) == sorted([*measured, *judged, "report"])
    assert answers_kept(project) == asked


def test_an_edit_of_code_runs_what_uses_the_module_and_a_comment_runs_nothing(project):
    def outdated(file: str, code: str) -> set[str]:
        with (project / "src" / "cxprobe" / file).open("a") as changed:
            changed.write(f"\n{code}")
        run(project, "dvc", "repro", "list_code")
        status = json.loads(run(project, "dvc", "status", "--json").stdout)
        return {stage for stage, reasons in status.items() if "data/list_code" in str(reasons)}

    assert outdated("tasks/pairs/evaluate.py", "# another comment\n") == set()
    assert outdated("run/tracking.py", "_CHANGED = 1\n") == set()
    assert outdated("tasks/pairs/evaluate.py", "_CHANGED = 1\n") == {"evaluate_pairs", "report"}


def test_a_corrected_frame_costs_its_own_texts(project):
    path = project / "constructions/toy/pairs.yaml"
    asked = answers_kept(project)
    run(project, "dvc", "repro", "--force", "--single-item", "measure_pairs@mlm", "measure_pairs@clm")
    assert answers_kept(project) == asked  # everything was kept
    path.write_text(path.read_text().replace("gift: a song", "gift: an ode"))
    run(project, "dvc", "repro", "measure_pairs")
    more = answers_kept(project) - asked
    assert 0 < more < asked / 2


def answers_kept(folder: Path) -> int:
    """Return how many answers the stores of all models hold."""
    files = (folder / "data/.scratch/answers").glob("*/*.answers")
    return len({key for file in files for key in np.load(file, allow_pickle=False).tolist()})  # the first array


def test_a_new_model_is_measured_alone_and_one_that_left_leaves_the_report(project):
    change(project, lambda params: params["recognition"].update(models={"one": {}, "two": {}}))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran == ["measure_recognition@two", "evaluate_recognition", "report"]
    assert models_reported(project) == ["one", "two"]
    change(project, lambda params: params["recognition"].update(models={"two": {}}))
    run(project, "dvc", "repro", "evaluate_recognition")
    assert models_reported(project) == ["two"]


def test_what_one_model_is_asked_about_runs_no_stage_of_another(project):
    def ask_fewer(params):
        params["pairs"]["models"]["clm"] = {"meaning": 1, "form": 1, "control": 1}
        params["recognition"]["constructions"]["toy"] = ["generated", "mined"]
        params["recognition"]["make"]["mined"].update(train_per_label=2, test_per_label=2, all_sentences=True)
        params["recognition"]["models"] |= {"one": {"toy": ["mined"]}, "one-random": {"toy": ["mined"]}}

    change(project, ask_fewer)
    ran = stages_that_ran(run(project, "dvc", "repro", "evaluate_pairs", "evaluate_recognition").stdout)
    assert [stage for stage in ran if stage.startswith("measure_pairs")] == ["measure_pairs@clm"]
    table = read_table(project / "results/evaluate_recognition/rates.csv")
    asked, mined = table.groupby("model")["source"].agg(set).to_dict(), {"mined"}
    both = mined | {"generated"}
    assert asked == {"one": mined, "one-random": mined, "positions": both, "word-ngrams": both}
    responses = read_table(project / "data/evaluate_pairs/responses.parquet")
    judged = responses[responses["decides"]].groupby("model").size()
    assert judged["clm"] < judged["mlm"]


def models_reported(folder: Path) -> list[str]:
    return sorted(set(read_table(folder / "results/evaluate_recognition/rates.csv")["model"]))


def test_a_line_without_models_makes_and_measures_nothing(project):
    def only_pairs(params):
        for line in ("recognition", "scenarios", "prompts", "interventions"):
            for key in ("models", "llms", "constructions"):
                if key in params[line]:
                    params[line][key] = type(params[line][key])()

    change(project, only_pairs)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert not [stage for stage in ran if "@" in stage]
