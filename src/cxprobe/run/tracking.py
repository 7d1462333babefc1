"""Runs in MLflow, which can always be written again from the records under results/.

Tracking never stops work: whatever goes wrong with the store is a warning, since `cxprobe sync` can make up for it.
"""

import os

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
# A server that does not answer delays the work by half a minute; by default MLflow tries for a quarter of an hour.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")  # seconds
# Of hundreds of runs, MLflow would print the address of each.
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlencode

from filelock import FileLock
from mlflow import MlflowClient, entities
from mlflow.exceptions import MlflowException

from cxprobe.errors import CxprobeError
from cxprobe.files.writing import full_disk, has_ended, project_folder, read_json, this_process, write_json
from cxprobe.run.progress import progress
from cxprobe.run.record import STAGE_TAG, Experiments, RunContext, RunRecord, Trial
from cxprobe.run.signals import uninterrupted
from cxprobe.secrets import redact

RECORD_TAG = "cxprobe.record"  # SHA-256 of the run's record; if the run is FINISHED too, it is complete
PROCESS_TAG = "cxprobe.process"  # which process writes the run, to find the runs of those that have died
PARENT_TAG = "mlflow.parentRunId"
PROVENANCE = "provenance.json"  # the artifact with the MD5 of all inputs and the versions of packages
_NOTE = "mlflow.note.content"
_VIEWS = (  # what a link shows, as what, and the search
    ("charts of trained models", "CHART", "params.model_weights = 'trained'"),
    ("their table", "TABLE", "params.model_weights = 'trained'"),
    ("what a model knows", "TABLE", "tags.verdict IN ('above_baseline', 'knows')"),
)
_PAGE = 1000  # runs in an answer of the store
_AT_A_TIME = 8  # runs that are written to a server
_NAMED, _LETTERS = 3, 20  # changed settings in the name of a run, and letters of their values
_BATCH = 100  # MLflow takes at most 100 parameters, 100 tags and 1,000 metrics in a call


class TrackingError(CxprobeError):
    """The tracking store cannot be written."""


