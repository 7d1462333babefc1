import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap

from cxprobe.errors import DataError
from cxprobe.stats import credit, design_effect, estimate_rate


def names(n: int) -> np.ndarray:
    return np.array([f"cluster {i}" for i in range(n)], dtype=object)


@given(st.integers(2, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_unclustered_interval_is_wilsons(n_and_right):
    n, right = n_and_right
    estimate = estimate_rate(np.repeat([1.0, 0.0], [right, n - right]), names(n))
    wilson = binomtest(right, n).proportion_ci(method="wilson")
    # Up to g / (g - 1): the variance between clusters is estimated, not known.
    assert estimate.low == pytest.approx(wilson.low, abs=0.6 / n)
    assert estimate.high == pytest.approx(wilson.high, abs=0.6 / n)
    assert estimate.n == n


def test_items_that_repeat_their_cluster_count_once():
    credits = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    alone = estimate_rate(credits, names(8))
    repeated = estimate_rate(np.repeat(credits, 25), np.repeat(names(8), 25))
    assert repeated.n == 200
    assert repeated.high - repeated.low == pytest.approx(alone.high - alone.low, rel=0.01)


def test_clustered_interval_is_as_wide_as_the_cluster_bootstraps():
    rng = np.random.default_rng(0)
    rates = rng.beta(4, 4, size=60)
    sizes = rng.integers(5, 15, size=60)
    right = rng.binomial(sizes, rates)
    credits = np.concatenate([np.repeat([1.0, 0.0], [r, n - r]) for r, n in zip(right, sizes, strict=True)])
    estimate = estimate_rate(credits, np.repeat(names(60), sizes))
    oracle = bootstrap(
        (right, sizes), lambda r, n, axis: r.sum(axis) / n.sum(axis), paired=True, vectorized=True, rng=1
    ).confidence_interval
    assert estimate.low == pytest.approx(oracle.low, abs=0.01)
    assert estimate.high == pytest.approx(oracle.high, abs=0.01)


def test_interval_covers_the_true_rate_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        rates = rng.beta(6, 2, size=40)
        credits = rng.binomial(1, np.repeat(rates, 8)).astype(float)
        estimate = estimate_rate(credits, np.repeat(names(40), 8))
        covered += estimate.low <= 0.75 <= estimate.high
    assert 0.92 <= covered / 400 <= 0.99


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_interval_is_not_empty_at_the_ends(value):
    estimate = estimate_rate(np.full(20, value), names(20))
    assert estimate.low <= value <= estimate.high
    assert 0.1 < estimate.high - estimate.low < 0.25


def test_one_cluster_counts_as_one_item():
    assert design_effect(np.array([1.0, 0.0, 1.0]), np.array(["a", "a", "a"], dtype=object)) == 3


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from("abc")), min_size=1))
def test_interval_holds_the_rate_and_stays_in_the_unit_range(items):
    credits, clusters = zip(*items, strict=True)
    estimate = estimate_rate(np.array(credits), np.array(clusters, dtype=object))
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_no_items_are_no_rate():
    with pytest.raises(DataError, match="got 0 items"):
        estimate_rate(np.array([]), np.array([], dtype=object))


def test_a_tie_is_half():
    probabilities = np.array([0.5, 0.5, 0.9, 0.2])
    assert credit(probabilities, np.array([True, False, True, True])).tolist() == [0.5, 0.5, 1.0, 0.0]
