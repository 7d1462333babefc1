"""The form of the runs that people compare: what MLflow's UI can show side by side, and what it cannot."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from test_tracking_runs import CIRCUMSTANCES, JUDGED

from cxprobe.records import Dataset, RunRecord
from cxprobe.tracking import DESCRIPTIONS, add_runs, tracking_uri

pytest_plugins = ["tracked_workspace"]

JUDGED_EXPERIMENTS = ("recognition", "scenarios", "pairs", "prompts", "benchmarks")
PARAMS = {"model", "model_name", "model_kind", "model_weights", "model_parameters", "construction", "source"}
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


@pytest.mark.pipeline
def test_the_runs_of_a_finished_project_have_the_form_that_can_be_compared(finished_project):
    uri = f"sqlite:///{finished_project / 'mlruns' / 'mlflow.db'}"
    assert faults_of_form(uri) == []
    assert {one.name for one in MlflowClient(uri).search_experiments()} - {"Default"} <= set(DESCRIPTIONS)
    for name in ("recognition", "scenarios", "pairs", "prompts"):
        states = {run.data.params["model_weights"] for run in judged_runs(MlflowClient(uri), name)}
        assert states >= {"trained", "random", "none"}, f"{name} lacks models, twins or blind models"


@pytest.fixture
def good(workspace):
    """A record whose run has the right form."""
    folder = Path("results/judge_pairs/tiny/runs/toy/pairs")
    folder.mkdir(parents=True)
    (folder / FIGURE).write_bytes(b"a picture")
    params = dict.fromkeys(sorted(PARAMS), "known") | {"model": "tiny", "construction": "let-alone", "seed": "1"}
    params["model_weights"] = "trained"
    return replace(JUDGED, params=params, folder=folder, artifacts=[Path(FIGURE)])


def of_model(record: RunRecord, model: str, weights: str = "trained", kind: str = "masked") -> RunRecord:
    """Return the record as that of another model, under the name that tells what the model is."""
    params = {"model": model, "model_weights": weights, "model_kind": kind}
    return replace(record, name=f"{model}{SAID[weights]} · let-alone", params={**record.params, **params})


def faults(*records) -> list[str]:
    add_runs(records, CIRCUMSTANCES)
    return faults_of_form(tracking_uri())


def test_runs_of_the_right_form_have_no_faults(good):
    assert faults(good, of_model(good, "mini-clm")) == []


def test_twins_and_blind_models_that_say_what_they_are_stand_beside_the_others(good):
    twins = [of_model(good, f"twin-{weights}", weights) for weights in ("random", "shuffled")]
    assert faults(good, *twins, of_model(good, "shorter", "none", "blind")) == []


@pytest.mark.parametrize(("weights", "kind"), [("random", "masked"), ("shuffled", "masked"), ("none", "blind")])
def test_a_twin_or_a_blind_model_whose_name_does_not_say_so_is_a_fault(good, weights, kind):
    silent = replace(of_model(good, "twin", weights, kind), name="twin · let-alone")
    assert faults(silent) == [f"pairs, twin · let-alone: the name does not begin with twin{SAID[weights]}"]


def test_a_trained_model_that_is_named_as_a_twin_is_a_fault(good):
    assert faults(replace(good, name="tiny (random weights) · toy")) == [
        "pairs, tiny (random weights) · toy: the name does not begin with tiny"
    ]


def test_weights_in_an_unknown_state_and_blind_models_with_weights_are_faults(good):
    assert faults(replace(good, params=good.params | {"model_weights": "good"})) == [
        "pairs, tiny · toy: the weights are good, which is none of trained, random, shuffled, none"
    ]
    blind = of_model(good, "shorter", "trained", "blind")
    assert "pairs, shorter · let-alone: the kind is blind and the weights are trained" in faults(blind)


@pytest.mark.parametrize("metric", ["accuracy.mini-mlm", "let-alone.accuracy", "variant.mini-mlm.low"])
def test_the_name_of_a_model_or_construction_in_a_metric_is_a_fault(good, metric):
    (fault,) = faults(replace(of_model(good, "mini-mlm"), metrics={metric: 0.5}))
    assert fault.startswith(f"the metric {metric} has the name ")


def test_a_word_that_contains_a_name_is_no_fault(good):
    assert faults(replace(of_model(good, "one"), metrics={"tone": 0.5})) == []


def test_more_than_forty_metrics_are_a_fault(good):
    metrics = {f"metric {number}": 0.5 for number in range(40)}
    assert faults(replace(good, metrics=metrics, series={})) == []
    assert faults(replace(good, metrics=metrics)) == ["pairs, tiny · toy: 41 metrics, at most 40 are drawn"]


def test_params_that_differ_in_their_names_are_a_fault(good):
    assert faults(good, replace(good, params=good.params | {"fit_probes.C": "1.0"})) == [
        "pairs: not all runs have the params fit_probes.C"
    ]


def test_a_run_without_a_param_that_every_run_has_is_a_fault(good):
    params = {name: value for name, value in good.params.items() if name != "source"}
    assert faults(replace(good, params=params)) == ["pairs: the params source are missing"]


def test_an_experiment_without_a_description_is_a_fault(good):
    MlflowClient(tracking_uri()).create_experiment("notes")
    assert faults(good) == ["notes has no description"]


def test_a_run_without_a_data_set_is_a_fault(good):
    assert faults(replace(good, dataset=None)) == ["pairs, tiny · toy: no data set with digest and number of rows"]
    assert faults(replace(good, dataset=Dataset("data/items.parquet", "abc", 4)))[1:] == []


def test_a_run_without_a_figure_is_a_fault(good):
    assert faults(replace(good, artifacts=[])) == ["pairs, tiny · toy: no figure"]


def test_figures_under_another_path_in_every_run_are_a_fault(good):
    (good.folder / "other.png").write_bytes(b"a picture")
    assert faults(good, replace(good, artifacts=[Path("other.png")])) == [
        "pairs: no figure has the same path in all runs"
    ]
