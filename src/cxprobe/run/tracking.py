"""When, where and by which code runs were made: kept beside the tracking store, since it must change no output."""

import os

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
# A server that does not answer delays the work by half a minute; by default MLflow tries for a quarter of an hour.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")  # seconds

import hashlib
import json
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
from filelock import FileLock
from mlflow import MlflowClient, entities
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import RESOURCE_ALREADY_EXISTS, ErrorCode
from sqlalchemy import event
from sqlalchemy.engine import Engine

from cxprobe.errors import CxprobeError
from cxprobe.files.writing import project_folder, read_json, this_machine, write_json
from cxprobe.run.experiments import DESCRIPTIONS, STAGES
from cxprobe.run.record import Circumstances, Dataset, RunRecord, Trial
from cxprobe.run.signals import uninterrupted
from cxprobe.secrets import blot


def record_digest(record: RunRecord) -> str:
    """Return the SHA-256 of a record, by which its run is known in every store.

    The inputs do not count, apart from the data set: a stage judges several constructions, and a correction of one of
    them changes its inputs and not the results on the others, which need no second run.
    """
    content = {name: value for name, value in asdict(record).items() if name != "inputs"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def keep_circumstances(records: Iterable[RunRecord], circumstances: Circumstances) -> None:
    """Keep the circumstances of runs on this machine, for `find_circumstances`; a full disk is only a warning."""
    try:
        for record in records:
            write_json(asdict(circumstances), _path(record))
    except OSError as error:
        print(f"time, commit and machine of the runs could not be kept: {error}", file=sys.stderr)


def find_circumstances(record: RunRecord) -> Circumstances | None:
    """Return the circumstances of the newest run that gave this record; None if it ran on another machine."""
    path = _path(record)
    return Circumstances(**read_json(path)) if path.is_file() else None


def _path(record: RunRecord) -> Path:
    return project_folder() / "mlruns" / "context" / f"{record_digest(record)}.json"


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


RECORD_TAG = "cxprobe.record"  # SHA-256 of the run's record; if the run is FINISHED too, it is complete
PROCESS_TAG = "cxprobe.process"  # machine:process:its beginning, by which the run of a process that died is known
STAGE_TAG = "cxprobe.stage"
PARENT_TAG = "mlflow.parentRunId"
PROVENANCE = "provenance.json"  # the artifact with the MD5 of all inputs, the versions of packages, and the devices
_CLOCK = 10.0  # seconds by which two readings of the time at which a process began may differ
_PAGE = 1000  # runs in an answer of the store
_BATCH = 100  # MLflow takes at most 100 parameters, 100 tags and 1,000 metrics in a call


@dataclass(frozen=True)
class OpenRun:
    """A run that has begun and not yet ended."""

    client: MlflowClient
    id: str


@contextmanager
def running(stage: str, item: Mapping[str, str], dvc_stage: str) -> Iterator[OpenRun | None]:
    """Begin the run of a stage that makes, measures or reports.

    It ends as FAILED or KILLED if the block does, and stays open for `finish` otherwise. Runs of the same stage and
    item that a process of this machine has left open because it died (SIGKILL, no memory) end as KILLED.

    Args:
        stage: The stage's name.
        item: The stage's arguments.
        dvc_stage: The name under which DVC runs it; "" if it is run by hand.

    Yields:
        The run; None if the store cannot be reached, after a warning.
    """
    run = None
    with _tolerated("the stage works on without an MLflow run; `cxprobe sync` writes it later"):
        client = open_store()
        experiment = experiment_id(client, STAGES)
        tags = _item_tags(stage, item)
        _end_left_open(client, experiment, tags)
        name = " · ".join([stage, *item.values()])
        run = OpenRun(client, _create(client, experiment, name, tags | {"dvc.stage": dvc_stage}))
    try:
        yield run
    except Exception:
        _end(run, "FAILED")
        raise
    except BaseException:
        _end(run, "KILLED")
        raise


def finish(run: OpenRun, record: RunRecord, circumstances: Circumstances, judged: Sequence[RunRecord] = ()) -> None:
    """Write the record of a finished stage into its open run, end it as FINISHED, and add the stage's judged runs."""
    with _tolerated("the results are written; `cxprobe sync` writes the run later"):
        with _failing(run):
            tags = {"mlflow.runName": _name(record, circumstances), **_tags(record, circumstances)}
            _log(run, tags=[entities.RunTag(name, value) for name, value in tags.items()])
            _write(run, record, circumstances)
        _add_missing(run.client, [(one, circumstances) for one in judged])


def add_runs(records: Sequence[RunRecord], circumstances: Circumstances) -> None:
    """Write the runs of records, apart from those that the store has already."""
    if records:
        with _tolerated("the results are written; `cxprobe sync` writes the runs later"):
            _add_missing(open_store(), [(record, circumstances) for record in records])


def sync(records: Sequence[RunRecord]) -> int:
    """Write the runs of all records that the store lacks, the oldest first, and return their number.

    Runs that processes of this machine have left open, because they died or the store did, are ended first: as KILLED,
    or as FAILED if their work had ended.

    Raises:
        TrackingError: The store cannot be written.
    """
    known = [(record, find_circumstances(record)) for record in records]
    known.sort(key=lambda pair: pair[1].started if pair[1] else 0)
    try:
        client = open_store()
        ended = sum(_end_left_open(client, experiment) for experiment in _known_experiments(client))
        added = _add_missing(client, _left_of(client, known))
    except Exception as error:  # every kind of store has errors of its own
        raise TrackingError(
            blot(
                f"the tracking store at {tracking_uri()} cannot be written ({error}); if it is a local file and "
                "damaged, delete it and run `cxprobe sync` again, which writes all runs into a new one"
            )
        ) from error
    if ended:
        print(f"runs that were still RUNNING though their processes have ended, and are now KILLED or FAILED: {ended}")
    return added


@contextmanager
def _tolerated(consequence: str) -> Iterator[None]:
    """Turn an error of the tracking store into a warning, and let signals wait meanwhile.

    A signal within a transaction would leave the database locked, and the run could not be marked as ended.
    """
    try:
        with uninterrupted():
            yield
    except Exception as error:  # every kind of store has errors of its own, and none of them may stop the work
        print(blot(f"MLflow at {tracking_uri()} does not work ({error}): {consequence}"), file=sys.stderr)


@contextmanager
def _failing(run: OpenRun) -> Iterator[None]:
    """End a run that could not be written as FAILED; a server that has just failed is asked once."""
    try:
        yield
    except Exception:
        with without_retries():
            _end(run, "FAILED")
        raise


def _left_of(
    client: MlflowClient, records: Sequence[tuple[RunRecord, Circumstances | None]]
) -> list[tuple[RunRecord, Circumstances | None]]:
    """Return the records whose runs the store does not list; it is asked for all runs at once, not for one by one."""
    experiments = {name: experiment_id(client, name) for name in dict.fromkeys(one.experiment for one, _ in records)}
    found, query = dict[str, set[str]](), "attributes.status = 'FINISHED'"
    for name, experiment in experiments.items():
        found[name] = {run.data.tags.get(RECORD_TAG, "") for run in _every_run(client, experiment, query)}
    return [(record, known) for record, known in records if record_digest(record) not in found[record.experiment]]


def _every_run(client: MlflowClient, experiment: str, query: str) -> Iterator[entities.Run]:
    """Yield the runs of an experiment that a query finds; in pages, since thousands of runs are much to answer."""
    token = None
    while token != "":
        page = client.search_runs([experiment], query, max_results=_PAGE, page_token=token)
        yield from page
        token = page.token or ""


def _add_missing(client: MlflowClient, records: Sequence[tuple[RunRecord, Circumstances | None]]) -> int:
    experiments = {name: experiment_id(client, name) for name in dict.fromkeys(one.experiment for one, _ in records)}
    added = 0
    for record, circumstances in records:
        experiment = experiments[record.experiment]
        if client.search_runs([experiment], _finished(record), max_results=1):
            continue
        # Tags that a run has from the beginning cost no transaction of their own.
        tags = {**_item_tags(record.stage, record.item), **_tags(record, circumstances)}
        run = OpenRun(client, _create(client, experiment, _name(record, circumstances), tags, circumstances))
        with _failing(run):
            _write(run, record, circumstances)
        _remove_copies(client, experiment, record)
        added += 1
    return added


def _finished(record: RunRecord) -> str:
    """Return the search for the runs of a record that are complete."""
    return f"attributes.status = 'FINISHED' and tags.`{RECORD_TAG}` = '{record_digest(record)}'"


def _remove_copies(client: MlflowClient, experiment: str, record: RunRecord) -> None:
    """Delete all complete runs of a record but one: people who sync at the same moment write it twice.

    Each looks after its own run is complete, so the last one sees them all, and all keep the same one.
    """
    for copy in sorted(run.info.run_id for run in client.search_runs([experiment], _finished(record)))[1:]:
        for trial in client.search_runs([experiment], f"tags.`{PARENT_TAG}` = '{copy}'") if record.trials else ():
            client.delete_run(trial.info.run_id)
        client.delete_run(copy)


def _create(
    client: MlflowClient,
    experiment: str,
    name: str,
    tags: Mapping[str, str],
    circumstances: Circumstances | None = None,
) -> str:
    """Create a run, and return its id; a tag says which process writes it, and since when."""
    started = circumstances.started if circumstances else None
    own = {PROCESS_TAG: f"{this_machine()}:{os.getpid()}:{psutil.Process().create_time():.0f}"}
    return str(client.create_run(experiment, start_time=started, run_name=name, tags={**tags, **own}).info.run_id)


def _end(run: OpenRun | None, status: str) -> None:
    """End a run whose work has failed, unless it has ended; a store that does not answer must not hide why."""
    if run is not None:
        with _tolerated(f"the run could not be ended as {status}"):
            if run.client.get_run(run.id).info.status == "RUNNING":
                run.client.set_terminated(run.id, status=status)


def _known_experiments(client: MlflowClient) -> list[str]:
    """Return the ids of those experiments of the project that the store has."""
    found = map(client.get_experiment_by_name, DESCRIPTIONS)
    return [experiment.experiment_id for experiment in found if experiment is not None]


def _end_left_open(client: MlflowClient, experiment: str, tags: Mapping[str, str] = MappingProxyType({})) -> int:
    """End the runs, with these tags, that processes of this machine have left open, and return their number."""
    same = "".join(f" and tags.`{name}` = '{value}'" for name, value in tags.items())
    begun = _every_run(client, experiment, f"attributes.status = 'RUNNING'{same}")
    left = [run for run in begun if _has_died(run.data.tags.get(PROCESS_TAG, ""))]
    for run in left:
        client.set_terminated(run.info.run_id, status="FAILED" if RECORD_TAG in run.data.tags else "KILLED")
    return len(left)


def _has_died(tag: str) -> bool:
    """Return whether a process tag is of this machine, and its process has ended; another may have its number now."""
    machine, _, process = tag.partition(":")
    if machine != this_machine():
        return False
    number, _, began = process.partition(":")
    try:
        created: float = psutil.Process(int(number)).create_time()
        return abs(created - int(began)) > _CLOCK
    except psutil.NoSuchProcess:
        return True


def _write(run: OpenRun, record: RunRecord, circumstances: Circumstances | None) -> None:
    """Write all of a record but its tags into a run, and end the run as FINISHED."""
    finished = circumstances.finished if circumstances else 0
    points = [(name, value, 0) for name, value in record.metrics.items()]
    points += [(name, value, step) for name, series in record.series.items() for step, value in series]
    _log(
        run,
        metrics=[entities.Metric(name, value, finished, step) for name, value, step in points],
        params=[entities.Param(name, value) for name, value in record.params.items()],
    )
    if record.dataset is not None:
        run.client.log_inputs(run.id, [_dataset_input(record.dataset)])
    for artifact in record.artifacts:
        if (record.folder / artifact).is_file():  # DVC may not have fetched it
            parent = None if artifact.parent == Path() else artifact.parent.as_posix()
            run.client.log_artifact(run.id, str(record.folder / artifact), parent)
    run.client.log_dict(run.id, _provenance(record, circumstances), PROVENANCE)
    if record.trials:
        experiment = run.client.get_run(run.id).info.experiment_id
        for trial in record.trials:
            _write_trial(run, experiment, trial, circumstances)
    run.client.set_terminated(run.id, status="FINISHED", end_time=finished or None)


def _log(run: OpenRun, **kinds: Sequence[Any]) -> None:
    """Log metrics, params and tags in as few calls as MLflow's limits allow."""
    for start in range(0, max(map(len, kinds.values())), _BATCH):
        run.client.log_batch(run.id, **{kind: every[start : start + _BATCH] for kind, every in kinds.items()})


def _item_tags(stage: str, item: Mapping[str, str]) -> dict[str, str]:
    return {STAGE_TAG: stage, **{f"item.{key}": value for key, value in item.items()}}


def _name(record: RunRecord, circumstances: Circumstances | None) -> str:
    """Return the name of a run; it ends in that of the DVC experiment, if there is one."""
    return " · ".join(filter(None, [record.name, circumstances.dvc_experiment if circumstances else ""]))


def _tags(record: RunRecord, circumstances: Circumstances | None) -> dict[str, str]:
    tags = {
        RECORD_TAG: record_digest(record),
        "dvc.stage": record.dvc_stage,
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": f"{record.stage}.py",
        **record.facts,
    }
    if circumstances is None:
        return tags
    return tags | {
        "mlflow.source.git.commit": circumstances.commit,
        "git.dirty": str(circumstances.dirty).lower(),
        "dvc.experiment": circumstances.dvc_experiment,
    }


def _provenance(record: RunRecord, circumstances: Circumstances | None) -> dict[str, Mapping[str, str]]:
    """Return what a run followed from, for an artifact: as tags, hundreds of inputs would be columns of the table."""
    known = circumstances and {"environment": circumstances.environment, "placement": circumstances.placement}
    return {"inputs": record.inputs, **(known or {})}


def _dataset_input(data: Dataset) -> entities.DatasetInput:
    """Return the entry of MLflow's Dataset column; no data is loaded for it."""
    source = json.dumps({"uri": data.name})
    profile = json.dumps({"num_rows": data.items})
    return entities.DatasetInput(
        entities.Dataset(data.name, data.digest, "local", source, profile=profile),
        tags=[entities.InputTag("mlflow.data.context", "evaluation")],
    )


def _write_trial(parent: OpenRun, experiment: str, trial: Trial, circumstances: Circumstances | None) -> None:
    tags = {PARENT_TAG: parent.id}
    run = OpenRun(parent.client, _create(parent.client, experiment, trial.name, tags, circumstances))
    finished = circumstances.finished if circumstances else 0
    _log(
        run,
        metrics=[entities.Metric(name, value, finished, 0) for name, value in trial.metrics.items()],
        params=[entities.Param(name, value) for name, value in trial.params.items()],
    )
    run.client.set_terminated(run.id, status=trial.status, end_time=finished or None)
