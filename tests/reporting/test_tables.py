import pandas as pd
import pytest
from scipy.stats import binomtest

from cxprobe.reporting import accuracy_by, curves, highlights

PREDICTIONS = pd.DataFrame(
    {
        "feature": ["length"] * 8,
        "layer": [0] * 4 + [1] * 4,
        "label": ["positive", "negative"] * 4,
        "probability": [0.9, 0.8, 0.5, 0.5, 0.9, 0.1, 0.8, 0.3],
        "template": [f"t{number}" for number in range(8)],
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


def test_curves_are_one_row_a_layer_and_one_column_a_feature():
    by_layer = pd.DataFrame(
        {
            "feature": ["length", "length", "distance", "distance"],
            "layer": [0, 1, 0, 1],
            "accuracy": [0.5, 0.9, 0.4, 0.8],
        }
    )
    wide = curves(by_layer)
    assert wide.columns.tolist() == ["layer", "length", "distance"]
    assert wide.to_numpy().tolist() == [[0, 0.5, 0.4], [1, 0.9, 0.8]]


def test_highlights_name_the_highest_layer_beside_layer_0_and_the_controls():
    by_layer = pd.DataFrame({"feature": "length", "layer": [0, 1, 2], "accuracy": [0.5, 0.9, 0.8]})
    controls = pd.DataFrame({"feature": "length", "control": ["majority", "bag_of_words"], "accuracy": [0.5, 0.52]})
    assert highlights(by_layer, controls) == {
        "length": {"layer_0": 0.5, "highest": 0.9, "highest_layer": 1, "majority": 0.5, "bag_of_words": 0.52}
    }
