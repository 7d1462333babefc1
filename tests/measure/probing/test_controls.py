import numpy as np

from cxprobe.measure.probing.controls import bag_of_words, majority
from cxprobe.measure.probing.probes import Fitting, Regularisation
from cxprobe.stats import credit

RIDGE = Regularisation(C=1.0, l1_ratio=0.0, standardise=False)


def words(train, labels, test):
    return bag_of_words(train, np.array(labels), test, RIDGE, Fitting(1000, 0, "toy"))


def test_majority_has_no_opinion_on_a_balanced_subset_and_so_is_half_right():
    probabilities = majority(np.array([True, False] * 5), 4)
    assert probabilities.tolist() == [0.5] * 4
    assert credit(probabilities, np.array([True, False, True, True])).mean() == 0.5


def test_majority_is_the_more_frequent_label_otherwise():
    assert majority(np.array([True, True, False]), 2).tolist() == [2 / 3, 2 / 3]


def test_a_bag_of_words_tells_words_apart():
    probabilities = words(["a good day", "a bad day"] * 10, [True, False] * 10, ["good", "bad"])
    assert probabilities[0] > 0.5 > probabilities[1]


def test_a_bag_of_words_knows_words_of_one_letter():
    probabilities = words(["a day", "the day"] * 10, [True, False] * 10, ["a", "the"])
    assert probabilities[0] > 0.5 > probabilities[1]


def test_a_bag_of_words_cannot_tell_one_order_from_another():
    train = ["the old cat runs", "old the runs cat", "the red dog eats", "red the eats dog"]
    test = ["the big king waits", "big the waits king"]
    np.testing.assert_allclose(words(train, [True, False] * 2, test), 0.5, atol=1e-6)
