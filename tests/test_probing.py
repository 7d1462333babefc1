import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from cxprobe.errors import ProbeError
from cxprobe.probing import Fitting, Regularisation, fit_and_predict, for_each_layer

RIDGE = Regularisation(C=1.0, standardise=False)


def blobs(n: int, dimensions: int = 8, shift: float = 1.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([True, False], n // 2))
    return (rng.normal(size=(n, dimensions)) + shift * labels[:, None]).astype(np.float32), labels


def fit(x, y, test, regularisation=RIDGE, max_iter=1000):
    return fit_and_predict(x, y, test, regularisation, Fitting(max_iter, 0, "toy, layer 1"))


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
    np.testing.assert_allclose(fit(x, y, test, Regularisation(1.0, standardise=True)), oracle, atol=1e-5)


def test_a_probe_that_does_not_converge_is_an_error_with_its_place():
    x, y = blobs(200)
    with pytest.raises(
        ProbeError,
        match=r"toy, layer 1: newton-cholesky did not converge in 2 iterations \(C = 1.*or let vectors be standardised",
    ):
        fit(x * 100, y, x, max_iter=2)


def layers():
    x, y = blobs(300)
    noise = np.random.default_rng(3).normal(size=x.shape).astype(np.float32)
    return np.stack([noise, x]), y


def probe_one(labels):
    def work(layer, vectors):  # names nothing of this module, which other processes cannot import
        how = Regularisation(C=1.0, standardise=False), Fitting(1000, 0, "toy")
        return layer, fit_and_predict(vectors[:200], labels[:200], vectors[200:], *how)

    return work


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_layer_has_work_of_its_own_however_much_is_done_at_a_time(tmp_path, jobs):
    vectors, y = layers()
    np.save(tmp_path / "v.npy", vectors)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    counted: list[int] = []
    numbers, found = zip(*for_each_layer(mapped, probe_one(y), jobs=jobs, progress=counted.append), strict=True)
    assert (numbers, counted) == ((0, 1), [1, 1])
    np.testing.assert_allclose(found, [fit(layer[:200], y[:200], layer[200:]) for layer in vectors], rtol=1e-6)
    accuracy = ((np.stack(found) > 0.5) == y[200:]).mean(axis=1)
    assert accuracy[0] < 0.65
    assert accuracy[1] > 0.9
