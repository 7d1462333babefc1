"""Batches by a budget of tokens, of sentences sorted by length, so that there is little padding."""

from collections.abc import Sequence

import numpy as np


def token_budget_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group sentences of similar length, the longest first, so that no batch is larger than the budget.

    The longest batch comes first, so that a budget that does not fit into memory fails at once and not after hours.

    Args:
        lengths: Tokens of each sentence.
        budget: The most tokens, padding included, in a batch; a longer sentence makes a batch of its own.

    Returns:
        Positions in ``lengths``; each occurs exactly once.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()
    batches: list[list[int]] = []
    widest = 0  # the batch's first sentence is its longest: all others are padded to it
    for position in order:
        if batches and (len(batches[-1]) + 1) * widest <= budget:
            batches[-1].append(position)
        else:
            batches.append([position])
            widest = lengths[position]
    return batches
