"""The only module that knows MLflow. The files are the record, MLflow is the diary: it can always be written again.

One experiment per stage, one run per item of its grid, layers as the metric's step. The diary is an sqlite
database in mlruns/, or whatever server MLFLOW_TRACKING_URI names.
"""

import hashlib
import json
import logging
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

import psutil
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException

from cxprobe.errors import CxprobeError
from cxprobe.records import RunRecord

FOLDER = Path("mlruns")
RECORD_TAG = "cxprobe.record"  # SHA-256 of the run's record: a record is written into a diary at most once
PROCESS_TAG = "cxprobe.process"  # machine:process of a run, by which one that has vanished is known
_BATCH = 500  # MLflow takes at most 1,000 metrics in a call


class TrackingError(CxprobeError):
    """The MLflow diary cannot be written."""


@dataclass(frozen=True)
class OpenRun:
    """A run that has begun and not yet ended."""

    client: MlflowClient
    id: str


@contextmanager
def running(stage: str, item: Mapping[str, str], tags: Mapping[str, str]) -> Iterator[OpenRun]:
    """Begin a run; it ends as FAILED or KILLED if the block does, and stays open for `finish` otherwise.

    Runs of the same item that a vanished process of this machine has left open (SIGKILL, no memory) end as KILLED.

    Args:
        stage: The experiment.
        item: What of the stage's grid runs.
        tags: What is known of the run before its work.

    Raises:
        TrackingError: The diary cannot be reached, or the project has moved since it was begun.
    """
    try:
        client = _client()
        experiment = _experiment(client, stage)
        _end_vanished_runs(client, experiment, item)
        run = client.create_run(
            experiment,
            run_name=_name(item),
            tags={**tags, **_item_tags(item), PROCESS_TAG: f"{platform.node()}:{os.getpid()}"},
        )
    except MlflowException as error:
        raise TrackingError(f"no MLflow run could be opened at {_uri()}: {error}") from error
    open_run = OpenRun(client, run.info.run_id)
    try:
        yield open_run
    except Exception:
        _end(open_run, "FAILED")
        raise
    except BaseException:
        _end(open_run, "KILLED")
        raise


def finish(run: OpenRun, record: RunRecord) -> None:
    """Write a finished stage's record into its open run and end it as FINISHED.

    The record is already on disk: a server that does not answer now costs a warning, not the work.
    """
    try:
        _write(run, record)
        run.client.set_terminated(run.id, status="FINISHED", end_time=record.finished)
    except MlflowException as error:
        print(
            f"the results are written, but not the run at {_uri()} ({error}); run `cxprobe sync` later", file=sys.stderr
        )


def commit_tags(commit: str, dirty: bool) -> dict[str, str]:
    """Return the tags that name the code of a run."""
    return {"mlflow.source.git.commit": commit, "git.dirty": str(dirty).lower()}


def sync(records: list[RunRecord]) -> int:
    """Write every record that the diary lacks into it, and return how many that were.

    A database whose artifacts lie elsewhere (the project has moved) is put aside, and a new one is begun.

    Raises:
        TrackingError: The diary cannot be reached.
    """
    try:
        if _has_moved():
            _database().replace(_database().with_name(f"before-move-{time.strftime('%Y%m%d-%H%M%S')}.db"))
        client = _client()
        return sum(_write_again(client, record) for record in records)
    except MlflowException as error:
        raise TrackingError(f"the diary at {_uri()} cannot be written: {error}") from error


def _write_again(client: MlflowClient, record: RunRecord) -> bool:
    experiment = _experiment(client, record.stage)
    if client.search_runs([experiment], f"tags.`{RECORD_TAG}` = '{_digest(record)}'", max_results=1):
        return False
    run = client.create_run(
        experiment, start_time=record.started, run_name=_name(record.item), tags=_item_tags(record.item)
    )
    _write(OpenRun(client, run.info.run_id), record)
    client.set_terminated(run.info.run_id, status="FINISHED", end_time=record.finished)
    return True


