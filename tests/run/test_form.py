"""Faults of the form of runs are found, and runs of the right form have none."""

from dataclasses import replace
from pathlib import Path

import pytest
from form import FIGURE, PARAMS, SAID, faults_of_form
from mlflow import MlflowClient
from test_tracking_runs import CIRCUMSTANCES, JUDGED

from cxprobe.run.record import Dataset, RunRecord
from cxprobe.run.tracking import add_runs, tracking_uri

pytest_plugins = ["tracked_workspace"]


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
