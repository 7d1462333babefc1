"""The form of the runs that people compare: what MLflow's UI can show side by side, and what it cannot."""

import re
from collections.abc import Iterator

from mlflow import MlflowClient
from mlflow.entities import Run

JUDGED_EXPERIMENTS = ("recognition", "scenarios", "pairs", "prompts", "benchmarks")
PARAMS = {f"model_{what}" for what in ("name", "kind", "weights", "precision", "parameters")}
PARAMS |= {"model", "construction", "source"}
# What the name of a run says of its model, by the state of the weights.
SAID = {"trained": "", "random": " (random weights)", "shuffled": " (shuffled weights)", "none": " (blind)"}
MOST_METRICS = 40
FIGURE = "accuracy.png"


def faults_of_form(uri: str) -> list[str]:
    """Return all that is wrong with the form of the experiments and of the judged runs of a tracking store."""
    client = MlflowClient(uri)
    runs = {name: judged_runs(client, name) for name in JUDGED_EXPERIMENTS}
    faults = [*experiments_without_description(client), *metrics_with_names_of_items(runs)]
    for name, judged in runs.items():
        faults += [f"{name}: {fault}" for fault in (*differing_params(judged), *differing_figures(client, judged))]
        for run in judged:
            place = f"{name}, {run.info.run_name}"
            own = (*crowded(run), *mistakable(run), *without_data(run), *without_figure(client, run))
            faults += [f"{place}: {fault}" for fault in own]
    return faults


def judged_runs(client: MlflowClient, experiment: str) -> list[Run]:
    found = client.get_experiment_by_name(experiment)
    return list(client.search_runs([found.experiment_id], "attributes.status = 'FINISHED'")) if found else []


def experiments_without_description(client: MlflowClient) -> Iterator[str]:
    for experiment in client.search_experiments():
        if experiment.name != "Default" and not experiment.tags.get("mlflow.note.content", "").strip():
            yield f"{experiment.name} has no description"


def metrics_with_names_of_items(runs: dict[str, list[Run]]) -> Iterator[str]:
    every = [run for judged in runs.values() for run in judged]
    names = {run.data.params.get(key, "") for run in every for key in ("model", "construction")} - {"", "all"}
    for metric in sorted({metric for run in every for metric in run.data.metrics}):
        for name in sorted(names):
            if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", metric):
                yield f"the metric {metric} has the name {name} in it"


def crowded(run: Run) -> Iterator[str]:
    if len(run.data.metrics) > MOST_METRICS:
        yield f"{len(run.data.metrics)} metrics, at most {MOST_METRICS} are drawn"


def mistakable(run: Run) -> Iterator[str]:
    """Name what could make a twin or a blind model pass for a trained one."""
    known = run.data.params
    if (state := known.get("model_weights", "trained")) not in SAID:
        yield f"the weights are {state}, which is none of {', '.join(SAID)}"
    elif not run.info.run_name.startswith(f"{known.get('model')}{SAID[state]} · "):
        yield f"the name does not begin with {known.get('model')}{SAID[state]}"
    if (known.get("model_kind") == "blind") != (state == "none"):
        yield f"the kind is {known.get('model_kind')} and the weights are {state}"


def differing_params(judged: list[Run]) -> Iterator[str]:
    names = {frozenset(run.data.params) for run in judged}
    if len(names) > 1:
        differing = frozenset.union(*names) - frozenset.intersection(*names)
        yield f"not all runs have the params {', '.join(sorted(differing))}"
    if names and (missing := PARAMS - frozenset.intersection(*names)):
        yield f"the params {', '.join(sorted(missing))} are missing"


def without_data(run: Run) -> Iterator[str]:
    used = [one.dataset for one in run.inputs.dataset_inputs]
    if not (used and all(one.digest and "num_rows" in (one.profile or "") for one in used)):
        yield "no data set with digest and number of rows"


def without_figure(client: MlflowClient, run: Run) -> Iterator[str]:
    if not figures_of(client, run):
        yield "no figure"


def differing_figures(client: MlflowClient, judged: list[Run]) -> Iterator[str]:
    paths = [figures_of(client, run) for run in judged]
    if all(paths) and paths and not set.intersection(*paths):
        yield "no figure has the same path in all runs"


def figures_of(client: MlflowClient, run: Run, folder: str | None = None) -> set[str]:
    found = client.list_artifacts(run.info.run_id, folder)
    nested = (figures_of(client, run, one.path) for one in found if one.is_dir)
    return {one.path for one in found if one.path.endswith(".png")}.union(*nested)
