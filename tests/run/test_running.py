import errno
import logging
import os
import shutil
import signal
import sys
import time
import traceback

import pytest
from mlflow import MlflowClient
from toy_stages import ToyParams, fit_probes, judge_pairs, load_toy_params, report_pairs

from cxprobe.errors import DataError, ParamsError
from cxprobe.files.writing import write_json
from cxprobe.run.results import read_records
from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage
from cxprobe.run.tracking import sync, tracking_uri

pytestmark = pytest.mark.pipeline

pytest_plugins = ["small_disks", "tracked_workspace"]


def runs(experiment: str) -> list:
    client = MlflowClient(tracking_uri())
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id]) if found else []


def test_a_measuring_stage_ends_in_its_results_and_one_finished_run(workspace):
    run_stage_with(load_toy_params, fit_probes, "model")
    (record,) = read_records()
    assert record.metrics == {"probes": 1_234_567, "accuracy": 0.333333}
    parent, *trials = sorted(runs("stages"), key=lambda run: "mlflow.parentRunId" in run.data.tags)
    assert (parent.info.status, parent.info.run_name) == ("FINISHED", "fit_probes · tiny")
    assert parent.data.metrics == {"probes": 1_234_567, "accuracy": 0.333333, "loss": 0.25}
    assert len(trials) == 2


def test_a_judging_stage_ends_in_its_judged_runs_alone(workspace):
    run_stage_with(load_toy_params, judge_pairs, "model")
    assert runs("stages") == []
    assert sorted(run.info.run_name for run in runs("pairs")) == ["tiny · all", "tiny · toy"]


def test_a_report_ends_in_a_run_of_its_own_and_in_judged_ones(workspace):
    run_stage_with(load_toy_params, report_pairs, "model")
    assert [run.info.run_name for run in runs("stages")] == ["report_pairs · tiny"]
    assert [run.info.run_name for run in runs("pairs")] == ["tinies · toy"]


@pytest.mark.parametrize("work", [fit_probes, judge_pairs, report_pairs])
def test_what_a_stage_has_tracked_is_not_written_again(workspace, work):
    run_stage_with(load_toy_params, work, "model")
    assert sync(read_records()) == 0


def test_judging_again_with_the_same_results_adds_no_run(workspace):
    for _ in range(2):
        run_stage_with(load_toy_params, judge_pairs, "model")
    assert len(runs("pairs")) == 2


def test_the_name_of_a_dvc_experiment_ends_the_names_of_its_runs(workspace, monkeypatch):
    monkeypatch.setenv("DVC_EXP_NAME", "wavy-hums")
    run_stage_with(load_toy_params, fit_probes, "model")
    run_stage_with(load_toy_params, judge_pairs, "model")
    assert "fit_probes · tiny · wavy-hums" in [run.info.run_name for run in runs("stages")]
    assert sorted(run.info.run_name for run in runs("pairs")) == ["tiny · all · wavy-hums", "tiny · toy · wavy-hums"]
    assert not any("wavy-hums" in path.read_text() for path in (workspace / "results").rglob("record.json"))


def test_a_fault_is_printed_without_a_traceback_and_fails_the_run(workspace, capsys):
    def fit_probes(stage: Stage) -> Outcome:
        raise DataError("the sentence is empty")

    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, fit_probes, "model")
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip().endswith("fit_probes: the sentence is empty")
    assert runs("stages")[0].info.status == "FAILED"


def test_a_signal_ends_the_run_as_killed_with_its_exit_code(workspace):
    def fit_probes(stage: Stage) -> Outcome:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        pytest.fail("the signal must end the work")

    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            run_stage_with(load_toy_params, fit_probes, "model")
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 128 + signal.SIGTERM
    assert runs("stages")[0].info.status == "KILLED"


def test_wrong_params_stop_a_stage_before_it_begins(workspace, capsys):
    def load() -> ToyParams:
        raise ParamsError("params.yaml: seed: -1 is not allowed")

    with pytest.raises(SystemExit) as ended:
        run_stage_with(load, fit_probes, "model")
    assert ended.value.code == 2
    assert "params.yaml: seed: -1 is not allowed" in capsys.readouterr().err
    assert runs("stages") == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("../x", "--model ../x: a name has small letters, digits and hyphens only"),
        ("", "--model : a name has small letters, digits and hyphens only"),
        ("tinny", "--model tinny: models has no 'tinny'; did you mean 'tiny'? (allowed: tiny)"),
    ],
)
def test_an_item_that_is_not_in_the_parameters_is_refused_before_work(workspace, monkeypatch, capsys, given, told):
    monkeypatch.setattr(sys, "argv", ["stage.py", "--model", given])
    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, fit_probes, "model")
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"fit_probes: {told}\n"
    assert sorted(path.name for path in workspace.iterdir()) == ["input.txt", "mlruns"]


