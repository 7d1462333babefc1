import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient
from sqlalchemy import create_engine, text
from test_tracking_runs import CIRCUMSTANCES, ITEM, JUDGED

from cxprobe.run.experiments import DESCRIPTIONS
from cxprobe.run.tracking import TrackingError, add_runs, experiment_id, open_store, running, sync, tracking_uri

pytest_plugins = ["tracked_workspace"]


def test_an_experiment_is_made_with_its_description(workspace):
    client = open_store()
    made = client.get_experiment(experiment_id(client, "pairs"))
    assert made.tags["mlflow.note.content"] == DESCRIPTIONS["pairs"]
    assert made.artifact_location == (workspace / "mlruns" / "artifacts" / "pairs").as_uri()
    assert experiment_id(client, "pairs") == made.experiment_id


def test_an_experiment_that_another_process_makes_at_the_same_moment_is_taken(workspace):
    class Late(MlflowClient):
        """A client that looked for the experiment before the other process had made it."""

        looked = False

        def get_experiment_by_name(self, name):
            found = super().get_experiment_by_name(name) if self.looked else None
            self.looked = True
            return found

    made = experiment_id(open_store(), "pairs")
    assert experiment_id(Late(tracking_uri()), "pairs") == made


def test_the_description_of_an_older_version_is_brought_up_to_date(workspace):
    client = open_store()
    made = experiment_id(client, "pairs")
    client.set_experiment_tag(made, "mlflow.note.content", "as it was")
    experiment_id(client, "pairs")
    assert client.get_experiment(made).tags["mlflow.note.content"] == DESCRIPTIONS["pairs"]


@pytest.fixture
def moved(workspace, monkeypatch):
    """A project with one run that has moved since."""
    (workspace / "old").mkdir()
    (workspace / "mlruns").rename(workspace / "old" / "mlruns")
    monkeypatch.chdir(workspace / "old")
    add_runs([JUDGED], CIRCUMSTANCES)
    (workspace / "old").rename(workspace / "new")
    monkeypatch.chdir(workspace / "new")
    return workspace / "new"


def test_any_stage_puts_a_database_that_was_begun_elsewhere_aside_and_goes_on(moved, capsys):
    with running("fit_probes", ITEM, "") as opened:
        assert opened is not None
        run = opened.client.get_run(opened.id)
    assert str(moved) in run.info.artifact_uri
    assert "mlflow.db was begun elsewhere (its artifacts are in file:///" in capsys.readouterr().err
    (aside,) = (moved / "mlruns").glob("before-move-*.db")
    with sqlite3.connect(aside) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_syncing_puts_it_aside_too_and_writes_everything_again(moved):
    assert sync([JUDGED]) == 1
    assert len(list((moved / "mlruns").glob("before-move-*.db"))) == 1
    assert sync([JUDGED]) == 0


def test_a_database_that_has_not_moved_stays(workspace, capsys):
    for _ in range(2):
        add_runs([JUDGED], CIRCUMSTANCES)
    assert capsys.readouterr().err == ""
    assert list((workspace / "mlruns").glob("before-move-*.db")) == []


def test_a_temporary_workspace_of_dvc_uses_the_store_of_its_project(workspace, monkeypatch):
    temporary = workspace / ".dvc" / "tmp" / "exps" / "standalone" / "tmpabc"
    temporary.mkdir(parents=True)
    monkeypatch.chdir(temporary)
    assert tracking_uri() == f"sqlite:///{workspace}/mlruns/mlflow.db"
    add_runs([JUDGED], CIRCUMSTANCES)
    assert not (temporary / "mlruns").exists()
    monkeypatch.chdir(workspace)
    assert sync([JUDGED]) == 0


def test_a_damaged_database_says_what_to_do(workspace):
    Path("mlruns/mlflow.db").write_bytes(b"no database")
    with pytest.raises(TrackingError, match="delete it and run `cxprobe sync` again"):
        sync([JUDGED])


def test_a_transaction_that_was_killed_is_taken_back(workspace):
    add_runs([JUDGED], CIRCUMSTANCES)
    script = (
        "import os, signal, sqlite3\n"
        "connection = sqlite3.connect('mlruns/mlflow.db')\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "rows = [(str(number), 'x' * 1000) for number in range(1000)]\n"
        "connection.executemany('INSERT INTO experiment_tags (key, value, experiment_id) VALUES (?, ?, 1)', rows)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    assert Path("mlruns/mlflow.db-journal").stat().st_size > 0
    assert sync([JUDGED]) == 0


def test_only_the_tracking_database_is_written_without_waiting_for_the_disk(workspace):
    MlflowClient(tracking_uri()).search_experiments()
    for path, mode in ((workspace / "mlruns" / "mlflow.db", 0), (workspace / "study.db", 2)):
        with create_engine(f"sqlite:///{path}").connect() as connection:
            assert connection.execute(text("PRAGMA synchronous")).scalar() == mode
