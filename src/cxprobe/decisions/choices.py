"""Two candidates: which is chosen, whether that is right, and whether it is so in another text too."""

import numpy as np
from numpy.typing import NDArray

# Nats. Probabilities come from float32, which tells them apart to some 1e-6; what is less is rounding.
TIE = 1e-10


def decide(scores: NDArray[np.float64], right: int) -> NDArray[np.float64]:
    """Return 1 where the right candidate scores higher, 0 where it scores lower, and 0.5 for a tie.

    Two scores that differ by rounding alone are a tie: a calibration leaves such a difference where it takes away
    all that there was.

    Args:
        scores: Shape (items, 2).
        right: Which candidate is right, 0 or 1.
    """
    margins = scores[:, right] - scores[:, 1 - right]
    return np.where(np.abs(margins) <= TIE, 0.5, margins > 0)


def flip(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a decision is right in one text and wrong in the other, and 0 where it is right or wrong in both.

    A tie is a decision by the toss of a coin, so beside a tie, or beside another one, a flip is as likely as not: 0.5.

    Args:
        before: Shape (items,), of `decide`.
        after: Shape (items,), of the same items in another text.
    """
    return before * (1 - after) + after * (1 - before)