def _end(run: OpenRun, status: str) -> None:
    """End a run whose work has failed; a server that does not answer must not hide why."""
    try:
        run.client.set_terminated(run.id, status=status)
    except MlflowException as error:
        print(f"the run at {_uri()} could not be ended as {status}: {error}", file=sys.stderr)


def _end_vanished_runs(client: MlflowClient, experiment: str, item: Mapping[str, str]) -> None:
    same = " and ".join(f"tags.`{name}` = '{value}'" for name, value in _item_tags(item).items())
    query = " and ".join(filter(None, ["attributes.status = 'RUNNING'", same]))
    for run in client.search_runs([experiment], query):
        node, _, process = run.data.tags.get(PROCESS_TAG, "").rpartition(":")
        if node == platform.node() and not psutil.pid_exists(int(process)):
            client.set_terminated(run.info.run_id, status="KILLED")


def _item_tags(item: Mapping[str, str]) -> dict[str, str]:
    return {f"item.{key}": value for key, value in item.items()}


def _write(run: OpenRun, record: RunRecord) -> None:
    points = [(name, value, 0) for name, value in record.metrics.items()]
    points += [(name, value, step) for name, series in record.series.items() for step, value in series]
    metrics = [Metric(name, value, record.finished, step) for name, value, step in points]
    params = [Param(name, value) for name, value in record.params.items()]
    tags = {
        "dvc.stage": record.dvc_stage,
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": f"{record.stage}.py",
        **commit_tags(record.commit, record.dirty),
        **record.facts,
        **{f"input.{path}": digest for path, digest in record.inputs.items()},
        **{f"environment.{key}": value for key, value in record.environment.items()},
    }
    run.client.log_batch(run.id, params=params, tags=[RunTag(key, value) for key, value in tags.items()])
    for start in range(0, len(metrics), _BATCH):
        run.client.log_batch(run.id, metrics=metrics[start : start + _BATCH])
    for artifact in record.artifacts:
        if artifact.is_file():  # a clone without `dvc pull` has the tables, not the figures
            run.client.log_artifact(run.id, str(artifact))
    run.client.set_tag(run.id, RECORD_TAG, _digest(record))  # last: it says that all the rest is there


def _digest(record: RunRecord) -> str:
    content: dict[str, Any] = asdict(record)
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _name(item: Mapping[str, str]) -> str:
    return " · ".join(item.values()) or "all"


def _client() -> MlflowClient:
    # MLflow and its migrations announce every step of making a database; only what goes wrong is of interest.
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.WARNING)
    FOLDER.mkdir(exist_ok=True)
    return MlflowClient(tracking_uri=_uri())


def _uri() -> str:
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_database()}"


def _database() -> Path:
    return FOLDER.resolve() / "mlflow.db"


def _is_local() -> bool:
    return not os.environ.get("MLFLOW_TRACKING_URI")


def _artifacts(stage: str) -> str:
    return (FOLDER.resolve() / "artifacts" / stage).as_uri()


def _experiment(client: MlflowClient, stage: str) -> str:
    found = client.get_experiment_by_name(stage)
    if found is None:
        # MLflow's UI opens an experiment as one about prompts and agents unless it is said to be about models.
        return str(
            client.create_experiment(
                stage,
                artifact_location=_artifacts(stage) if _is_local() else None,
                tags={"mlflow.experimentKind": "custom_model_development"},
            )
        )
    if _is_local() and found.artifact_location != _artifacts(stage):
        raise TrackingError(
            f"the diary's artifacts lie in {found.artifact_location}, but the project is in {Path.cwd()}: it has "
            "moved; run `cxprobe sync` to begin a new diary from the files"
        )
    return str(found.experiment_id)


def _has_moved() -> bool:
    if not _is_local() or not _database().exists():
        return False
    # Read without MLflow, which would keep a connection to the file that is about to be put aside.
    with closing(sqlite3.connect(f"{_database().as_uri()}?mode=ro", uri=True)) as database:
        places = database.execute("SELECT name, artifact_location FROM experiments WHERE name != 'Default'").fetchall()
    return any(place != _artifacts(name) for name, place in places)
