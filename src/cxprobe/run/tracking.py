"""Runs in MLflow, which `sync` can always write again from the records under results/.

Tracking never stops work: whatever goes wrong with the store is a warning, since ``cxprobe sync`` can make up for it.
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
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlencode

from filelock import FileLock
from mlflow import MlflowClient, entities
from mlflow.exceptions import MlflowException

from cxprobe.errors import CxprobeError
from cxprobe.files.writing import RESULTS, full_disk, has_ended, project_folder, read_json, this_process
from cxprobe.run.progress import progress, uninterrupted
from cxprobe.run.record import RUNS, STAGE_TAG, Experiments, Run, RunContext, context_of, label_of, milliseconds
from cxprobe.run.results import INPUTS
from cxprobe.secrets import redact

RECORD_TAG = "cxprobe.record"  # `Run.digest`; if the run is FINISHED too, it is complete
PROCESS_TAG = "cxprobe.process"  # which process writes the run, to find the runs of those that have died
PARENT_TAG = "mlflow.parentRunId"
ROLE_TAG = "role"  # `Run.role`, by which searches leave out baselines and parts of runs
_NOTE = "mlflow.note.content"
Texts: TypeAlias = Mapping[str, str]
_VIEWS = (  # what a link shows, as what, and the search
    ("charts of trained models", "CHART", f"tags.{ROLE_TAG} = 'model'"),
    ("their table", "TABLE", f"tags.{ROLE_TAG} = 'model'"),
    ("all models with baselines and random weights", "TABLE", f"tags.{ROLE_TAG} != 'part'"),
    ("parts of runs, such as probes", "TABLE", f"tags.{ROLE_TAG} = 'part'"),
)
_NAMED, _LETTERS = 3, 20  # changed settings in the name of a run, and letters of their values
_WRITES_MISSING = "`cxprobe sync` again, which writes what is missing"
# What a fault of the store says -> what to do, where the store itself is whole.
_REMEDIES = {
    "database is locked": "another process writes into it: let that end (`cxprobe ui` is one)",
    "must be in the 'active' state": "the experiment was deleted in MLflow: bring it back with "
    "`MLFLOW_TRACKING_URI={uri} mlflow experiments restore --experiment-id`, followed by its number",
}
_BATCH = 100  # MLflow takes at most 100 parameters, 100 tags and 1,000 metrics in a call


class TrackingError(CxprobeError):
    """The tracking store cannot be written."""


def tracking_uri() -> str:
    """Return the address of the tracking store."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{_database()}"


def add_runs(runs: Sequence[Run], experiments: Experiments) -> None:
    """Write the runs that the store lacks; a fault is only a warning.

    Signals wait while the store is written: one within a transaction would leave the database locked.
    """
    try:
        with uninterrupted():
            sync(runs, experiments)
    except TrackingError as fault:
        warning = f"{redact(str(fault))}: the results are written; `cxprobe sync` writes the runs into MLflow later"
        print(warning, file=sys.stderr)


def sync(runs: Sequence[Run], experiments: Experiments) -> int:
    """Write the runs that the store lacks, the oldest first, and return their number.

    Runs that processes of this machine have left open, because they died or the store did, are ended as KILLED first.

    Raises:
        TrackingError: The store cannot be written.
    """
    try:
        return _write_missing(open_store(), runs, experiments)
    except Exception as error:  # every kind of store has errors of its own
        fault = str(full_disk(error) or error)
        raise TrackingError(
            redact(f"the tracking store at {tracking_uri()} cannot be written ({fault}); {_remedy(fault)}")
        ) from error


def _remedy(fault: str) -> str:
    """Return what to do about a fault of the store."""
    for said, what in _REMEDIES.items():
        if said in fault:
            return f"{what.format(uri=tracking_uri())}, and run {_WRITES_MISSING}"
    if "://" not in tracking_uri() or tracking_uri().startswith(("sqlite:", "file:")):
        return (
            "if the file is damaged or was begun in another folder, delete it and run `cxprobe sync` again, which "
            "writes all runs into a new one"
        )
    return f"see that the server runs and that MLFLOW_TRACKING_URI is its address, and run {_WRITES_MISSING}"


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


def _params_of(run: Run) -> dict[str, str]:
    """Return the parameters by which MLflow compares runs."""
    of_model = {"model": run.model, "model_kind": run.facts.kind, "model_weights": run.facts.state}
    return {**of_model, **run.part, **run.settings}


def _write_missing(client: MlflowClient, runs: Sequence[Run], experiments: Experiments) -> int:
    """End the runs that are left open, write those that the store does not have, and return the number of these."""
    ids, complete, ended = dict[str, str](), set[str](), 0
    first = dict[tuple[str | None, str | None], Texts]()  # stage and model -> parameters of its first run
    needed = {run.experiment for run in runs}
    for name, note in experiments.items():
        if name not in needed and client.get_experiment_by_name(name) is None:
            continue
        ids[name] = experiment_id(client, name, note)
        for known in client.search_runs([ids[name]], max_results=50_000):  # the newest first
            tags, params = known.data.tags, known.data.params
            if PARENT_TAG in tags and known.info.status == "FINISHED":
                continue  # of a parent, which counts
            if known.info.status == "FINISHED":
                complete.add(tags.get(RECORD_TAG, ""))
                first[tags.get(STAGE_TAG), params.get("model")] = params
            elif known.info.status == "RUNNING" and has_ended(tags.get(PROCESS_TAG, "")):
                client.set_terminated(known.info.run_id, status="KILLED")
                ended += 1
    if ended:
        print(f"runs that were still RUNNING though their processes have ended, and are now KILLED: {ended}")
    missing = [(run, context_of(run)) for run in runs if run.digest not in complete]
    began = milliseconds()

    def write(one: tuple[Run, RunContext]) -> None:
        run, context = one
        changed = changed_settings(_params_of(run), first.get((run.stage, run.model), {}))
        _write(client, ids[run.experiment], run, context, changed, context.started or began)
        shown.update(1)

    # A server is waited for, so several runs are under way; a local file takes one at a time.
    with (
        progress(len(missing), "runs", f"MLflow at {redact(tracking_uri())}", kept="these runs are written") as shown,
        ThreadPoolExecutor(1 if _is_local() else 8) as pool,
    ):
        # After a fault it cancels the others.
        list(pool.map(write, sorted(missing, key=lambda pair: pair[1].started)))
    return len(missing)


