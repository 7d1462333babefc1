import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cxprobe.tasks.interventions.measure import along, difference_of_means, erase_label


def labelled(n: int, dimensions: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors whose label is in their first number, with noise of unequal size elsewhere."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2 == 0
    vectors = rng.standard_normal((n, dimensions)) * np.linspace(0.5, 3, dimensions)
    vectors[:, 0] += 4 * labels
    return vectors, labels


@given(st.integers(0, 1000), st.integers(2, 12))
def test_an_exchange_takes_the_sources_part_along_the_direction_and_leaves_all_others(seed, dimensions):
    rng = np.random.default_rng(seed)
    base, source, direction = rng.standard_normal((3, 5, dimensions))
    changed = along(direction[0]).apply(base, source)
    unit = direction[0] / np.linalg.norm(direction[0])
    np.testing.assert_allclose(changed @ unit, source @ unit, atol=1e-9)
    across = np.eye(dimensions) - np.outer(unit, unit)
    np.testing.assert_allclose(changed @ across, base @ across, atol=1e-9)


def test_along_nothing_nothing_is_exchanged():
    base, source = np.ones((2, 3)), np.zeros((2, 3))
    np.testing.assert_array_equal(along(np.zeros(3)).apply(base, source), base)


def test_the_difference_of_means_points_to_where_the_label_is_and_has_length_one():
    vectors, labels = labelled(400, 6)
    means = difference_of_means(vectors, labels).read
    np.testing.assert_allclose(np.linalg.norm(means), 1)
    assert means[0] > 0.9


@pytest.mark.parametrize(("n", "dimensions"), [(300, 8), (40, 64)])
def test_after_an_erasure_no_linear_probe_finds_the_label(n, dimensions):
    vectors, labels = labelled(n, dimensions)
    erased = erase_label(vectors, labels).apply(vectors, vectors)
    centred = erased - erased.mean(axis=0)
    np.testing.assert_allclose(centred.T @ (labels - labels.mean()), 0, atol=1e-8)
    # With no covariance, the best linear probe is the one that has no weights (Belrose et al. 2023, Theorem 3.1).
    weights = LogisticRegression(C=1.0, max_iter=5000).fit(erased, labels).coef_
    assert np.abs(weights).max() < 1e-4


def test_an_erasure_is_the_least_change_by_the_closed_form_of_the_paper():
    vectors, labels = labelled(2000, 5)
    mean, covariance = vectors.mean(axis=0), np.cov(vectors.T, bias=True)
    values, basis = np.linalg.eigh(covariance)
    root, whiten = basis * np.sqrt(values) @ basis.T, basis / np.sqrt(values) @ basis.T
    cross = whiten @ ((vectors - mean).T @ (labels - labels.mean()) / len(labels))
    projection = np.outer(cross, cross) / (cross @ cross)
    expected = vectors - (vectors - mean) @ (root @ projection @ whiten).T
    np.testing.assert_allclose(erase_label(vectors, labels).apply(vectors, vectors), expected, atol=0.02)
