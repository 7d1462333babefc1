import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from cxprobe.errors import ProbeError
from cxprobe.probing import Fitting, cut_folds, fit_probe, for_each_layer, predict_held_out


def fitting(*, standardise=False, max_iter=1000) -> Fitting:
    return Fitting(1.0, standardise, max_iter, 0, "toy, layer 1")


def blobs(n: int, dimensions: int = 8, shift: float = 1.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([True, False], n // 2))
    return (rng.normal(size=(n, dimensions)) + shift * labels[:, None]).astype(np.float32), labels


def fit(x, y, test, **how):
    folds = [(np.arange(len(x)), np.arange(len(x), len(x) + len(test)))]
    labels = np.append(y, np.zeros(len(test), dtype=bool))
    return predict_held_out(np.concatenate([x, test]), labels, folds, fitting(**how))[len(x) :]


def test_a_probe_is_scikit_learns_logistic_regression():
    (x, y), (test, _) = blobs(200), blobs(50, seed=1)
    oracle = LogisticRegression(tol=1e-10).fit(x.astype(np.float64), y)
    np.testing.assert_allclose(fit(x, y, test), oracle.predict_proba(test)[:, 1], rtol=1e-5)


def test_a_probe_reaches_the_optimum_where_two_dimensions_are_far_larger_than_the_others():
    """As hidden states of real models are: lbfgs alone stops far from the optimum, or never."""
    (x, y), (more, _) = blobs(200, dimensions=300, shift=0.05), blobs(200, dimensions=300, seed=1)
    scale = np.where(np.arange(300) < 2, 40, 0.5).astype(np.float32)
    large, test = x * scale + 42 * scale, more * scale + 42 * scale
    centred, shifted = (part.astype(np.float64) - large.mean(axis=0, dtype=np.float64) for part in (large, test))
    oracle = LogisticRegression(solver="newton-cholesky", tol=1e-12).fit(centred, y).predict_proba(shifted)[:, 1]
    np.testing.assert_allclose(fit(large, y, test), oracle, atol=1e-4)
    alone = LogisticRegression(max_iter=1000).fit(large, y).predict_proba(test)[:, 1]
    assert np.abs(alone - oracle).max() > 1e-3


def test_standardising_uses_the_training_part_alone():
    (x, y), (test, _) = blobs(200), blobs(50, seed=1, shift=5.0)
    scaler = StandardScaler().fit(x)
    oracle = LogisticRegression().fit(scaler.transform(x), y).predict_proba(scaler.transform(test))[:, 1]
    np.testing.assert_allclose(fit(x, y, test, standardise=True), oracle, atol=1e-5)


def test_a_probe_that_does_not_converge_is_an_error_with_its_place():
    x, y = blobs(200)
    with pytest.raises(ProbeError, match=r"^toy, layer 1: newton-cholesky did not converge in 2 iterations \(C = 1"):
        fit(x * 100, y, x, max_iter=2)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("names", [2, 3])
def test_counts_of_any_labels_give_exactly_scikit_learns_probabilities(names, class_weight):
    rng = np.random.default_rng(0)
    counts = csr_array(rng.poisson(0.3, (90, 40)).astype(float))
    labels = np.array(["a", "b", "c"])[rng.integers(0, names, 90)]
    probe = fit_probe(counts, labels, fitting(), class_weight)
    oracle = LogisticRegression(max_iter=1000, class_weight=class_weight).fit(counts, labels)
    np.testing.assert_array_equal(probe.predict_proba(counts), oracle.predict_proba(counts))
    assert probe.classes_.tolist() == sorted({*labels})


def test_each_fold_predicts_what_it_holds_out_and_one_label_alone_is_all_there_is_to_learn():
    x, y = blobs(60)
    y[40:] = True
    folds = [(np.arange(20, 60), np.arange(10)), (np.arange(40, 60), np.arange(10, 20))]
    found = predict_held_out(x, y, folds, fitting())
    oracle = LogisticRegression(tol=1e-10).fit(x[20:].astype(np.float64), y[20:]).predict_proba(x[:10])[:, 1]
    np.testing.assert_allclose(found[:10], oracle, rtol=1e-5)
    assert found[10:20].tolist() == [1.0] * 10
    assert np.isnan(found[20:]).all()


def probe_one(labels):
    def work(layer, vectors):  # names nothing of this module, which other processes cannot import
        fold = np.arange(200), np.arange(200, 300)
        return layer, predict_held_out(vectors, labels, [fold], Fitting(1.0, False, 1000, 0, "toy"))[200:]

    return work


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_layer_has_work_of_its_own_however_much_is_done_at_a_time(tmp_path, jobs):
    x, y = blobs(300)
    vectors = np.stack([x[::-1], x])
    np.save(tmp_path / "v.npy", vectors)
    counted: list[int] = []
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    numbers, found = zip(*for_each_layer(mapped, probe_one(y), jobs=jobs, progress=counted.append), strict=True)
    assert (numbers, counted) == ((0, 1), [1, 1])
    np.testing.assert_allclose(found, [fit(layer[:200], y[:200], layer[200:]) for layer in vectors], rtol=1e-6)


def cut(labels: list[bool], templates: list[str], most: int) -> list:
    return cut_folds(np.array(labels, dtype=bool), np.array(templates, dtype=object), most, seed=1)


@pytest.mark.parametrize(
    ("labels", "templates", "folds"),
    [("++++++---------", "abcdefggghhhiii", 3), ("+-", "ab", 0), ("++--", "aabb", 0), ("++--", "aaab", 0)],
)
def test_there_are_fewer_folds_where_a_label_has_few_templates_and_none_for_one(labels, templates, folds):
    assert len(cut([label == "+" for label in labels], list(templates), 5)) == folds


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), max_size=30), st.integers(2, 6))
def test_folds_are_apart_in_templates_and_train_on_both_labels(sentences, most):
    labels, templates = [label for label, _ in sentences], [f"t{number}" for _, number in sentences]
    held_out = []
    for train, held in cut(labels, templates, most):
        assert set(train) | set(held) == set(range(len(sentences)))
        assert not {templates[row] for row in train} & {templates[row] for row in held}
        assert {labels[row] for row in train} == {True, False}
        held_out += held.tolist()
    assert len(held_out) == len(set(held_out))