def test_keys_of_the_environment_are_in_nothing_that_a_stage_prints(workspace, monkeypatch, capsys):
    handler = logging.StreamHandler()  # as of a library that was imported before the stage began
    monkeypatch.setenv("SOME_API_KEY", "sk-a-key-that-is-secret")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:a-secret-word@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")

    def fit_probes(stage: Stage) -> Outcome:
        print("asking with sk-a-key-that-is-secret")  # noqa: T201
        print("asking with sk-a-key-that-is-secret", file=sys.stderr)  # noqa: T201
        logging.getLogger("of a library").addHandler(handler)
        logging.getLogger("of a library").error("refused: %s", "sk-a-key-that-is-secret")
        raise KeyError("sk-a-key-that-is-secret")

    with pytest.raises(KeyError) as raised:
        run_stage_with(load_toy_params, fit_probes, "model")
    traceback.print_exception(raised.value)
    said = capsys.readouterr()
    assert said.out == "asking with [key]\n"
    assert said.err.count("[key]") >= 5
    assert "MLflow at http://me:[key]@127.0.0.1:9 does not work" in said.err
    assert "Traceback" in said.err
    assert "secret" not in said.out + said.err.replace('"sk-a-key-that-is-secret"', "")  # the line of source


def test_a_store_that_cannot_be_reached_does_not_stop_the_work(workspace, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    run_stage_with(load_toy_params, fit_probes, "model")
    run_stage_with(load_toy_params, judge_pairs, "model")
    assert "`cxprobe sync` writes" in capsys.readouterr().err
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert sync(read_records()) == 3


def test_helper_processes_work_and_leave_no_trace(workspace, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    worked = []
    run_stage_with(load_toy_params, lambda stage: worked.append(stage.item), "model")
    assert worked == [{"model": "tiny"}]
    assert runs("stages") == []
    assert not (workspace / "results").exists()


def test_a_stage_that_only_lists_files_leaves_its_list_and_no_record(workspace):
    def list_corpus(stage: Stage) -> Outcome:
        stage.data.parent.mkdir(parents=True)
        stage.data.with_suffix(".csv").write_text("name\n")
        return Outcome()

    run_stage_with(load_toy_params, list_corpus, "model")
    assert (workspace / "data" / "list_corpus" / "tiny.csv").is_file()
    assert not (workspace / "results").exists()
    assert runs("stages") == []


def test_some_arguments_may_name_the_folders(workspace, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["stage.py", "--model", "tiny", "--corpus", "books"])
    run_stage_with(load_toy_params, fit_probes, "model", "corpus", of=("model",))
    (record,) = read_records()
    assert (workspace / "results" / "fit_probes" / "tiny" / "record.json").is_file()
    assert record.name == "fit_probes · tiny · books"


def test_a_full_disk_is_a_fault_that_names_the_disk_and_leaves_no_results(workspace, file_limit, capsys):
    def fit_probes(stage: Stage) -> Outcome:
        file_limit(20_000)
        write_json({"text": "x" * 30_000}, stage.data / "scores.json")
        return Outcome()

    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, fit_probes, "model")
    assert ended.value.code == 2
    assert "fit_probes: data/fit_probes/tiny/scores.json: the file is larger than" in capsys.readouterr().err
    assert not list((workspace / "results").rglob("*"))


def test_a_disk_that_a_library_finds_full_is_a_fault_too(workspace, capsys):
    def fit_probes(stage: Stage) -> Outcome:
        raise OSError(errno.ENOSPC, "No space left on device", "data/model.ckpt")

    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, fit_probes, "model")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "fit_probes: the disk is full (data/model.ckpt): " in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("work", [fit_probes, judge_pairs, report_pairs])
def test_old_results_stay_if_the_disk_of_results_is_full(workspace, small_disk, capsys, work):
    disk = small_disk(workspace / "results", "160k")
    run_stage_with(load_toy_params, work, "model")
    before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
    (disk / "other").write_bytes(b"x" * (shutil.disk_usage(disk).free - 8192))
    with pytest.raises(SystemExit) as ended:
        run_stage_with(load_toy_params, work, "model")
    assert ended.value.code == 2
    assert f"bytes are free on {disk}" in capsys.readouterr().err
    (disk / "other").unlink()
    assert {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_results_are_kept_if_the_disk_of_the_tracking_store_is_full(workspace, small_disk, capsys):
    store = (workspace / "mlruns" / "mlflow.db").read_bytes()
    disk = small_disk(workspace / "mlruns", f"{len(store) // 1024 + 1024}k")
    (disk / "mlflow.db").write_bytes(store)
    (disk / "other").write_bytes(b"x" * shutil.disk_usage(disk).free)
    run_stage_with(load_toy_params, judge_pairs, "model")
    assert "`cxprobe sync` writes" in capsys.readouterr().err
    (disk / "other").unlink()
    assert len(read_records()) == 2
    assert sync(read_records()) == 2