def changed_settings(params: Texts, first: Texts) -> str:
    """Return the settings in which a run differs from the first one of its model, such as "C=0.1"."""
    changed = [name for name, value in params.items() if first.get(name, value) != value]
    named = [f"{name.rpartition('.')[2]}={params[name][:_LETTERS]}" for name in changed[:_NAMED]]
    return ", ".join(named + [f"{len(changed) - _NAMED} more"] * (len(changed) > _NAMED))


def _begin(
    client: MlflowClient,
    experiment: str,
    name: str,
    started: int,
    finished: int,
    tags: Texts,
    params: Texts,
    points: Sequence[tuple[str, int, float]],
) -> str:
    """Create a run with its parameters and metrics (name, step, value), and return its id.

    A tag says which process writes it. As few calls are made as MLflow's limits allow.
    """
    tags = {**tags, PROCESS_TAG: this_process()}
    run = client.create_run(experiment, started, run_name=name, tags=tags).info.run_id
    metrics = [entities.Metric(name, value, finished, step) for name, step, value in points]
    logged = [entities.Param(name, value) for name, value in params.items()]
    for start in range(0, max(len(metrics), len(logged)), _BATCH):
        batch = slice(start, start + _BATCH)
        client.log_batch(run, metrics=metrics[batch], params=logged[batch])
    return str(run)


def _write(
    client: MlflowClient,
    experiment: str,
    run: Run,
    context: RunContext,
    changed: str,
    started: int,
    parent: str = "",
) -> None:
    """Write a run with its children; it is FINISHED once all of them are written.

    Args:
        client: The store's.
        experiment: The id of its experiment.
        run: The run.
        context: Its context, which a machine that has only its record does not know.
        changed: The settings in which it differs from an earlier run, see `changed_settings`.
        started: Milliseconds since the epoch; children begin earlier.
        parent: The id of the run that it is a part of; "" for none.
    """
    # MLflow's UI cuts names to some 20 letters, so that what differs comes first. Items with one source have "own".
    parts = [
        value.removeprefix("own") if name in ("construction", "source") else f"{name}={value}"
        for name, value in run.part.items()
    ]
    named = [*parts, label_of(run.model, run.facts.state), changed, context.dvc_experiment]
    tags = {
        ROLE_TAG: run.role,
        STAGE_TAG: run.stage,
        **({PARENT_TAG: parent} if parent else {RECORD_TAG: run.digest}),
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": run.stage,
        # What people look up, and do not compare runs by.
        "weights": run.facts.weights,
        "model.name": run.facts.name,
        "model.parameters": "unknown" if run.facts.parameters is None else str(run.facts.parameters),
        "model.precision": run.facts.precision or "unknown",
        **run.tags,
    }
    if run.about:
        tags[_NOTE] = run.about
    if context.started:
        tags["mlflow.source.git.commit"] = context.commit
        tags["git.dirty"] = str(context.dirty).lower()
        tags["dvc.experiment"] = context.dvc_experiment
        tags["mlflow.user"] = context.user
    points = [(metric, 0, value) for metric, value in run.metrics.items()]
    points += [(metric, *point) for metric, series in run.series.items() for point in series]
    name, ended = " · ".join(filter(None, named)), context.finished
    id_ = _begin(client, experiment, name, started, ended, tags, _params_of(run), points)
    if run.dataset is not None:
        # MLflow's UI shows the Dataset column at first; no data is loaded for it.
        data = run.dataset
        source, profile = json.dumps({"uri": data.name}), json.dumps({"num_rows": data.items})
        dataset = entities.Dataset(Path(data.name).name, data.digest, "local", source, profile=profile)
        inputs = [entities.DatasetInput(dataset, tags=[entities.InputTag("mlflow.data.context", "evaluation")])]
        try:
            client.log_inputs(id_, inputs)
        except MlflowException:  # a run that was written at the same moment may have added the same data set
            client.log_inputs(id_, inputs)
    for artifact in map(Path, run.artifacts):
        if (run.folder / artifact).is_file():  # DVC may not have fetched it
            folder = None if artifact.parent == Path() else artifact.parent.as_posix()
            client.log_artifact(id_, str(run.folder / artifact), folder)
    if not parent:
        # MD5 of inputs, versions of packages: an artifact, since hundreds of tags would be columns of the table.
        file = RESULTS / run.stage / RUNS / INPUTS
        read = read_json(file) if file.is_file() else {}
        client.log_dict(id_, {"inputs": read, "environment": context.environment}, "provenance.json")
    earlier = started if parent else started - 1000  # since MLflow's charts show the newest runs
    for child in run.children:
        _write(client, experiment, child, context, changed, earlier, id_)
    for trial in run.trials:
        numbers = [(metric, 0, value) for metric, value in trial.metrics.items()]
        tried = {PARENT_TAG: id_, ROLE_TAG: "trial"}
        one = _begin(client, experiment, trial.name, earlier, ended, tried, trial.params, numbers)
        client.set_terminated(one, end_time=ended or None)
    client.set_terminated(id_, status="FINISHED", end_time=ended or None)
