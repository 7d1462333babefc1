"""Probes on arrays, against scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

import cxprobe
from cxprobe.errors import DataError, ProbeError

pytestmark = pytest.mark.pipeline


def vectors(seed=0, layers=2, n=80, dimensions=5):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2 == 0
    features = rng.normal(size=(layers, n, dimensions)).astype(np.float32)
    features[1, :, 0] += 1.5 * labels  # the second layer knows
    return features, np.where(labels, "positive", "negative"), [f"group {place % 20}" for place in range(n)]


def test_accuracies_are_those_of_scikit_learn_on_the_same_folds():
    features, labels, groups = vectors()
    found = cxprobe.probe(features, labels, groups, folds=4, seed=3, standardise=False)
    folds = StratifiedGroupKFold(4, shuffle=True, random_state=3)
    for layer, matrix in enumerate(features):
        predicted = cross_val_predict(
            LogisticRegression(tol=1e-10), matrix.astype(np.float64), labels, groups=groups, cv=folds
        )
        assert found.loc[layer, "accuracy"] == pytest.approx((predicted == labels).mean())
    assert (found["low"] < found["accuracy"]).all()
    assert (found["accuracy"] < found["high"]).all()
    assert found["n"].tolist() == [80, 80]
    assert found["majority"].tolist() == [0.5, 0.5]


def test_the_layer_that_knows_is_above_its_control_and_the_other_is_not():
    found = cxprobe.probe(*vectors(), seed=1)
    assert found.loc[1, "low"] > found.loc[1, "permuted_high"]
    assert found.loc[0, "low"] < found.loc[0, "permuted_high"]


def test_words_that_tell_the_label_in_each_part_alone_do_not_help_across_parts():
    labels, parts = np.arange(80) % 2 == 0, np.arange(80) // 40
    features = np.zeros((1, 80, 2), dtype=np.float32)
    features[0, np.arange(80), parts] = np.where(labels, 1, -1)  # each part has words of its own
    by_group, by_part = cxprobe.probe(features, labels), cxprobe.probe(features, labels, parts=parts)
    assert (by_group["accuracy"].item(), by_part["accuracy"].item()) == (1, 0.5)


def test_layers_that_converge_are_kept_where_another_does_not():
    features, labels, groups = vectors()
    features[0] *= 1e-3  # needs few steps
    with pytest.warns(UserWarning, match=r"probe, layer 1: newton.* in 4 it.*raise max_iter.*be standardised"):
        found = cxprobe.probe(features, labels, groups, standardise=False, max_iter=4)
    assert found["accuracy"].isna().tolist() == [False, True]
    assert found["n"].tolist() == [80, 80]
    with pytest.raises(ProbeError, match="probe, layer 0: lbfgs did not converge in 1 iterations"):
        cxprobe.probe(features, labels, groups, max_iter=1)


@pytest.mark.parametrize("missing", [float("nan"), None])
@pytest.mark.parametrize("name", ["labels", "groups", "parts"])
def test_a_missing_label_or_group_is_no_value_of_its_own(name, missing):
    given = {"labels": ["a", "b"] * 4} | {name: ["a", missing] * 4}
    with pytest.raises(DataError, match=f"{name} has empty values"):
        cxprobe.probe(np.zeros((8, 2)), **given)
