"""Whole projects under DVC, as users run them: repeated, changed, killed, shared, and spread over processes."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from mlflow import MlflowClient
from ruamel.yaml import YAML

from conftest import change_params, commit, project_environment, run
from cxprobe.storage import read_features, read_json, read_table, write_table

pytestmark = pytest.mark.pipeline

FEATURES = Path("data/extract_features/one/generate_sentences/toy")


def change(folder: Path, edit) -> None:
    change_params(folder, folder / "params.yaml", edit)


def stages_that_ran(output: str) -> list[str]:
    return [line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage")]


def runs(folder: Path, stage: str):
    client = MlflowClient(f"sqlite:///{folder.resolve() / 'mlruns' / 'mlflow.db'}")
    return client.search_runs([client.get_experiment_by_name(stage).experiment_id])


def test_one_run_for_every_stage_and_item(finished_project):
    items = list(YAML(typ="safe").load(finished_project / "dvc.lock")["stages"])
    found = [
        one for stage in dict.fromkeys(item.split("@")[0] for item in items) for one in runs(finished_project, stage)
    ]
    assert sorted(one.data.tags["dvc.stage"] for one in found) == sorted(items)
    for one in found:
        assert one.info.status == "FINISHED"
        assert len(one.data.tags["mlflow.source.git.commit"]) == 40
        assert one.data.tags["git.dirty"] == "false"


def test_a_stage_reads_nothing_that_dvc_yaml_does_not_declare(finished_project):
    lock = YAML(typ="safe").load(finished_project / "dvc.lock")["stages"]
    for path in finished_project.glob("results/**/run.json"):
        record = read_json(path)
        declared = {dep["path"]: dep["md5"] for dep in lock[record["dvc_stage"]]["deps"]}
        for read, digest in record["inputs"].items():
            covering = {dep for dep in declared if read == dep or read.startswith(f"{dep}/")}
            assert covering, (record["dvc_stage"], read)
            assert digest == declared.get(read, digest)


def test_the_results_are_those_of_the_sentences(finished_project):
    splits = read_table(finished_project / "data/build_splits/generate_sentences/toy.parquet")
    features = read_features(finished_project / FEATURES)
    assert sorted(features.ids) == sorted(set(splits["id"]))
    table = read_table(finished_project / "results/fit_probes/one/generate_sentences/toy/accuracy_by_layer.csv")
    tested = splits[splits["split"] == "test"].groupby("feature").size()
    assert all(row.n == tested[row.feature] for row in table.itertuples())
    assert table["layer"].unique().tolist() == [0, 1, 2]
    assert set(table["feature"]) == {"length", "second_start"}


def test_a_second_run_executes_nothing(project):
    done = run(project, "dvc", "repro")
    assert stages_that_ran(done.stdout) == []
    assert "up to date" in done.stdout


def test_new_probe_parameters_extract_nothing(project):
    change(project, lambda params: params["fit_probes"].update(C=0.5))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran == ["fit_probes@one-generate_sentences-toy", "summarise_results"]


def test_a_construction_that_no_example_comes_from_asks_nothing_again(project):
    shutil.copytree(project / "constructions" / "toy", project / "constructions" / "other")
    done = run(project, "dvc", "repro", "summarise_prompts")
    assert stages_that_ran(done.stdout) == ["pool_examples@toy"]

    def show_those_of_all(params):
        params["ask_llms"]["shots"][1]["of_the_construction"] = False

    change(project, show_those_of_all)
    done = run(project, "dvc", "repro", "ask_llms")
    assert stages_that_ran(done.stdout) == ["pool_examples@toy", "ask_llms@mock-toy"]
    items = read_table(project / "data/pool_examples/toy.parquet")
    assert set(items["construction"]) == {"toy", "other"}


def test_a_new_model_runs_alone(project):
    change(project, lambda params: params["grid"]["probes"].update(models=["one", "two"]))
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert ran == [
        "extract_features@two-generate_sentences-toy",
        "tune_probes@two-generate_sentences-toy",
        "fit_probes@two-generate_sentences-toy",
        "summarise_results",
    ]
    summary = read_table(project / "results/summarise_results/recognition.csv")
    assert summary["model"].unique().tolist() == ["one", "two"]


def test_a_model_that_left_the_grid_leaves_the_summary(project):
    for models in (["one", "two"], ["two"]):
        change(project, lambda params, models=models: params["grid"]["probes"].update(models=models))
        run(project, "dvc", "repro")
    assert (project / "results/fit_probes/one/generate_sentences/toy/metrics.json").exists()
    assert list(read_json(project / "results/summarise_results/metrics.json")["toy"]["generate_sentences"]) == ["two"]


def test_mined_sentences_are_probed_beside_generated_ones(project):
    def mined_too(params):
        params["grid"]["probes"]["sources"].append("label_sentences")
        params["build_splits"]["label_sentences"].update(train_per_label=2, test_per_label=2, all_sentences=True)

    change(project, mined_too)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    item = "label_sentences-toy"
    probing = [f"{stage}@one-{item}" for stage in ("extract_features", "tune_probes", "fit_probes")]
    assert ran == [f"build_splits@{item}", *probing, "summarise_results"]
    sentences = read_table(project / "data/label_sentences/toy/sentences.parquet").set_index("id")
    assert len(sentences) == 80
    sequences = {split: set(rows["cluster_template"]) for split, rows in sentences.groupby("split")}
    assert not sequences["train"] & sequences["test"]
    splits = read_table(project / "data/build_splits/label_sentences/toy.parquet")
    assert "all_sentences" in set(splits["feature"])
    assert (sentences.loc[splits["id"], "label"].to_numpy() == splits["label"]).all()
    summary = read_table(project / "results/summarise_results/recognition.csv")
    assert set(summary["source"]) == {"generate_sentences", "label_sentences"}


def test_every_model_scores_every_pair_and_the_summary_counts_them(finished_project):
    pairs = read_table(finished_project / "data/build_pairs/toy.parquet")
    for model, scheme in (("mlm", "pll"), ("clm", "causal")):
        scored = read_table(finished_project / f"data/score_pairs/{model}/toy.parquet")
        assert set(scored["scheme"]) == {scheme}
        assert sorted(scored.loc[scored["score"] == "per_token", "id"]) == sorted(pairs["id"])
    cells = read_table(finished_project / "results/summarise_pairs/cells.csv")
    assert cells["n"].sum() == 2 * len(pairs)
    biases = read_table(finished_project / "results/summarise_pairs/biases.csv")
    assert set(biases["compares"]) == {"order", "variant"}


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
        params["grid"]["benchmarks"] = {"models": ["mlm", "clm"], "benchmarks": ["toy-blimp"]}
        params["series"] = {"both": {"axis": "parameters", "models": {"mlm": 1e3, "clm": 1e4}}}

    change(project, ask)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    assert [stage for stage in ran if "benchmarks" in stage] == [
        *[f"score_benchmarks@{model}-toy-blimp" for model in ("mlm", "clm")],
        "summarise_benchmarks@toy-blimp",
    ]
    metrics = read_json(project / "results/score_benchmarks/mlm/toy-blimp/metrics.json")
    assert (metrics["n"], metrics["ties"], metrics["identical"]) == (4, 1, 1)
    by_group = read_table(project / "results/score_benchmarks/clm/toy-blimp/accuracy_by_group.csv")
    assert by_group["phenomenon"].tolist() == ["agreement"]
    together = project / "results/summarise_benchmarks/toy-blimp"
    table = read_table(together / "accuracies.csv")
    assert table[["model", "group", "n"]].to_numpy().tolist() == [
        [model, group, 4] for model in ("mlm", "clm") for group in ("all", "agreement")
    ]
    assert {file.name for file in (together / "figures").iterdir()} == {"accuracies.png", "series_both.png"}


def test_tuned_probes_use_what_was_found_for_them(project):
    change(project, lambda params: params["tune_probes"].update(enabled=True, trials=3, folds=2))
    assert stages_that_ran(run(project, "dvc", "repro").stdout)[0] == "tune_probes@one-generate_sentences-toy"
    settings = read_table(project / "results/tune_probes/one/generate_sentences/toy/settings.csv")
    assert settings.groupby("feature")["layer"].agg(list).to_dict() == {"length": [0, 1, 2], "second_start": [0, 1, 2]}
    assert settings["C"].nunique() > 1
    (found,) = runs(project, "tune_probes")
    assert found.data.metrics["tuned_probes"] == 6


def test_bfloat16_is_checked_against_float32_and_refused_where_it_is_too_far_off(project):
    change(project, lambda params: params["models"]["one"].update(dtype="bfloat16"))
    command = ("dvc", "repro", "extract_features@one-generate_sentences-toy")
    run(project, *command)
    metrics = read_json(project / "results/extract_features/one/generate_sentences/toy/metrics.json")
    assert 0.999 < metrics["least_cosine_with_float32"] < 1
    change(project, lambda params: params["extract_features"].update(bfloat16_min_cosine=1.0))
    done = run(project, *command, check=False)
    assert done.returncode != 0
    assert "less than extract_features.bfloat16_min_cosine (1.0); use dtype: float32" in done.stderr


def test_two_processes_and_an_odd_number_of_sentences_give_what_one_gives(project):
    splits = project / "data/build_splits/generate_sentences/toy.parquet"
    odd = read_table(splits)[:-1]
    splits.unlink()  # a link into the cache of DVC, perhaps
    write_table(odd, splits)
    assert len(odd) % 2 == 1
    command = (
        "python",
        "pipelines/extract_features.py",
        "--model",
        "one",
        "--source",
        "generate_sentences",
        "--construction",
        "toy",
    )
    run(project, *command)
    one = read_features(project / FEATURES)
    expected, ids = one.vectors.copy(), list(one.ids)
    shutil.rmtree(project / FEATURES)
    change(project, lambda params: params["extract_features"].update(devices=2, strategy="ddp"))
    done = run(project, *command)
    two = read_features(project / FEATURES)
    assert list(two.ids) == ids
    assert len(ids) == len(set(ids)) == len(odd)
    np.testing.assert_array_equal(two.vectors, expected)
    assert "GLOBAL_RANK: 1" in done.stderr or "MEMBER: 2/2" in done.stderr
    assert len(runs(project, "extract_features")) == 2  # the second process keeps no diary


def test_a_stage_that_is_killed_fails_is_marked_and_resumes(project, finished_project):
    # One sentence a batch, so that the signal comes in the middle.
    change(project, lambda params: params["extract_features"].update(token_budget=1))
    command = ["dvc", "repro", "extract_features@one-generate_sentences-toy"]
    environment = project_environment(project)
    with subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as dvc:
        wait_for(lambda: len(list(project.glob("data/.scratch/extract_features/*/*.npy"))) >= 3)
        for child in psutil.Process(dvc.pid).children(recursive=True):
            if any("extract_features.py" in word for word in child.cmdline()):
                child.send_signal(signal.SIGTERM)
        assert dvc.wait(timeout=60) != 0
    assert not (project / FEATURES).exists()
    (killed,) = runs(project, "extract_features")
    assert killed.info.status == "KILLED"
    left = len(list(project.glob("data/.scratch/extract_features/*/*.npy")))
    assert left >= 3
    done = run(project, *command)
    assert f"{left} of them left by an earlier run" in done.stdout
    assert {found.info.status for found in runs(project, "extract_features")} == {"KILLED", "FINISHED"}
    resumed, whole = read_features(project / FEATURES), read_features(finished_project / FEATURES)
    assert sorted(resumed.ids) == sorted(whole.ids)
    by_id = [np.argsort(features.ids) for features in (resumed, whole)]
    np.testing.assert_allclose(resumed.vectors[:, by_id[0]], whole.vectors[:, by_id[1]], atol=1e-5)
    assert not list(project.glob("data/.scratch/extract_features/*/*.npy"))


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail("waited in vain")
        time.sleep(0.005)


def test_a_team_shares_data_by_a_remote_and_has_nothing_left_to_run(project, tmp_path):
    (tmp_path / "remote").mkdir()
    run(project, "dvc", "remote", "add", "--default", "team", str(tmp_path / "remote"))
    commit(project)
    run(project, "dvc", "push")
    run(tmp_path, "git", "clone", "--quiet", str(project), "elsewhere")
    clone = tmp_path / "elsewhere"
    run(clone, "dvc", "pull")
    done = run(clone, "dvc", "repro")
    assert stages_that_ran(done.stdout) == []
    shown = [run(folder, "dvc", "metrics", "show", "--json").stdout for folder in (project, clone)]
    assert shown[0] == shown[1] != "{}"
    assert (clone / "results/fit_probes/one/generate_sentences/toy/accuracy_per_layer.png").exists()
    finished = len(list(clone.glob("results/**/run.json")))
    assert f"{finished} finished stages, {finished} of them new" in run(clone, "cxprobe", "sync").stdout
    (found,) = runs(clone, "fit_probes")
    client = MlflowClient(f"sqlite:///{clone / 'mlruns' / 'mlflow.db'}")
    artifacts = {artifact.path for artifact in client.list_artifacts(found.info.run_id)}
    assert {"metrics.json", "accuracy_per_layer.png", "accuracy_by_value.csv"} <= artifacts


def test_what_dvc_restores_from_its_cache_is_in_the_diary_after_a_sync(project):
    for C in (0.5, 1.0):
        change(project, lambda params, C=C: params["fit_probes"].update(C=C))
        done = run(project, "dvc", "repro")
    assert stages_that_ran(done.stdout) == []  # C = 1 came back without running
    assert len(runs(project, "fit_probes")) == 1
    run(project, "cxprobe", "sync")
    assert {found.data.params["fit_probes.C"] for found in runs(project, "fit_probes")} == {"0.5", "1.0"}
