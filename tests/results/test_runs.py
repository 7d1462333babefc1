"""Metrics and curves of runs, as views of the rates."""

import numpy as np
import pandas as pd

from cxprobe.results.runs import curves_of, findings_in, headline_of, metrics_of

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
    known = {
        "accuracy.baseline": 0.4,
        "accuracy.difference": 0.1,
        "accuracy.difference.low": 0.05,
        "accuracy.difference.high": 0.2,
    }
    compared = RATE | {"difference": 0.1, "diff_low": 0.05, "diff_high": 0.2}
    metrics = metrics_of(pd.DataFrame([compared, BY_ORDER]))
    interval = {"accuracy": 0.5, "accuracy.low": 0.25, "accuracy.high": 0.75, "n": 8}
    assert metrics == interval | known | {"accuracy.order.first": 0.75}


def test_levels_that_end_in_a_step_are_curves_over_it():
    curves = curves_of(pd.DataFrame(LAYERS))
    points = [(0, 0.0), (1, 0.1), (2, 0.2)]
    assert curves == {"accuracy.by_layer": points, "accuracy.by_layer.number": points}


def test_the_metrics_of_dvc_are_the_mean_rate_of_the_constructions_by_question_beside_that_of_their_controls():
    known = RATE | {"verdict": "knows", "question": "meaning", "control": 0.9}
    rates = [
        known,
        known | {"construction": "d", "value": 0.6, "control": 0.8},
        known | {"construction": "e", "value": 1.0, "control": np.nan, "question": "form"},
        known | {"construction": "all", "value": 0.1},
        known | {"construction": "f", "value": 0.1, "question": ""},
        known | {"model": "baseline", "verdict": ""},
        known | {"facet": "order", "decides": False, "value": 0.1},
    ]
    found = headline_of(pd.DataFrame(rates), lambda row: row["question"])
    assert found == {"m": {"form": 100.0, "meaning": 55.0, "control": 85.0, "n": 24}}


def test_names_of_metrics_have_no_sign_that_mlflow_refuses():
    shown = BY_ORDER | {"level": "3.templatic+data/own.tsv"}
    assert "accuracy.order.3.templatic_data/own.tsv" in metrics_of(pd.DataFrame([RATE, shown]))


def test_the_picture_of_a_run_has_the_rates_that_answer_a_question_beside_their_baselines_and_controls():
    judged = RATE | {"task": "t", "chance": 0.5, "baseline": "best", "verdict": "knows", "question": "form"}
    contrast = {"facet": "condition", "level": "construction", "baseline": "rival", "question": "meaning"}
    limits = {"control": 0.9, "control_low": 0.8, "control_high": 1.0, "control_n": 4}
    rates = [
        judged | {"construction": "c-form"},
        judged | {"construction": "c-form", "model": "best", "value": 0.4, "verdict": ""},
        judged | contrast | limits | {"n": 4},
        judged | contrast | {"level": "rival", "decides": False, "value": 0.3},
        judged | {"construction": "control", "question": ""},
    ]
    form, meaning = findings_in(pd.DataFrame(rates), "m", lambda row: row["question"], lambda name: name[0])
    assert [(one.construction, one.question, one.run) for one in (form, meaning)] == [
        ("c", "form", "c-form"),
        ("c", "meaning", "c"),
    ]
    assert [(one.baseline.name, one.baseline.rate.value) for one in (form, meaning)] == [("best", 0.4), ("rival", 0.3)]
    assert (form.control, meaning.control.value) == (None, 0.9)