def tracking_uri() -> str:
    """Return the address of the tracking store."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_database()}"


def add_runs(records: Sequence[RunRecord], context: RunContext, experiments: Experiments) -> None:
    """Write the runs of records in their order, apart from those that the store has; a fault is only a warning.

    Their context is kept on this machine for `sync`, since it must change no output. Signals wait while the store is
    written: one within a transaction would leave the database locked.
    """
    # With times of start that differ, since MLflow's UI shows the newest runs first.
    known = [(record, replace(context, started=context.started + number)) for number, record in enumerate(records)]
    try:
        for record, its_context in known:
            write_json(asdict(its_context), _context_file(record))
    except OSError as error:  # such as a full disk
        print(f"time, commit and machine of the runs could not be kept: {error}", file=sys.stderr)
    try:
        with uninterrupted():
            _add_missing(open_store(), known, experiments)
    except Exception as error:  # every kind of store has errors of its own, and none of them may stop the work
        warning = f"MLflow at {tracking_uri()} does not work ({full_disk(error) or error})"
        print(redact(f"{warning}: the results are written; `cxprobe sync` writes the runs later"), file=sys.stderr)


def sync(records: Sequence[RunRecord], experiments: Experiments) -> int:
    """Write the runs of all records that the store lacks, the oldest first, and return their number.

    Runs that processes of this machine have left open, because they died or the store did, are ended as KILLED first.

    Raises:
        TrackingError: The store cannot be written.
    """
    known = sorted(((record, _context_of(record)) for record in records), key=lambda pair: pair[1].started)
    try:
        client = open_store()
        ended = _end_left_open(client, experiments)
        added = _add_missing(client, known, experiments)
    except Exception as error:  # every kind of store has errors of its own
        remedy = (
            "if the file is damaged or was begun in another folder, delete it and run `cxprobe sync` again, which "
            "writes all runs into a new one"
            if "://" not in tracking_uri() or tracking_uri().startswith(("sqlite:", "file:"))
            else "see that the server runs and that MLFLOW_TRACKING_URI is its address, and run `cxprobe sync` again, "
            "which writes what is missing"
        )
        fault = full_disk(error) or error
        raise TrackingError(
            redact(f"the tracking store at {tracking_uri()} cannot be written ({fault}); {remedy}")
        ) from error
    if ended:
        print(f"runs that were still RUNNING though their processes have ended, and are now KILLED: {ended}")
    return added


def open_store() -> MlflowClient:
    """Return a client of the tracking store, which is made if it does not exist."""
    # MLflow and its migrations announce every step of making a database; only what goes wrong is of interest.
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.WARNING)
    if not _is_local():
        return MlflowClient(tracking_uri=tracking_uri())
    _database().parent.mkdir(exist_ok=True)
    ignored = _database().with_name(".gitignore")
    if not ignored.exists():  # git has it, and people may delete the folder
        ignored.write_text("*\n!.gitignore\n")
    with FileLock(_database().with_suffix(".lock")):  # several first runs at once must not all make the database
        return MlflowClient(tracking_uri=tracking_uri())


def experiment_id(client: MlflowClient, name: str, note: str) -> str:
    """Return the id of an experiment, which is made with its description if it does not exist.

    Args:
        client: The store's.
        name: The name of the experiment.
        note: Its description, as Markdown.

    Raises:
        TrackingError: The local store was begun in another folder, to which it would write the artifacts.
    """
    artifacts = (_database().parent / "artifacts" / name).as_uri() if _is_local() else None
    existing = client.get_experiment_by_name(name)
    if existing is None:
        # MLflow's UI opens an experiment as one about prompts and agents unless it is said to be about models.
        try:
            client.create_experiment(name, artifacts, {"mlflow.experimentKind": "custom_model_development"})
        except MlflowException:  # another process may have made it at the same moment
            if client.get_experiment_by_name(name) is None:
                raise
        existing = client.get_experiment_by_name(name)
    if artifacts and existing.artifact_location != artifacts:
        raise TrackingError(f"it was begun in another folder: its artifacts are in {existing.artifact_location}")
    described = f"{links_to(existing.experiment_id)}\n\n{note}"
    if existing.tags.get(_NOTE) != described:
        client.set_experiment_tag(existing.experiment_id, _NOTE, described)
    return str(existing.experiment_id)


def links_to(experiment: str) -> str:
    """Return links to runs of an experiment, as Markdown: MLflow documents no other way to give it views."""
    address = f"#/experiments/{experiment}/runs?workflowType=machine_learning&"
    links = (
        f"[{shown}]({address}{urlencode({'compareRunsMode': mode, 'searchFilter': search})})"
        for shown, mode, search in _VIEWS
    )
    return f"Open {', '.join(links)}."


def _is_local() -> bool:
    return not os.environ.get("MLFLOW_TRACKING_URI")


def _database() -> Path:
    return project_folder() / "mlruns" / "mlflow.db"


def _context_file(record: RunRecord) -> Path:
    return project_folder() / "mlruns" / "context" / f"{record.digest}.json"


def _context_of(record: RunRecord) -> RunContext:
    """Return the context of a run that this machine has kept; of others nothing is known."""
    path = _context_file(record)
    return RunContext(**read_json(path)) if path.is_file() else RunContext(0, 0, "", False, {}, "")


def _every_run(client: MlflowClient, experiment: str, query: str) -> Iterator[entities.Run]:
    """Yield the runs of an experiment that a query finds; in pages, since thousands of runs are much to answer."""
    token = None
    while token != "":
        page = client.search_runs([experiment], query, max_results=_PAGE, page_token=token)
        yield from page
        token = page.token or ""


def _add_missing(
    client: MlflowClient, records: Sequence[tuple[RunRecord, RunContext]], experiments: Experiments
) -> int:
    """Write the runs of records that the store does not have, and return their number."""
    ids = dict[str, str]()
    complete = set[str]()
    first = dict[tuple[str | None, ...], Mapping[str, str]]()  # place -> parameters of its first run
    for name in dict.fromkeys(record.experiment for record, _ in records):
        ids[name] = experiment_id(client, name, experiments[name])
        for run in _every_run(client, ids[name], "attributes.status = 'FINISHED'"):  # the newest first
            complete.add(run.data.tags.get(RECORD_TAG, ""))
            first[_place(run.data.params, run.data.tags.get(STAGE_TAG))] = run.data.params
    missing = [(record, context) for record, context in records if record.digest not in complete]

    def write(one: tuple[RunRecord, RunContext]) -> None:
        record, context = one
        changed = changed_settings(record.params, first.get(_place(record.params, record.stage), {}))
        label, place = record.name.split(" · ", 1)  # MLflow's UI cuts names to some 20 letters
        name = " · ".join(filter(None, [label, changed, place, context.dvc_experiment]))
        _write(client, ids[record.experiment], name, record, context)
        _delete_copies(client, ids[record.experiment], record)
        shown.update(1)

    # A server is waited for, so several runs are under way; a local file takes one at a time.
    with (
        progress(len(missing), "runs", f"MLflow at {redact(tracking_uri())}", kept="these runs are written") as shown,
        ThreadPoolExecutor(1 if _is_local() else _AT_A_TIME) as pool,
    ):
        list(pool.map(write, missing))  # after a fault it cancels the others
    return len(missing)


def _place(params: Mapping[str, str], stage: str | None) -> tuple[str | None, ...]:
    """Return what runs that differ in their settings alone have in common."""
    return stage, *(params.get(name) for name in ("model", "construction", "source"))


def changed_settings(params: Mapping[str, str], first: Mapping[str, str]) -> str:
    """Return the settings in which a run differs from the first one of its model and construction, such as "C=0.1"."""
    changed = [name for name, value in params.items() if first.get(name, value) != value]
    named = [f"{name.rpartition('.')[2]}={params[name][:_LETTERS]}" for name in changed[:_NAMED]]
    return ", ".join(named + [f"{len(changed) - _NAMED} more"] * (len(changed) > _NAMED))


def _delete_copies(client: MlflowClient, experiment: str, record: RunRecord) -> None:
    """Keep one of the runs of a record that several people have written at the same moment.

    Each looks after the own run is complete, so the last one sees them all, and all keep the same one.
    """
    complete = f"attributes.status = 'FINISHED' and tags.`{RECORD_TAG}` = '{record.digest}'"
    for copy in sorted(run.info.run_id for run in client.search_runs([experiment], complete))[1:]:
        for trial in client.search_runs([experiment], f"tags.`{PARENT_TAG}` = '{copy}'"):
            client.delete_run(trial.info.run_id)
        client.delete_run(copy)


def _create(client: MlflowClient, experiment: str, name: str, tags: Mapping[str, str], context: RunContext) -> str:
    """Create a run, and return its id; a tag says which process writes it."""
    tags = {**tags, PROCESS_TAG: this_process()}
    run = client.create_run(experiment, context.started or None, run_name=name, tags=tags)
    return str(run.info.run_id)


def _end_left_open(client: MlflowClient, experiments: Experiments) -> int:
    """End the runs that processes of this machine have left open, and return their number."""
    ended = 0
    for experiment in filter(None, map(client.get_experiment_by_name, experiments)):
        for run in _every_run(client, experiment.experiment_id, "attributes.status = 'RUNNING'"):
            if has_ended(run.data.tags.get(PROCESS_TAG, "")):
                client.set_terminated(run.info.run_id, status="KILLED")
                ended += 1
    return ended


def _write(client: MlflowClient, experiment: str, name: str, record: RunRecord, context: RunContext) -> None:
    """Write the run of a record; it is FINISHED once all of it is written."""
    tags = {
        RECORD_TAG: record.digest,
        STAGE_TAG: record.stage,
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": record.stage,
        "weights": record.weights,
        **record.tags,
    }
    if context.started:
        tags["mlflow.source.git.commit"] = context.commit
        tags["git.dirty"] = str(context.dirty).lower()
        tags["dvc.experiment"] = context.dvc_experiment
    run = _create(client, experiment, name, tags, context)
    _log(client, run, record, context.finished)
    if record.dataset is not None:
        # MLflow's UI shows the Dataset column at first, so it says what the items are of; no data is loaded for it.
        data, profile = record.dataset, json.dumps({"num_rows": record.dataset.items})
        name = f"{record.params['construction']}, {record.params['source']}"
        dataset = entities.Dataset(name, data.digest, "local", json.dumps({"uri": data.name}), profile=profile)
        inputs = [entities.DatasetInput(dataset, tags=[entities.InputTag("mlflow.data.context", "evaluation")])]
        try:
            client.log_inputs(run, inputs)
        except MlflowException:  # a run that was written at the same moment may have added the same data set
            client.log_inputs(run, inputs)
    for artifact in record.artifacts:
        if (record.folder / artifact).is_file():  # DVC may not have fetched it
            parent = None if artifact.parent == Path() else artifact.parent.as_posix()
            client.log_artifact(run, str(record.folder / artifact), parent)
    # An artifact, since hundreds of inputs as tags would be columns of the table.
    client.log_dict(run, {"inputs": record.inputs, "environment": context.environment}, PROVENANCE)
    for trial in record.trials:
        child = _create(client, experiment, trial.name, {PARENT_TAG: run}, context)
        _log(client, child, trial, context.finished)
        client.set_terminated(child, status=trial.status, end_time=context.finished or None)
    client.set_terminated(run, status="FINISHED", end_time=context.finished or None)


def _log(client: MlflowClient, run: str, measured: RunRecord | Trial, finished: int) -> None:
    """Log metrics and params in as few calls as MLflow's limits allow."""
    metrics = [entities.Metric(name, value, finished, 0) for name, value in measured.metrics.items()]
    if isinstance(measured, RunRecord):
        for name, series in measured.series.items():
            metrics += [entities.Metric(name, value, finished, step) for step, value in series]
    params = [entities.Param(name, value) for name, value in measured.params.items()]
    for start in range(0, max(len(metrics), len(params)), _BATCH):
        batch = slice(start, start + _BATCH)
        client.log_batch(run, metrics=metrics[batch], params=params[batch])
