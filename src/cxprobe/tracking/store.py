"""The tracking store: an sqlite database in mlruns/, or the server that MLFLOW_TRACKING_URI names."""

import logging
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
# A server that does not answer delays the work by half a minute; by default MLflow tries for a quarter of an hour.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")  # seconds

from filelock import FileLock
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_ALREADY_EXISTS, ErrorCode
from sqlalchemy import event
from sqlalchemy.engine import Engine

from cxprobe.errors import CxprobeError
from cxprobe.storage import project_folder
from cxprobe.tracking.experiments import DESCRIPTIONS

_NOTE = "mlflow.note.content"


class TrackingError(CxprobeError):
    """The tracking store cannot be written."""


def tracking_uri() -> str:
    """Return the address of the tracking store."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_database()}"


def open_store() -> MlflowClient:
    """Return a client of the tracking store, which is made if it does not exist.

    The artifacts of a local database have absolute paths. If they lead to another folder, because the project was moved
    or copied, the database is put aside with a warning and an empty one takes its place.
    """
    # MLflow and its migrations announce every step of making a database; only what goes wrong is of interest.
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.WARNING)
    if not _is_local():
        return MlflowClient(tracking_uri=tracking_uri())
    _database().parent.mkdir(exist_ok=True)
    with FileLock(_database().with_suffix(".lock")):  # several first runs at once must not all make the database
        _put_aside_if_moved()
        return MlflowClient(tracking_uri=tracking_uri())


@contextmanager
def without_retries() -> Iterator[None]:
    """Let MLflow ask a server only once: for what is tried after the server has failed."""
    name = "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
    usual = os.environ[name]
    os.environ[name] = "0"
    try:
        yield
    finally:
        os.environ[name] = usual


def experiment_id(client: MlflowClient, name: str) -> str:
    """Return the id of an experiment, which is made with its description if it does not exist."""
    note = DESCRIPTIONS[name]
    found = client.get_experiment_by_name(name)
    if found is None:
        # MLflow's UI opens an experiment as one about prompts and agents unless it is said to be about models.
        tags = {"mlflow.experimentKind": "custom_model_development", _NOTE: note}
        location = _artifacts(name) if _is_local() else None
        try:
            return str(client.create_experiment(name, artifact_location=location, tags=tags))
        except MlflowException as error:
            found = client.get_experiment_by_name(name)
            if error.error_code != ErrorCode.Name(RESOURCE_ALREADY_EXISTS) or found is None:
                raise
    if found.tags.get(_NOTE) != note:
        client.set_experiment_tag(found.experiment_id, _NOTE, note)
    return str(found.experiment_id)


@event.listens_for(Engine, "connect")
def _write_without_waiting(connection: Any, _record: object) -> None:
    """Let the local database leave it to the operating system when it is on disk, which is ten times as fast.

    After a power cut it may be damaged; unlike other databases it can be written again from the records.
    """
    if isinstance(connection, sqlite3.Connection):
        _, _, path = connection.execute("PRAGMA database_list").fetchone()
        if path == str(_database()):
            connection.execute("PRAGMA synchronous = OFF")


def _is_local() -> bool:
    return not os.environ.get("MLFLOW_TRACKING_URI")


def _database() -> Path:
    return project_folder() / "mlruns" / "mlflow.db"


def _artifacts(experiment: str) -> str:
    return (_database().parent / "artifacts" / experiment).as_uri()


def _put_aside_if_moved() -> None:
    database = _database()
    if not database.exists():
        return
    # Read without MLflow, which would keep a connection to the file that is about to be put aside; but not read-only,
    # since SQLite takes back here what a process that was killed has half-written.
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True)) as connection:
        query = "SELECT name, artifact_location FROM experiments WHERE name != 'Default'"
        places = connection.execute(query).fetchall()
    elsewhere = [place for name, place in places if place != _artifacts(name)]
    if elsewhere:
        aside = database.with_name(f"before-move-{time.strftime('%Y%m%d-%H%M%S')}.db")
        database.replace(aside)
        print(
            f"{database} was begun elsewhere (its artifacts are in {elsewhere[0]}); it is now {aside.name}, and a new "
            "one takes its place: `cxprobe sync` writes all runs into it",
            file=sys.stderr,
        )
