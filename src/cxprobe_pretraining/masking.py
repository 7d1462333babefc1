"""Which tokens a masked language model has to guess."""

import numpy as np


def mask_tokens(
    ids: np.ndarray, special: np.ndarray, share: float, mask_id: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Hide a random share of the ordinary tokens behind [MASK], always at least one in a batch that has any.

    All of them become [MASK], none a random word and none itself: a score is later read off at a [MASK].

    Args:
        ids: Token ids, (batch, length).
        special: Ids that are never masked.
        share: How many of the ordinary tokens, in (0, 1].
        mask_id: The id of [MASK].
        generator: Draws the positions.

    Returns:
        The ids with [MASK] in them, and where it is, both (batch, length).
    """
    ordinary = ~np.isin(ids, special)
    hidden = ordinary & (generator.random(ids.shape) < share)
    if not hidden.any() and ordinary.any():
        hidden.flat[generator.choice(np.flatnonzero(ordinary))] = True
    return np.where(hidden, mask_id, ids), hidden
