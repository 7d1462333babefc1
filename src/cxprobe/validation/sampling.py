"""A sample of items in which constructions, their strata and their frames come equally often."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.seeding import generator_for
from cxprobe.validation.items import JudgedItem


def draw_sample(items: Sequence[JudgedItem], wanted: int, seed: int) -> list[JudgedItem]:
    """Draw items, balanced as far as the items allow; the same items and seed give the same sample.

    Constructions take turns. Within a construction an item of the stratum that was drawn least comes next; a stratum is
    a combination of values, such as variant A with female names in the original order. Of several such strata the one
    whose values were drawn least, each for itself, comes first, and of its items one whose frame was drawn least.

    Args:
        items: What there is to draw from.
        wanted: How many to draw.
        seed: What the draw follows from.

    Raises:
        DataError: There are fewer items than wanted, or none is wanted.
    """
    if not 1 <= wanted <= len(items):
        raise DataError(f"--items {wanted}: there are {len(items)} items to draw from; ask for 1 to {len(items)}")
    by_construction: dict[str, list[JudgedItem]] = defaultdict(list)
    for item in sorted(items, key=lambda one: one.id):
        by_construction[item.construction].append(item)
    names = sorted(by_construction)
    order = generator_for(seed, "validation", "constructions").permutation(len(names))
    turns = [_balanced(by_construction[name], seed, name) for name in (names[place] for place in order)]
    drawn = (item for turn in zip_longest(*turns) for item in turn if item is not None)
    return list(islice(drawn, wanted))


def _balanced(items: Sequence[JudgedItem], seed: int, name: str) -> Iterator[JudgedItem]:
    """Yield all items of a construction in such an order that those up to any one are balanced."""
    chance = generator_for(seed, "validation", name).permutation(len(items))
    strata = pd.DataFrame([dict(item.stratum) for item in items]).fillna("").astype(str)
    columns = [_codes(strata[column]) for column in strata]
    stratum = _codes(strata.agg("\x1f".join, axis=1))
    frame = _codes(pd.Series([item.frame for item in items]))
    drawn = np.zeros(len(items), dtype=bool)
    for _ in items:
        of_values = sum((_uses(column, drawn) for column in columns), np.zeros(len(items), dtype=np.int64))
        keys = (chance, _uses(frame, drawn), of_values, _uses(stratum, drawn), drawn)
        place = int(np.lexsort(keys)[0])
        drawn[place] = True
        yield items[place]


def _codes(values: "pd.Series[str]") -> NDArray[np.int64]:
    """Return a number for each value, the same for the same, shape (n,)."""
    return pd.factorize(values)[0].astype(np.int64)


def _uses(codes: NDArray[np.int64], drawn: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often the value of each item has been drawn, shape (n,)."""
    counts: NDArray[np.int64] = np.bincount(codes[drawn], minlength=int(codes.max()) + 1)
    return counts[codes]
