"""Metrics and curves of runs, as views of the rates."""

import numpy as np
import pandas as pd

from cxprobe.results.runs import curves_of, headline_of, metrics_of

RATE = {
    **dict.fromkeys(["control", "control_low", "control_high", "difference", "diff_low", "diff_high"], np.nan),
    **{"model": "m", "construction": "c", "source": "own", "measure": "accuracy", "facet": "", "level": ""},
    **{"value": 0.5, "low": 0.25, "high": 0.75, "n": 8, "decides": True},
}
BY_ORDER = RATE | {"facet": "order", "level": "first", "value": 0.75, "decides": False}
LAYERS = [
    RATE | {"facet": "layer", "level": f"{part}{layer}", "value": layer / 10, "decides": False}
    for part in ("", "number.")
    for layer in (2, 0, 1)
]


def test_the_metrics_of_a_run_are_its_deciding_rate_with_its_interval_and_the_others_by_facet_and_level():
    known = {"accuracy.difference": 0.1, "accuracy.difference.low": 0.05, "accuracy.difference.high": 0.2}
    compared = RATE | {"difference": 0.1, "diff_low": 0.05, "diff_high": 0.2}
    metrics = metrics_of(pd.DataFrame([compared, BY_ORDER]))
    interval = {"accuracy": 0.5, "accuracy.low": 0.25, "accuracy.high": 0.75, "n": 8}
    assert metrics == interval | known | {"accuracy.order.first": 0.75}


def test_levels_that_end_in_a_step_are_curves_over_it():
    curves = curves_of(pd.DataFrame(LAYERS))
    points = [(0, 0.0), (1, 0.1), (2, 0.2)]
    assert curves == {"accuracy.by_layer": points, "accuracy.by_layer.number": points}


def test_the_metric_of_dvc_is_the_deciding_rate_of_each_model_and_construction():
    found = headline_of(pd.DataFrame([RATE, BY_ORDER, RATE | {"source": "mined", "value": 1.0}]))
    numbers = {"low": 0.25, "high": 0.75, "n": 8}
    assert found == {"m": {"c": {"accuracy": 0.5} | numbers, "c, mined": {"accuracy": 1.0} | numbers}}


def test_of_several_measures_that_decide_the_limits_are_those_of_the_first():
    found = headline_of(pd.DataFrame([RATE, RATE | {"measure": "changed", "value": 0.75, "low": 0.5, "n": 4}]))
    assert found == {"m": {"c": {"accuracy": 0.5, "changed": 0.75, "low": 0.25, "high": 0.75, "n": 8}}}


def test_names_of_metrics_have_no_sign_that_mlflow_refuses():
    shown = BY_ORDER | {"level": "3.templatic+data/own.tsv"}
    assert "accuracy.order.3.templatic_data/own.tsv" in metrics_of(pd.DataFrame([RATE, shown]))
