"""Minimal pairs as items that people rate."""

from collections.abc import Iterable, Iterator

from cxprobe.labels.ratings import RatedItem, in_drawn_order
from cxprobe.models.texts import Pair


def items_of_pairs(pairs: Iterable[Pair]) -> Iterator[RatedItem]:
    """Yield minimal pairs as items, each text whole."""
    for pair in pairs:
        good, bad = pair.context + pair.good, pair.context + pair.bad
        first, second = in_drawn_order(pair.id, good, bad)
        yield RatedItem(
            kind="pairs",
            id=pair.id,
            frame=pair.clusters.get("frame", pair.item),
            text="",
            question="Which text makes sense?",
            options={"A": first, "B": second},
            gold="A" if first == good else "B",
        )
