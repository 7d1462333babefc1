import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.recognition.judge import (
    Credited,
    Recognition,
    code_length,
    credit_predictions,
    curves_by_layer,
    judge_predictions,
    metrics_of,
)
from cxprobe.stats import estimate_rate

FEATURES = ("length", "distance")
LAYERS = 4


def product(**columns) -> pd.DataFrame:
    """Make a row for each sentence and each combination of the columns, of the model "toy"."""
    rows = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    number = rows["number"].astype(str)
    return rows.assign(id="s" + number, cluster_template="t" + number, model="toy")


def predictions(kind: str, names: tuple, right: dict | None = None, sentences: int = 10) -> pd.DataFrame:
    """Make predictions; ``right`` says for how many sentences those of a (feature, name) are right, else for all."""
    rows = product(feature=FEATURES, **{kind: names}, number=range(sentences))
    number, positive = rows["number"], rows["number"] % 3 > 0
    hits = [(right or {}).get(key, sentences) for key in zip(rows["feature"], rows[kind], strict=True)]
    return rows.assign(
        value=number % 2,
        label=np.where(positive, "positive", "negative"),
        probability=np.where((number < hits) == positive, 0.9, 0.1),
    )


NO_FOLDS = pd.DataFrame(
    columns=["model", "feature", "id", "label", "task", "layer", "known", "cluster_template", "probability"]
)
NO_CODE = pd.DataFrame(columns=["model", "feature", "id", "label", "portion", "layer", "probability"])
SPLITS = pd.DataFrame([(feature, "train", 0, "a") for feature in FEATURES], columns=["feature", "split", "draw", "id"])


def credited(right: dict | None = None, folds: pd.DataFrame = NO_FOLDS, code: pd.DataFrame = NO_CODE) -> Credited:
    probes = predictions("layer", tuple(range(LAYERS)), right).assign(draw=0)
    return credit_predictions(probes, predictions("control", ("words", "majority")), folds, code, SPLITS)


def judge_toy(items: Credited) -> Recognition:
    return judge_predictions(items).of("toy")


def judged(right: dict | None = None) -> Recognition:
    return judge_toy(credited(right))


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
        [feature, control, 1.0] for feature in FEATURES for control in ("words", "majority")
    ]


def test_the_layer_of_the_headline_is_the_middle_one_and_not_the_best():
    found = judged({("length", 0): 4, ("distance", 0): 6, ("length", 2): 9, ("distance", 2): 9})
    metrics = metrics_of(found)
    assert list(metrics)[:5] == ["accuracy", "low", "high", "n", "layer"]
    assert metrics | {"low": 0, "high": 0} == {
        "accuracy": pytest.approx(0.9),
        "low": 0,
        "high": 0,
        "n": 20,
        "layer": 2,
        "accuracy_layer_0": pytest.approx(0.5),
        "control_words": 1.0,
        "control_majority": 1.0,
    }


def held_out(right: dict, sentences: int = 10) -> pd.DataFrame:
    """Make predictions on folds; ``right`` says for how many sentences those of a (feature, layer, task) are right."""
    rows = product(feature=FEATURES, task=["real", "control"], layer=range(LAYERS), number=range(sentences))
    hits = [right.get(key, 5) for key in zip(rows["feature"], rows["layer"], rows["task"], strict=True)]
    return rows.assign(
        label="positive",
        known=rows["number"] != 0,
        cluster_word="w" + rows["number"].astype(str),
        probability=np.where(rows["number"] < hits, 0.9, 0.1),
    )


