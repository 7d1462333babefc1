from itertools import product

import numpy as np
import pytest

from cxprobe.scenarios.judge import decide, flip


def test_the_right_word_must_score_higher_and_a_tie_is_half():
    scores = np.array([[-1.0, -2.0], [-2.0, -1.0], [-3.0, -3.0]])
    assert decide(scores, 0).tolist() == [1, 0, 0.5]
    assert decide(scores, 1).tolist() == [0, 1, 0.5]


def test_rounding_decides_nothing_and_the_least_difference_in_float32_does():
    value = np.float32(-2.5)
    scores = np.array([[value, value + 1e-14], [value, np.nextafter(value, np.float32(0))]], dtype=np.float64)
    assert decide(scores, 1).tolist() == [0.5, 1]


def tossed(credit: float) -> list[bool]:
    """Return a decision's two equally likely outcomes: the same one twice, unless it is a tie."""
    return [credit >= 0.5, credit > 0.5]


@pytest.mark.parametrize(("before", "after"), list(product([0.0, 0.5, 1.0], repeat=2)))
def test_a_flip_is_as_likely_as_with_a_coin_for_every_tie(before, after):
    ways = [(first, second) for first in tossed(before) for second in tossed(after)]
    assert flip(np.array([before]), np.array([after])).tolist() == [np.mean([one != other for one, other in ways])]
