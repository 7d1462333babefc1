import os
import signal
import sys
import time

import pytest
from mlflow import MlflowClient

from cxprobe.errors import DataError, ParamsError
from cxprobe.stages import Outcome, Stage, read_records, run_stage_with
from cxprobe.tracking import sync, tracking_uri
from toy_stages import ToyParams, fit_probes, judge_pairs, load_toy_params, report_pairs

pytest_plugins = ["tracked_workspace"]


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
