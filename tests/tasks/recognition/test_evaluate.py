import numpy as np
import pandas as pd
import pytest

from cxprobe.results.rates import divided_by, rates_of, with_further
from cxprobe.results.schema import facet_columns
from cxprobe.stats import estimate_rate
from cxprobe.tasks.recognition.evaluate import FACETS, rates_on_folds, recognition_responses

FEATURES = ("length", "distance")
LAYERS = 4
RUN = {"model": "toy", "construction": "toy", "source": "generated"}


def product(**columns) -> pd.DataFrame:
    """Make a row for each sentence and each combination of the columns, of one model and source."""
    rows = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    number = rows["number"].astype(str)
    return rows.assign(id="s" + number, cluster_template="t" + number, **RUN)


def predictions(right: dict, sentences: int = 10) -> pd.DataFrame:
    """Make predictions; ``right`` says for how many sentences those of a (feature, layer) are right, else for all."""
    rows = product(feature=FEATURES, layer=range(LAYERS), number=range(sentences))
    number, positive = rows["number"], rows["number"] % 3 > 0
    hits = [right.get(key, sentences) for key in zip(rows["feature"], rows["layer"], strict=True)]
    return rows.assign(
        value=number % 2,
        label=np.where(positive, "positive", "negative"),
        probability=np.where((number < hits) == positive, 0.9, 0.1),
    )


def rated(right: dict, folds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the rates."""
    responses = recognition_responses(predictions(right)).assign(task="recognition")
    on_folds = rates_on_folds(held_out({})[:0] if folds is None else folds)
    return with_further(rates_of(responses, FACETS), on_folds)


def by(rates: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the rates that these columns of facets divide, by their values and measure."""
    return divided_by(rates, *columns).set_index([*columns, "measure"]).sort_index()


def test_accuracies_stand_by_feature_layer_and_value():
    found = rated({("length", 1): 5, ("distance", 2): 0})
    by_layer = by(found, "feature", "layer")
    assert by_layer.loc[("length", "1", "accuracy"), "value"] == 0.5
    assert by_layer.loc[("distance", "2", "accuracy"), "value"] == 0.0
    assert by_layer["value"].sum() == 2 * LAYERS - 1.5
    assert (by_layer["n"] == 10).all()
    assert len(by(found, "feature", "feature_value", "layer")) == 2 * 2 * LAYERS


def test_the_layer_that_decides_is_the_middle_one_and_not_the_best():
    found = rated({("length", 0): 4, ("distance", 0): 6, ("length", 2): 9, ("distance", 2): 9})
    (deciding,) = found[found["decides"]].itertuples()
    assert deciding.measure == "accuracy"
    assert {getattr(deciding, name) for name in facet_columns(found)} == {""}
    assert (deciding.value, deciding.n, deciding.chance) == (pytest.approx(0.9), 20, 0.5)
    by_layer = by(found, "layer")["value"].tolist()
    assert by_layer == pytest.approx([0.5, 1.0, 0.9, 1.0])


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


def test_selectivity_is_the_paired_difference_of_the_real_and_the_control_labels():
    folds = held_out({("length", 2, "real"): 9, ("length", 2, "control"): 6, ("distance", 2, "control"): 3})
    found = rated({}, folds)
    real, control = np.repeat([1.0, 0.0], [9, 1]), np.repeat([1.0, 0.0], [6, 4])
    clusters = np.array([[f"t{number}", f"w{number}"] for number in range(10)], dtype=object)
    halved = estimate_rate((1 + real - control) / 2, clusters)
    by_feature = by(found, "feature", "layer")
    on_folds, row = (by_feature.loc["length", "2", name] for name in ("accuracy_on_folds", "probe_selectivity"))
    assert on_folds[["value", "control", "n", "control_n"]].tolist() == [0.9, 0.6, 10, 10]
    assert row[["value", "low", "high"]].tolist() == pytest.approx([0.3, 2 * halved.low - 1, 2 * halved.high - 1])
    known = found[found["measure"] == "known"].set_index(["feature", "layer"])["value"]
    assert known.to_dict() == {(feature, ""): 0.9 for feature in ("", *FEATURES)}
    by_layer = by(found, "layer").xs("probe_selectivity", level="measure")
    assert by_layer["value"].tolist() == [0, 0, pytest.approx((0.3 + 0.2) / 2), 0]
    assert by_layer["decides"].tolist() == [False, False, True, False]


def test_a_response_has_the_credit_of_its_probe_and_the_answer_that_was_given():
    probes = predictions({}, sentences=3).query("feature == 'length' and layer == 0")
    items = recognition_responses(probes.assign(probability=[0.1, 0.2, 0.5]))
    assert items["gold"].tolist() == ["negative", "positive", "positive"]
    assert items["value"].tolist() == [1, 0, 0.5]
    assert items["item"].tolist() == ["length s0", "length s1", "length s2"]
    assert items["chosen"].tolist() == ["negative", "negative", ""]
