import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from cxprobe.judge import Credited, Recognition, credit_predictions, judge_recognition, recognition_headline
from cxprobe.stats import clusters_of, estimate_rate

FEATURES = ("length", "distance")
LAYERS = 4


def predictions(kind: str, names: tuple, right: dict | None = None, sentences: int = 10) -> pd.DataFrame:
    """Make predictions; ``right`` says for how many sentences those of a (feature, name) are right, else for all."""
    rows = [
        {
            "feature": feature,
            "value": number % 2,
            "label": "positive" if number % 3 else "negative",
            "id": f"s{number}",
            "cluster_template": f"t{number}",
            kind: name,
            "probability": 0.9 if (number < (right or {}).get((feature, name), sentences)) == bool(number % 3) else 0.1,
        }
        for feature in FEATURES
        for name in names
        for number in range(sentences)
    ]
    return pd.DataFrame(rows)


def credited(right: dict | None = None, controls: tuple = ("bag_of_words", "majority")) -> Credited:
    layers = tuple(range(LAYERS))
    return credit_predictions(predictions("layer", layers, right), predictions("control", controls))


def judged(right: dict | None = None) -> Recognition:
    return judge_recognition(credited(right))


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0])), min_size=1))
def test_a_prediction_is_right_wrong_or_a_tie(pairs):
    table = pd.DataFrame([{"label": "positive" if positive else "negative", "probability": p} for positive, p in pairs])
    expected = [0.5 if p == 0.5 else float((p > 0.5) == positive) for positive, p in pairs]
    assert [each["accuracy"].tolist() for each in credit_predictions(table, table)] == [expected] * 2


def test_accuracies_stand_by_feature_layer_value_and_control():
    found = judged({("length", 1): 5, ("distance", 2): 0})
    by_layer = found.by_layer.set_index(["feature", "layer"])
    assert by_layer.loc[("length", 1), "accuracy"] == 0.5
    assert by_layer.loc[("distance", 2), "accuracy"] == 0.0
    assert by_layer["accuracy"].sum() == 2 * LAYERS - 1.5
    assert (by_layer["n"] == 10).all()
    assert found.by_layer.columns.tolist() == ["feature", "layer", "accuracy", "low", "high", "n"]
    assert len(found.by_value) == 2 * 2 * LAYERS
    assert found.controls[["feature", "control", "accuracy"]].to_numpy().tolist() == [
        [feature, control, 1.0] for feature in FEATURES for control in ("bag_of_words", "majority")
    ]
    assert len(found.controls_by_value) == 8


def test_a_control_without_an_opinion_is_half_right():
    undecided = predictions("control", ("majority",)).assign(probability=0.5)
    found = judge_recognition(credit_predictions(predictions("layer", (0, 1)), undecided))
    assert found.controls_together["accuracy"].tolist() == [0.5]


def test_intervals_are_those_of_the_estimate():
    perfect = judged().by_layer.iloc[0]
    wilson = binomtest(10, 10).proportion_ci(method="wilson")
    assert (perfect["low"], perfect["high"]) == (pytest.approx(wilson.low), 1.0)


def test_all_features_together_are_their_mean_with_each_sentence_as_a_cluster():
    found = judged({("length", 2): 6, ("distance", 2): 8})
    together = found.together.set_index("layer").loc[2]
    assert (together["accuracy"], together["n"]) == (pytest.approx(0.7), 20)
    alone = credited({("length", 2): 6, ("distance", 2): 8}).probes.query("layer == 2")
    expected = estimate_rate(alone["accuracy"].to_numpy(), clusters_of(alone.assign(cluster_sentence=alone["id"])))
    assert (together["low"], together["high"]) == (expected.low, expected.high)


def test_a_sentence_that_is_in_two_subsets_is_not_two_independent_sentences():
    twice, controls = credited({("length", 0): 5, ("distance", 0): 5})
    twice["cluster_template"] = [f"t{row}" for row in range(len(twice))]
    apart = twice.assign(id=[f"s{row}" for row in range(len(twice))])
    width = {
        name: np.ptp(judge_recognition(Credited(table, controls)).together.loc[0, ["low", "high"]])
        for name, table in (("twice", twice), ("apart", apart))
    }
    assert width["twice"] > 1.3 * width["apart"]


def test_the_layer_of_the_headline_is_the_middle_one_and_not_the_best():
    found = judged({("length", 0): 4, ("distance", 0): 6, ("length", 2): 9, ("distance", 2): 9})
    metrics = found.metrics
    assert list(metrics)[:5] == ["accuracy", "low", "high", "n", "layer"]
    assert metrics | {"low": 0, "high": 0} == {
        "accuracy": pytest.approx(0.9),
        "low": 0,
        "high": 0,
        "n": 20,
        "layer": 2,
        "accuracy_layer_0": pytest.approx(0.5),
        "accuracy_highest": 1.0,
        "control_bag_of_words": 1.0,
        "control_majority": 1.0,
    }


def test_a_headline_of_several_constructions_is_that_of_all_their_sentences():
    first, other = credited({("length", 2): 0}), credited()
    other = Credited(*(each.assign(id="other " + each["id"], cluster_noun="cat") for each in other))
    headline = recognition_headline([first, other])
    assert (headline["accuracy"], headline["n"]) == (pytest.approx(0.75), 40)
    assert len(headline) <= 6  # two sources fit into twelve numbers


def test_curves_over_the_layers_are_those_of_the_tables():
    found = judged({("length", 1): 5})
    series = found.series
    assert list(series) == ["by_layer.accuracy", "by_layer.length", "by_layer.distance"]
    assert series["by_layer.length"] == [(0, 1.0), (1, 0.5), (2, 1.0), (3, 1.0)]
    assert series["by_layer.accuracy"] == [(0, 1.0), (1, 0.75), (2, 1.0), (3, 1.0)]
