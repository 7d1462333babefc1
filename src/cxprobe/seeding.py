"""Seeds and ids that follow from *what* is drawn or named, so that the order of calls changes nothing."""

import hashlib

import numpy as np
from numpy.typing import NDArray

SEED = 2022
"""Of draws where no other is given: that of all presets, so that items are those of the pipeline."""


def seed_for(seed: int, *ids: object) -> int:
    """Return the seed, in [0, 2**32), of the thing that ``ids`` name under the project's ``seed``."""
    key = "\x1f".join([str(seed), *map(str, ids)])
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")


def text_id(prefix: str, text: str) -> str:
    """Return an id that follows from the text itself: ``prefix`` and 64 bits of the text's BLAKE2 hash."""
    return f"{prefix}-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


def generator_for(seed: int, *ids: object) -> np.random.Generator:
    """Return a separate generator for the thing that ``ids`` name under the project's ``seed``."""
    return np.random.default_rng(seed_for(seed, *ids))


def draw_places(n: int, most: int, seed: int, *ids: object) -> NDArray[np.int64]:
    """Return places in a list of ``n``, in order and none twice: ``most`` of them, or all if there are fewer.

    What stands in a list is often in the order of its groups, so that every n-th would leave some of them out.
    """
    return np.sort(generator_for(seed, *ids).permutation(n)[:most])
