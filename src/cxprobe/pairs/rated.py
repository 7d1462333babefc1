"""Minimal pairs as people judge them."""

from collections.abc import Iterable, Iterator

from cxprobe.lm.texts import Pair
from cxprobe.people.forms import RatedItem, in_drawn_order
from cxprobe.people.wording import PairsTask


def items_of_pairs(pairs: Iterable[Pair], task: PairsTask) -> Iterator[RatedItem]:
    """Yield minimal pairs as items, each text whole; strata are all groups that a pair is reported by."""
    for pair in pairs:
        good, bad = pair.context + pair.good, pair.context + pair.bad
        first, second = in_drawn_order(pair.id, good, bad)
        yield RatedItem(
            kind="pairs",
            id=pair.id,
            construction=pair.groups["construction"],
            frame=pair.clusters.get("frame", pair.item),
            stratum={name: value for name, value in pair.groups.items() if name != "construction"},
            text="",
            question=task.question,
            options={"A": first, "B": second},
            gold="A" if first == good else "B",
        )
