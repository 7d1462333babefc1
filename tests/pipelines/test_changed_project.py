"""Whole projects under DVC after a change: what runs again, and what does not."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML
from whole_project import change, locked, runs, stages_that_ran

from conftest import run
from cxprobe.files.tables import read_table

pytestmark = pytest.mark.pipeline


def test_a_new_file_of_the_corpus_is_mined(project):
    text = {"text": "Now the old fox runs, the young bird sings.", "url": "toy/new"}
    (project / "corpus" / "2.jsonl").write_text(json.dumps(text) + "\n")
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran[0] == "mine_sentences@toy"


def test_new_probe_parameters_extract_nothing(project):
    change(project, lambda params: params["fit_probes"].update(C=0.5))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    models = ("one", "one-random", "by-form")
    fitted, judged = ([f"{stage}@{model}" for model in models] for stage in ("fit_probes", "judge_probes"))
    assert sorted(ran) == sorted([*(f"{stage}-toy" for stage in fitted), *judged, "report_recognition@all", "report"])


def test_another_score_decides_without_asking_a_model(project):
    def decide_otherwise(params):
        params["judge_pairs"]["score"] = "sum"
        params["judge_answers"]["score"] = "sum"

    change(project, decide_otherwise)
    ran = stages_that_ran(run(project, "dvc", "repro", "report_pairs", "report_prompts").stdout)
    assert sorted(ran) == [
        "judge_answers@by-half",
        "judge_answers@clm",
        "judge_pairs@by-rule",
        "judge_pairs@clm",
        "judge_pairs@mlm",
        "report_pairs@all",
        "report_prompts@all",
    ]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/cxprobe/judge/pairs.py", {"judge_benchmarks", "judge_pairs", "judge_ways"}),
        ("src/cxprobe/judge/scenarios.py", {"judge_scenarios"}),
        ("src/cxprobe/judge/recognition.py", {"judge_probes"}),
        ("src/cxprobe/judge/replies.py", {"judge_replies", "judge_ways"}),
        ("src/cxprobe/report/pairs.py", {"report_pairs"}),
        ("src/cxprobe/report/dots.py", {"judge_", "report_"}),
        ("src/cxprobe/report/recognition.py", {"judge_probes", "report_recognition"}),
        ("published/prompts.yaml", {"report_"}),
    ],
)
def test_how_answers_are_judged_or_drawn_runs_no_measuring_stage(project, file, expected):
    with (project / file).open("a") as changed:
        changed.write("\n# another comment\n")
    status = json.loads(run(project, "dvc", "status", "--json").stdout)
    outdated = {
        stage
        for stage, reasons in status.items()
        if any(
            file.startswith(path)
            for reason in reasons
            if isinstance(reason, dict)
            for path in reason.get("changed deps", {})
        )
    }
    assert outdated
    assert all(stage.startswith(("judge_", "report")) for stage in outdated), outdated
    assert all(any(stage.startswith(one) for one in (*expected, "report")) for stage in outdated), outdated


def test_a_corrected_frame_costs_its_own_texts(project):
    path = project / "constructions/toy/pairs.yaml"
    asked = answers_kept(project)
    run(project, "dvc", "repro", "--force", "score_pairs")
    assert answers_kept(project) == asked  # everything was kept
    path.write_text(path.read_text().replace("gift: a song", "gift: an ode"))
    run(project, "dvc", "repro", "score_pairs")
    more = answers_kept(project) - asked
    assert 0 < more < asked / 2


def answers_kept(folder: Path) -> int:
    """Return how many answers the stores of all models hold."""
    files = (folder / "data/.scratch/answers").glob("*/*.npz")
    return len({key for file in files for key in np.load(file, allow_pickle=False)["keys"].tolist()})


def test_a_construction_that_no_example_comes_from_asks_nothing_again(project):
    shutil.copytree(project / "constructions" / "toy", project / "constructions" / "other")
    done = run(project, "dvc", "repro", "report_prompts")
    assert stages_that_ran(done.stdout) == ["build_prompts@all"]

    def show_those_of_all(params):
        params["build_prompts"]["shots"][1]["of_the_construction"] = False

    change(project, show_those_of_all)
    done = run(project, "dvc", "repro", "ask_llms")
    assert stages_that_ran(done.stdout) == ["build_prompts@all", "ask_llms@mock-toy"]


def test_a_new_model_runs_alone_and_one_that_left_the_grid_leaves_the_report_and_is_pruned(project):
    change(project, lambda params: params["grid"]["recognition"].update(models=["one", "two"]))
    assert stages_that_ran(run(project, "dvc", "repro").stdout) == [
        "extract_features@two-toy",
        "fit_probes@two-toy",
        "judge_probes@two",
        "report_recognition@all",
        "report",
    ]
    assert models_reported(project) == ["one", "two"]
    change(project, lambda params: params["grid"]["recognition"].update(models=["two"]))
    run(project, "dvc", "repro", "report_recognition")
    assert models_reported(project) == ["two"]
    assert "judge_probes@one" in run(project, "cxprobe", "prune").stdout
    assert (project / "results/judge_probes/one/metrics.json").exists()
    run(project, "cxprobe", "prune", "--yes")
    assert not (project / "results/judge_probes/one").exists()
    assert not [stage for stage in locked(project) if stage.endswith(("@one", "@one-toy"))]
    # The report looks at a folder that is smaller now, and finds the same.
    assert stages_that_ran(run(project, "dvc", "repro", "report_recognition").stdout) == ["report_recognition@all"]


def models_reported(folder: Path) -> list[str]:
    return sorted(set(read_table(folder / "results/report_recognition/accuracy.csv")["model"]))


def test_mined_sentences_are_probed_beside_generated_ones(project):
    def mined_too(params):
        params["grid"]["recognition"]["models"] = ["one"]
        params["grid"]["recognition"]["constructions"]["toy"].append("mined")
        params["build_recognition"]["mined"].update(train_per_label=2, test_per_label=2, all_sentences=True)

    change(project, mined_too)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    probing = [f"{stage}@one-toy" for stage in ("extract_features", "fit_probes")]
    assert ran == ["build_recognition@all", *probing, "judge_probes@one", "report_recognition@all", "report"]
    sentences = read_table(project / "data/label_sentences/toy/sentences.parquet").set_index("id")
    assert len(sentences) == 80
    sequences = {split: set(rows["cluster_template"]) for split, rows in sentences.groupby("split")}
    assert not sequences["train"] & sequences["test"]
    splits = read_table(project / "data/build_recognition/toy/mined/splits.parquet")
    assert "all_sentences" in set(splits["feature"])
    assert (sentences.loc[splits["id"], "label"].to_numpy() == splits["label"]).all()
    summary = read_table(project / "results/report_recognition/accuracy.csv")
    assert set(summary["source"]) == {"generated", "mined"}


def test_only_minimal_pairs_run_where_nothing_else_is_asked_for(project):
    content = YAML(typ="safe").load(project / "params.yaml")
    empty = {"models": [], "constructions": []}
    kept = {
        "seed": 1,
        "lines": {"recognition": [], "scenarios": [], "pairs": ["all"], "prompts": [], "series": []},
        "grid": {
            "sentences": [],
            "mining": {},
            "labels": [],
            "recognition": {"models": [], "constructions": {}},
            "scenarios": empty,
            "pairs": {"models": ["mlm"], "llms": [], "constructions": ["toy"]},
            "ways": empty,
            "prompts": empty | {"llms": []},
            "benchmarks": {"models": [], "llms": [], "benchmarks": []},
            "frames": {"llms": [], "constructions": []},
        },
        "series": {},
        "models": {"mlm": content["models"]["mlm"]},
        **{name: content[name] for name in ("precision", "build_pairs", "score_pairs", "judge_pairs", "cards")},
    }
    change(project, lambda params: (params.clear(), params.update(kept)))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran == ["build_pairs@all", "score_pairs@mlm", "judge_pairs@mlm", "report_pairs@all", "report"]


def test_a_benchmark_of_others_is_scored_by_group(project):
    rows = [
        {
            "sentence_good": f"the {noun} runs.",
            "sentence_bad": f"the {noun} run." if number else f"the {noun} runs.",
            "field": "morphology",
            "linguistics_term": "agreement",
            "UID": "toy_agreement",
            "pairID": str(number),
        }
        for number, noun in enumerate(["cat", "dog", "horse", "bird"])
    ]
    raw = project / "data/raw/toy-blimp"
    raw.mkdir(parents=True)
    (raw / "toy_agreement.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    benchmark = {"format": "blimp", "files": "*.jsonl", "by": ["phenomenon"], "score": "sum", "pairs_per_file": None}

    def ask(params):
        params["benchmarks"] = {"toy-blimp": benchmark}
        params["grid"]["benchmarks"] = {"models": ["mlm", "clm"], "llms": [], "benchmarks": ["toy-blimp"]}
        params["series"] = {"both": {"axis": "parameters", "models": {"mlm": 1e3, "clm": 1e4}}}

    change(project, ask)
    ran = stages_that_ran(run(project, "dvc", "repro", "report_benchmarks").stdout)
    assert sorted(ran) == [
        "build_benchmarks@toy-blimp",
        *[f"judge_benchmarks@{model}-toy-blimp" for model in ("clm", "mlm")],
        "report_benchmarks@toy-blimp",
        *[f"score_benchmarks@{model}-toy-blimp" for model in ("clm", "mlm")],
    ]
    together = project / "results/report_benchmarks/toy-blimp"
    table = read_table(together / "accuracy.csv")
    assert table[["model", "group", "n"]].to_numpy().tolist() == [
        [model, group, 4] for model in ("mlm", "clm") for group in ("all", "agreement")
    ]
    assert set(table["ties"]) == {1}
    assert {file.name for file in (together / "figures").iterdir()} == {"accuracy.png", "series_both.png"}
    found = runs(project, "benchmarks")
    assert {(one.data.params["construction"], one.data.params["source"]) for one in found} >= {
        ("all", "toy-blimp"),
        ("agreement", "toy-blimp"),
    }

    change(project, lambda params: params["benchmarks"]["toy-blimp"].update(by=["paradigm"]))
    ran = stages_that_ran(run(project, "dvc", "repro", "report_benchmarks").stdout)
    assert sorted(ran) == [
        *[f"judge_benchmarks@{model}-toy-blimp" for model in ("clm", "mlm")],
        "report_benchmarks@toy-blimp",
    ]


def test_tuned_probes_use_what_was_found_for_them(project):
    def search(params):
        params["grid"]["recognition"]["models"] = ["one"]
        params["tune_probes"].update(enabled=True, trials=3, folds=2)

    change(project, search)
    assert stages_that_ran(run(project, "dvc", "repro").stdout)[0] == "fit_probes@one-toy"
    settings = read_table(project / "data/fit_probes/one/toy/tuning/settings.parquet")
    assert settings.groupby("feature")["layer"].agg(list).to_dict() == {"length": [0, 1, 2], "second_start": [0, 1, 2]}
    assert settings["C"].nunique() > 1
    (tuning,) = runs(project, "stages", "params.stage = 'fit_probes'")
    children = runs(project, "stages", f"tags.`mlflow.parentRunId` = '{tuning.info.run_id}'")
    assert len(children) == 6 * 3
    assert (project / "data/fit_probes/one/toy/tuning/study.db").exists()
