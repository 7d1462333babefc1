from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from cxprobe.probing import Fitting, Regularisation, fit_and_predict
from cxprobe.recognition.measure import (
    SMALLEST_PORTION,
    code_online,
    control_labels,
    portion_numbers,
)

RIDGE = Regularisation(C=1.0, l1_ratio=0.0, standardise=False)
FITTING = Fitting(1000, 0, "toy")


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(0, 5))
def test_a_word_has_one_control_label_and_labels_are_balanced(words, seed):
    labels = control_labels(np.array(words, dtype=object), seed)
    label_of = dict(zip(words, labels.tolist(), strict=True))
    assert [label_of[word] for word in words] == labels.tolist()
    assert abs(2 * int(labels.sum()) - len(words)) <= max(Counter(words).values())


def test_control_labels_do_not_depend_on_the_order_of_the_sentences_but_on_the_seed():
    words = np.array([f"w{number % 20}" for number in range(100)], dtype=object)
    order = np.random.default_rng(0).permutation(100)
    np.testing.assert_array_equal(control_labels(words, 1)[order], control_labels(words[order], 1))
    drawn = [control_labels(words, seed) for seed in range(40)]
    assert np.abs(np.mean(drawn, axis=0) - 0.5).max() < 0.3  # no word has the same label under all seeds


@pytest.mark.parametrize("n", [1, 15, 16, 100, 1000])
def test_each_portion_of_the_code_is_as_large_as_all_before_it(n):
    numbers = portion_numbers(n, seed=1)
    sizes = np.bincount(numbers)
    before = np.cumsum(sizes)
    assert before[-1] == n
    assert sizes[0] >= min(n, SMALLEST_PORTION)
    assert all(0 <= size - known <= 1 for size, known in zip(sizes[1:], before, strict=False))
    assert (n < 2 * SMALLEST_PORTION) == (len(sizes) == 1)


def signal(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([True, False], n // 2))
    return (rng.normal(size=(n, 6)) + labels[:, None]).astype(np.float32), labels


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_portion_is_predicted_by_a_probe_of_all_portions_before_it(kind):
    vectors, labels = signal(64)
    portions = portion_numbers(64, seed=1)
    found = code_online(kind(vectors), labels, portions, RIDGE, FITTING)
    assert found[portions == 0].tolist() == [0.5] * SMALLEST_PORTION
    for portion in range(1, portions.max() + 1):
        known, own = portions < portion, portions == portion
        expected = fit_and_predict(vectors[known], labels[known], vectors[own], RIDGE, FITTING)
        np.testing.assert_allclose(found[own], expected, atol=1e-4)


def test_a_portion_is_not_predicted_from_one_label_alone():
    portions = np.repeat([0, 1, 2], [8, 8, 16])
    labels = np.repeat([True, False], 16)
    found = code_online(np.eye(32, dtype=np.float32), labels, portions, RIDGE, FITTING)
    assert found.tolist() == [0.5] * 32
