"""Seeds and ids that follow from *what* is drawn or named, so that the order of calls changes nothing."""

import hashlib

import numpy as np

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
