import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from conftest import run
from cxprobe import tracking
from cxprobe.records import RunRecord
from cxprobe.storage import write_json
from cxprobe.tracking import OpenRun, TrackingError, finish, running, sync

ITEM = {"model": "tiny", "construction": "toy"}


@pytest.fixture
def workspace(tmp_path, monkeypatch, empty_diary):
    """A project folder with an empty diary, and no tracking server named."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlruns").mkdir()
    shutil.copy(empty_diary, tmp_path / "mlruns" / "mlflow.db")
    return tmp_path


def record(started=1000, artifacts=()) -> RunRecord:
    return RunRecord(
        stage="fit_probes",
        item=ITEM,
        dvc_stage="fit_probes@tiny-toy",
        started=started,
        finished=started + 500,
        commit="c0ffee",
        dirty=False,
        inputs={"data/build_splits/toy.parquet": "d41d8c"},
        params={"seed": "1", "fit_probes.C": "1.0"},
        facts={"weights": "sha256 abc"},
        environment={"torch": "2.13.0"},
        metrics={"length/highest": 0.9},
        series={"length/accuracy": [(0, 0.5), (1, 0.9)]},
        artifacts=list(artifacts),
    )


def runs(stage="fit_probes", uri=None):
    client = MlflowClient(uri or tracking._uri())
    experiment = client.get_experiment_by_name(stage)
    return client, client.search_runs([experiment.experiment_id]) if experiment else []


def test_a_finished_run_has_metrics_by_layer_tags_params_and_artifacts(workspace):
    table = workspace / "table.csv"
    table.write_text("a,b\n")
    with running("fit_probes", ITEM, {"dvc.stage": "fit_probes@tiny-toy"}) as run_:
        finish(run_, record(artifacts=[table]))
    client, (found,) = runs()
    assert found.info.status == "FINISHED"
    assert found.info.run_name == "tiny · toy"
    history = client.get_metric_history(found.info.run_id, "length/accuracy")
    assert sorted((point.step, point.value) for point in history) == [(0, 0.5), (1, 0.9)]
    assert found.data.params == {"seed": "1", "fit_probes.C": "1.0"}
    tags = found.data.tags
    assert (tags["mlflow.source.git.commit"], tags["git.dirty"], tags["dvc.stage"]) == (
        "c0ffee",
        "false",
        "fit_probes@tiny-toy",
    )
    assert tags["weights"] == "sha256 abc"
    assert tags["input.data/build_splits/toy.parquet"] == "d41d8c"
    downloaded = client.download_artifacts(found.info.run_id, "table.csv")
    assert Path(downloaded).read_text() == "a,b\n"


@pytest.mark.parametrize(
    ("ending", "status"), [(ValueError, "FAILED"), (SystemExit, "KILLED"), (KeyboardInterrupt, "KILLED")]
)
def test_a_run_that_dies_says_so(workspace, ending, status):
    with pytest.raises(ending), running("fit_probes", ITEM, {}):
        raise ending
    _, (found,) = runs()
    assert found.info.status == status


def test_syncing_writes_what_the_diary_lacks_and_nothing_twice(workspace):
    with running("fit_probes", ITEM, {}) as run_:
        finish(run_, record())
    assert sync([record(), record(started=9000)]) == 1
    assert sync([record(), record(started=9000)]) == 0
    assert len(runs()[1]) == 2


def keep(folder, kept):
    """Leave a record where a finished stage does."""
    write_json(asdict(kept) | {"artifacts": []}, folder / "results" / kept.stage / "tiny" / "toy" / "run.json")


def test_a_deleted_diary_is_written_again_as_it_was(workspace):
    with running("fit_probes", ITEM, {"dvc.stage": "fit_probes@tiny-toy"}) as run_:
        finish(run_, record())
    _, (before,) = runs()
    keep(workspace, record())
    (workspace / "mlruns" / "mlflow.db").rename(workspace / "lost.db")
    assert "1 finished stages, 1 of them new" in run(workspace, "cxprobe", "sync").stdout
    (workspace / "mlruns" / "mlflow.db").rename(workspace / "again.db")  # MLflow here still has the lost one open
    _, (after,) = runs(uri=f"sqlite:///{workspace / 'again.db'}")
    assert after.data.metrics == before.data.metrics
    assert after.data.params == before.data.params
    ours = {
        name: value for name, value in before.data.tags.items() if not name.startswith(("mlflow.", "cxprobe.process"))
    }
    assert {name: after.data.tags[name] for name in ours} == ours
    assert (after.info.start_time, after.info.end_time) == (1000, 1500)


def test_a_moved_project_is_told_and_begins_a_new_diary(workspace, monkeypatch):
    (workspace / "old").mkdir()
    (workspace / "mlruns").rename(workspace / "old" / "mlruns")
    monkeypatch.chdir(workspace / "old")
    with running("fit_probes", ITEM, {}) as run_:
        finish(run_, record())
    moved = (workspace / "old").rename(workspace / "new")
    monkeypatch.chdir(moved)
    keep(moved, record())
    with pytest.raises(TrackingError, match="it has moved; run `cxprobe sync`"), running("fit_probes", ITEM, {}):
        pass
    assert "1 of them new" in run(moved, "cxprobe", "sync").stdout
    assert list((moved / "mlruns").glob("before-move-*.db"))
    (moved / "mlruns" / "mlflow.db").rename(moved / "begun.db")
    client, (found,) = runs(uri=f"sqlite:///{moved / 'begun.db'}")
    assert str(moved) in client.get_experiment(found.info.experiment_id).artifact_location


def test_another_server_can_be_named(workspace, monkeypatch):
    shutil.copy("mlruns/mlflow.db", "elsewhere.db")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{workspace / 'elsewhere.db'}")
    with running("fit_probes", ITEM, {}) as run_:
        finish(run_, record())
    assert len(runs()[1]) == 1
    assert runs(uri=f"sqlite:///{workspace / 'mlruns' / 'mlflow.db'}")[1] == []


def test_a_server_that_does_not_answer_is_an_error_before_any_work(workspace, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with (
        pytest.raises(TrackingError, match=r"no MLflow run could be opened at http://127\.0\.0\.1:9"),
        running("s", ITEM, {}),
    ):
        pytest.fail("the work must not begin")


def test_a_server_that_goes_away_costs_a_warning_and_not_the_work(workspace, monkeypatch, capsys):
    with running("fit_probes", ITEM, {}) as run_:
        unreachable = MlflowClient("http://127.0.0.1:9")
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
        finish(OpenRun(unreachable, run_.id), record())
    assert "run `cxprobe sync` later" in capsys.readouterr().err


def test_a_run_whose_process_has_vanished_ends_as_killed_when_the_next_begins(workspace):
    script = (
        "import os, signal; from cxprobe.tracking import running\n"
        f"with running('fit_probes', {ITEM}, {{}}): os.kill(os.getpid(), signal.SIGKILL)"
    )
    run(workspace, sys.executable, "-c", script, check=False)
    assert [one.info.status for one in runs()[1]] == ["RUNNING"]
    with running("fit_probes", {"model": "other"}, {}):
        assert sorted(one.info.status for one in runs()[1]) == ["RUNNING", "RUNNING"]
    with running("fit_probes", ITEM, {}) as run_:
        finish(run_, record())
    assert sorted(one.info.status for one in runs()[1]) == ["FINISHED", "KILLED", "RUNNING"]


def test_a_run_that_was_only_half_written_is_written_again(workspace, monkeypatch):
    with monkeypatch.context() as broken, running("fit_probes", ITEM, {}) as run_:
        broken.setattr(MlflowClient, "log_artifact", lambda *_: (_ for _ in ()).throw(MlflowException("full disk")))
        table = workspace / "table.csv"
        table.write_text("a,b\n")
        finish(run_, record(artifacts=[table]))
    assert sync([record(artifacts=[table])]) == 1


def test_nothing_is_sent_to_anyone(workspace):
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
