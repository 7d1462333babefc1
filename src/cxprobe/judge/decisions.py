"""Two candidates: which one is chosen, whether that is right, and whether it is so in another text too."""

import numpy as np
from numpy.typing import NDArray

from cxprobe.stats import credits_of_margins

# Nats. Probabilities come from float32, which distinguishes them to about 1e-6; smaller differences are rounding.
TIE = 1e-10


def decide(scores: NDArray[np.float64], right: int) -> NDArray[np.float64]:
    """Return 1 where the right candidate scores higher, 0 where it scores lower, and 0.5 for a tie.

    Two scores that differ by rounding alone are a tie: where a calibration removes the whole difference between two
    candidates, rounding leaves such a small one.

    Args:
        scores: Shape (items, 2), natural logarithms.
        right: Which candidate is right, 0 or 1.

    Raises:
        DataError: A score is not finite.
    """
    return credits_of_margins(scores[:, right] - scores[:, 1 - right], TIE)


def flip(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a decision is right in one text and wrong in the other, and 0 where it is right or wrong in both.

    A tie is a decision at random, so next to a tie a flip is as likely as not: 0.5.

    Args:
        before: Shape (items,), from `decide`.
        after: Shape (items,), of the same items in another text.
    """
    return before * (1 - after) + after * (1 - before)
