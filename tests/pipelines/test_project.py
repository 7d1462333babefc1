"""Whole projects under DVC, as users run them: repeated, killed, shared, and spread over processes."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from form import faults_of_form, judged_runs
from mlflow import MlflowClient
from whole_project import change, locked, runs, stages_that_ran

from conftest import commit, project_environment, run
from cxprobe.files.arrays import read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import read_json
from cxprobe.run.experiments import DESCRIPTIONS

pytestmark = pytest.mark.pipeline

FEATURES = Path("data/extract_features/one/toy/generated")
EXPERIMENTS = ("recognition", "scenarios", "pairs", "prompts", "benchmarks", "stages")
RULES, HALVES = ("first-mentioned", "shorter"), ("hypothesis-only", "first-referent")  # blind models of two panels
LISTED = "list_corpus@toy"  # looks at the corpus's files whenever DVC runs


def test_every_stage_that_makes_measures_or_reports_leaves_a_run(finished_project):
    items = [item for item in locked(finished_project) if not item.startswith(("judge_", "list_"))]
    found = runs(finished_project, "stages")
    assert sorted(one.data.tags["dvc.stage"] for one in found) == sorted(items)
    for one in found:
        assert one.info.status == "FINISHED"
        assert len(one.data.tags["mlflow.source.git.commit"]) == 40
        assert one.data.tags["git.dirty"] == "false"


def test_every_model_has_a_run_for_each_construction_of_a_line(finished_project):
    expected = {
        "recognition": {(model, "toy", "generated") for model in ("one", "one-random", "word-ngrams", "positions")},
        "scenarios": {(model, of, "own") for model in ("mlm", "last-rule", "copier") for of in ("toy", "all")},
        "pairs": {(model, of, "own") for model in ("mlm", "clm", *RULES) for of in ("toy", "all")},
        "prompts": {(model, of, "own") for model in ("mock", "clm", *HALVES) for of in ("toy", "all")},
        "ways": {("mlm", of, "own") for of in ("toy", "all")},
    }
    for experiment, wanted in expected.items():
        params = [one.data.params for one in runs(finished_project, experiment)]
        assert {(one["model"], one["construction"], one["source"]) for one in params} == wanted, experiment


def test_the_runs_of_a_finished_project_have_the_form_that_can_be_compared(finished_project):
    uri = f"sqlite:///{finished_project / 'mlruns' / 'mlflow.db'}"
    assert faults_of_form(uri) == []
    assert {one.name for one in MlflowClient(uri).search_experiments()} - {"Default"} <= set(DESCRIPTIONS)
    for name in ("recognition", "scenarios", "pairs", "prompts"):
        states = {run.data.params["model_weights"] for run in judged_runs(MlflowClient(uri), name)}
        assert states >= {"trained", "none"}, f"{name} lacks models or blind models"
    assert "random" in {run.data.params["model_weights"] for run in judged_runs(MlflowClient(uri), "recognition")}


def test_a_stage_reads_nothing_that_dvc_yaml_does_not_declare(finished_project):
    records = list(finished_project.glob("results/**/record.json"))
    assert records
    for path in records:
        record = read_json(path)
        declared = {dep["path"]: dep["md5"] for dep in locked(finished_project)[record["dvc_stage"]]["deps"]}
        for read, digest in record["inputs"].items():
            covering = {dep for dep in declared if read == dep or read.startswith(f"{dep}/")}
            assert covering, (record["dvc_stage"], read)
            # A folder inside of an output is named by the output and the way from there.
            assert "/" in digest or digest == declared.get(read, digest)


def test_the_results_are_those_of_the_sentences(finished_project):
    splits = read_table(finished_project / "data/build_recognition/toy/generated/splits.parquet")
    features = read_features(finished_project / FEATURES)
    assert sorted(features.ids) == sorted(set(splits["id"]))
    table = read_table(finished_project / "results/report_recognition/accuracy.csv")
    tested = splits[splits["split"] == "test"].groupby("feature").size()
    assert all(row.n == tested[row.feature] for row in table.itertuples())
    layers = table.groupby("model")["layer"].max().to_dict()
    assert layers == {"one": 2, "one-random": 2, "word-ngrams": 0, "positions": 0}
    assert set(table["feature"]) == {"length", "second_start"}


def test_a_second_run_executes_nothing_but_a_look_at_the_corpus_and_leaves_a_clean_tree(project):
    run(project, "dvc", "repro")
    commit(project)
    done = run(project, "dvc", "repro")
    assert stages_that_ran(done.stdout) == []
    assert run(project, "git", "status", "--porcelain").stdout == ""


@pytest.mark.slow
def test_running_everything_again_changes_nothing_that_git_or_dvc_sees(project):
    commit(project)
    run(project, "dvc", "repro", "--force")
    assert run(project, "git", "status", "--porcelain").stdout == ""


def test_every_model_scores_every_pair_and_the_report_counts_them(finished_project):
    pairs = read_table(finished_project / "data/build_pairs/toy.parquet")
    members = {row.context + end for row in pairs.itertuples() for end in (row.good, row.bad)}
    for model, scheme in (("mlm", "pll"), ("clm", "causal")):
        tokens = read_table(finished_project / f"data/score_pairs/{model}/tokens.parquet")
        assert set(tokens["scheme"]) == {scheme}
        assert members <= set(tokens["text"])
    cells = read_table(finished_project / "results/report_pairs/tables/cells.csv")
    assert cells.groupby("model")["n"].sum().to_dict() == dict.fromkeys(("mlm", "clm", *RULES), len(pairs))
    biases = read_table(finished_project / "results/report_pairs/tables/biases.csv")
    assert set(biases["compares"]) == {"order", "variant"}


def test_bfloat16_is_checked_against_float32_and_refused_where_it_is_too_far_off(project):
    change(project, lambda params: params["models"]["one"].update(dtype="bfloat16"))
    command = ("dvc", "repro", "extract_features@one-toy")
    run(project, *command)
    counts = read_table(project / "results/extract_features/one/toy/counts.csv").set_index("count")["value"]
    assert 0 < counts["difference_from_float32"] < 0.045
    change(project, lambda params: params["precision"].update(largest_difference=1e-6))
    done = run(project, *command, check=False)
    assert done.returncode != 0
    assert "precision.largest_difference" in done.stderr


def test_two_processes_and_an_odd_number_of_sentences_give_what_one_gives(project):
    sentences = project / "data/build_recognition/toy/generated/sentences.parquet"
    odd = read_table(sentences)[:-1]
    sentences.unlink()  # a link into the cache of DVC, perhaps
    write_table(odd, sentences)
    assert len(odd) % 2 == 1
    command = ("python", "pipelines/measure/extract_features.py", "--model", "one", "--construction", "toy")
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
    assert len(runs(project, "stages", "params.stage = 'extract_features'")) == 2  # the second process tracks nothing


def test_a_stage_that_is_killed_fails_is_marked_and_resumes(project, finished_project):
    # One sentence a batch, so that the signal comes in the middle.
    change(project, lambda params: params["extract_features"].update(token_budget=1))
    command = ["dvc", "repro", "extract_features@one-toy"]
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
    (killed,) = runs(project, "stages", "tags.`cxprobe.stage` = 'extract_features'")
    assert killed.info.status == "KILLED"
    left = len(list(project.glob("data/.scratch/extract_features/*/*.npy")))
    assert left >= 3
    stamps = {path: path.stat().st_mtime_ns for path in project.glob("data/.scratch/extract_features/*/*.npy")}
    with subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL) as dvc:
        kept = 0
        while dvc.poll() is None:  # until the run has joined them, the batches of the killed one lie there as they were
            kept = max(kept, sum(unchanged(path, stamp) for path, stamp in stamps.items()))
            time.sleep(0.05)
    assert dvc.returncode == 0
    assert kept == left
    found = runs(project, "stages", "tags.`cxprobe.stage` = 'extract_features'")
    assert {one.info.status for one in found} == {"KILLED", "FINISHED"}
    resumed, whole = read_features(project / FEATURES), read_features(finished_project / FEATURES)
    assert sorted(resumed.ids) == sorted(whole.ids)
    by_id = [np.argsort(features.ids) for features in (resumed, whole)]
    np.testing.assert_allclose(resumed.vectors[:, by_id[0]], whole.vectors[:, by_id[1]], atol=1e-5)
    assert not list(project.glob("data/.scratch/extract_features/*/*.npy"))


def unchanged(path: Path, stamp: int) -> bool:
    return path.is_file() and path.stat().st_mtime_ns == stamp


def wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail("the condition was not met in time")
        time.sleep(0.005)


def test_a_team_shares_data_by_a_remote_and_has_nothing_left_to_run(project, tmp_path):
    (tmp_path / "remote").mkdir()
    run(project, "dvc", "remote", "add", "--default", "team", str(tmp_path / "remote"))
    commit(project)
    run(project, "dvc", "push")
    run(tmp_path, "git", "clone", "--quiet", str(project), "elsewhere")
    clone = tmp_path / "elsewhere"
    for file in (project / "corpus").iterdir():  # the time of a corpus's file says whether it has changed
        shutil.copystat(file, clone / "corpus" / file.name)
    run(clone, "dvc", "pull")
    done = run(clone, "dvc", "repro")
    assert stages_that_ran(done.stdout) == []
    shown = [run(folder, "dvc", "metrics", "show", "--json").stdout for folder in (project, clone)]
    assert shown[0] == shown[1] != "{}"
    assert (clone / "results/report_recognition/figures/recognition_toy.png").exists()
    finished = len(list(clone.glob("results/**/record.json")))
    said = f"{finished} runs have a record under results/; {finished} of them were new to MLflow"
    assert said in run(clone, "cxprobe", "sync").stdout
    (found,) = runs(clone, "recognition", "params.model = 'one'")
    client = MlflowClient(f"sqlite:///{clone / 'mlruns' / 'mlflow.db'}")
    artifacts = {artifact.path for artifact in client.list_artifacts(found.info.run_id)}
    assert {"accuracy_per_layer.png", "accuracy_by_value.csv"} <= artifacts


def test_what_dvc_restores_from_its_cache_is_tracked_after_a_sync(project):
    for C in (0.5, 1.0):
        change(project, lambda params, C=C: params["fit_probes"].update(C=C))
        done = run(project, "dvc", "repro", "judge_probes@one")
    assert stages_that_ran(done.stdout) == []  # C = 1 came back without running
    assert len(runs(project, "recognition", "params.model = 'one'")) == 1
    run(project, "cxprobe", "sync")
    found = runs(project, "recognition", "params.model = 'one'")
    assert {one.data.params["fit_probes.C"] for one in found} == {"0.5", "1.0"}
