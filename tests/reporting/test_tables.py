import pandas as pd
import pytest
from scipy.stats import binomtest

from cxprobe.reporting import accuracy_by, highlights, layer_series

PREDICTIONS = pd.DataFrame(
    {
        "feature": ["length"] * 8,
        "layer": [0] * 4 + [1] * 4,
        "label": ["positive", "negative"] * 4,
        "probability": [0.9, 0.8, 0.5, 0.5, 0.9, 0.1, 0.8, 0.3],
        "cluster_template": [f"t{number}" for number in range(8)],
    }
)


def test_accuracy_is_right_over_all_with_ties_half():
    table = accuracy_by(PREDICTIONS, ["feature", "layer"])
    assert table[["feature", "layer", "accuracy", "n"]].to_numpy().tolist() == [
        ["length", 0, 0.5, 4],
        ["length", 1, 1.0, 4],
    ]


def test_intervals_are_those_of_the_estimate():
    perfect = accuracy_by(PREDICTIONS, ["feature", "layer"]).iloc[1]
    wilson = binomtest(4, 4).proportion_ci(method="wilson")
    assert (perfect["low"], perfect["high"]) == (pytest.approx(wilson.low), 1.0)


def estimates(**columns) -> pd.DataFrame:
    return pd.DataFrame({"feature": "length", "low": 0.4, "high": 0.95, "n": 20} | columns)


def test_layer_series_are_the_accuracy_and_both_ends_of_its_interval():
    series = layer_series(estimates(layer=[0, 1], accuracy=[0.5, 0.9]))
    assert series["length/accuracy"] == [(0, 0.5), (1, 0.9)]
    assert series["length/low"] == [(0, 0.4), (1, 0.4)]
    assert series.keys() == {"length/accuracy", "length/low", "length/high"}


def test_highlights_name_the_highest_layer_beside_layer_0_and_the_controls_with_their_intervals():
    by_layer = estimates(layer=[0, 1, 2], accuracy=[0.5, 0.9, 0.8])
    controls = estimates(control=["majority", "bag_of_words"], accuracy=[0.5, 0.52])
    interval = {"low": 0.4, "high": 0.95, "n": 20}
    assert highlights(by_layer, controls) == {
        "length": {
            "layer_0": {"accuracy": 0.5} | interval,
            "highest": {"layer": 1, "accuracy": 0.9} | interval,
            "majority": {"accuracy": 0.5} | interval,
            "bag_of_words": {"accuracy": 0.52} | interval,
        }
    }
