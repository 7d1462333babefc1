"""Two candidates: which is chosen, whether that is right, and whether it is so in another text too."""

import numpy as np
from numpy.typing import NDArray


def decide(scores: NDArray[np.float64], right: int) -> NDArray[np.float64]:
    """Return 1 where the right candidate scores higher, 0 where it scores lower, and 0.5 for a tie.

    Args:
        scores: Shape (items, 2).
        right: Which candidate is right, 0 or 1.
    """
    return 0.5 + 0.5 * np.sign(scores[:, right] - scores[:, 1 - right])


def flip(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a decision is right in one text and wrong in the other, and 0 where it is right or wrong in both.

    A tie is a decision by the toss of a coin, so beside a tie, or beside another one, a flip is as likely as not: 0.5.

    Args:
        before: Shape (items,), of `decide`.
        after: Shape (items,), of the same items in another text.
    """
    return before * (1 - after) + after * (1 - before)