def test_the_best_layer_is_chosen_on_the_training_part_and_judged_on_the_test_part():
    """Layer 3 is the best one on the test part, layer 1 on the folds; ties go to the lowest layer."""
    tested = {("length", layer): 4 + layer for layer in range(LAYERS)} | {("distance", 1): 7}
    folds = held_out({("length", 1, "real"): 10, ("distance", 0, "real"): 8, ("distance", 3, "real"): 8})
    found = judge_toy(credited(tested, folds))
    best = found.best_layer.set_index("feature")
    assert best["layer"].to_dict() == {"length": 1, "distance": 0, "together": 1}
    assert best["accuracy_on_folds"].to_dict() == {"length": 1.0, "distance": 0.8, "together": 0.75}
    assert best["accuracy"].tolist() == pytest.approx([0.5, 1.0, 0.6])
    assert best.loc["length", ["low", "high", "n"]].tolist() == pytest.approx(
        found.by_layer.query("feature == 'length' and layer == 1")[["low", "high", "n"]].to_numpy().ravel().tolist()
    )
    assert metrics_of(found)["best_layer"] == 1
    assert metrics_of(found)["accuracy_best_layer"] == pytest.approx(0.6)


def test_selectivity_is_the_paired_difference_of_the_real_and_the_control_labels():
    folds = held_out({("length", 2, "real"): 9, ("length", 2, "control"): 6, ("distance", 2, "control"): 3})
    found = judge_toy(credited(folds=folds))
    row = found.selectivity.set_index(["feature", "layer"]).loc[("length", 2)]
    real, control = np.repeat([1.0, 0.0], [9, 1]), np.repeat([1.0, 0.0], [6, 4])
    clusters = np.array([[f"t{number}", f"w{number}"] for number in range(10)], dtype=object)
    halved = estimate_rate((1 + real - control) / 2, clusters)
    assert row[["accuracy", "control", "n", "known"]].tolist() == [0.9, 0.6, 10, 0.9]
    assert row[["selectivity", "low", "high"]].tolist() == pytest.approx([0.3, 2 * halved.low - 1, 2 * halved.high - 1])
    assert metrics_of(found)["selectivity"] == pytest.approx((0.3 + 0.2) / 2)
    assert curves_by_layer(found)["by_layer.selectivity"] == [(0, 0), (1, 0), (2, pytest.approx(0.25)), (3, 0)]


def coded(probabilities: list[float]) -> pd.DataFrame:
    rows = [
        ("toy", feature, f"s{number}", "positive" if number % 2 else "negative", 0, layer, p if number % 2 else 1 - p)
        for feature in FEATURES
        for layer in range(LAYERS)
        for number, p in enumerate(probabilities)
    ]
    return pd.DataFrame(rows, columns=NO_CODE.columns)


def code_of(probabilities: list[float]) -> pd.Series:
    """Return the length of the code of labels whose own probabilities these are."""
    return code_length(credited(code=coded(probabilities)).code).iloc[0]


@settings(max_examples=30)
@given(st.lists(st.sampled_from([0.01, 0.2, 0.5, 0.75, 0.999]), min_size=1, max_size=40))
def test_a_code_is_at_most_a_bit_longer_than_that_of_the_probe_and_than_coin_flips(probabilities):
    code = code_of(probabilities)
    n, probe = len(probabilities), -sum(np.log2(probabilities))
    assert code["bits_of_probe"] == pytest.approx(probe)
    assert code["bits"] == pytest.approx(-np.log2(0.5 * 2.0**-n + 0.5 * 2.0**-probe))
    assert min(n, probe) - 1e-9 <= code["bits"] <= min(n, probe) + 1
    assert code["compression"] == pytest.approx(n / code["bits"])


def test_models_are_judged_at_once_as_each_is_alone():
    folds = held_out({("length", 2, "real"): 9, ("length", 2, "control"): 6})
    first = credited({("length", 1): 5}, folds, coded([0.9] * 20))
    second = credited({("distance", 2): 3}, folds.assign(label="negative"), coded([0.6] * 20))
    tables = zip(first, (table.assign(model="other") for table in second), strict=True)
    both = judge_predictions(Credited(*(pd.concat(pair, ignore_index=True) for pair in tables)))
    for model, alone in (("toy", first), ("other", second)):
        for found, expected in zip(both.of(model), judge_toy(alone), strict=True):
            pd.testing.assert_frame_equal(found.reset_index(drop=True), expected.reset_index(drop=True))
