"""Mean margins of minimal pairs, taken apart: knowledge of the meaning, and preferences whatever is asked."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.stats import mean_by
from cxprobe.tasks.pairs.sources import FRAME

MEANING = "meaning"
_SIGNS = {"first": 1.0, "second": -1.0, "original": 1.0, "switched": -1.0}


def effects_on_margins(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Take the margins of pairs with two orders apart.

    A margin is how much more the model likes the right text. It has four parts, each of which cancels in the others:

    - "meaning": the mean over both places, of the variants and orders. It is above 0 if what is right is preferred
      wherever it stands;
    - "place": half of how much higher margins are where the person named first is right than where the second is. It is
      how much the first is preferred, whatever is asked;
    - "order": half of how much higher they are in the original order than in the switched one, where typical roles are
      turned round;
    - "name": by how much one of the two people is preferred, whatever is asked and wherever the name stands; of either,
      so that it is never below 0;
    - "variant <name>": how far the variant is above the mean of those with the same place, if there are several.

    With two variants, one for each place, a preference that depends on the question ("provided" for the first person,
    "received" for the second) has the same margins as knowledge of what is meant.

    Args:
        items: Judged pairs with a margin, each of whose items was decided in both orders: item, variant, order,
            cluster_frame and, if it is known, place ("first" or "second": which person is right).
        by: The columns that make the groups.

    Returns:
        One row a group and effect: the columns of ``by``; effect; margin in nats, the mean over frames; low, high and
        n, see `cxprobe.stats.mean_by`; without those of one frame, or whose frames are all the same.
    """
    keys = [*by, FRAME]
    place = items["place"].map(_SIGNS).astype(float) if "place" in items else float("nan")
    table = items.assign(place=place, variant=items.get("variant", ""))  # a user's file may have neither
    ordered = table.assign(margin=table["margin"] * table["order"].map(_SIGNS).astype(float))
    means = _means(table, [*keys, "place"])
    placed = means[means.groupby(keys)["place"].transform("nunique") == 2]
    named = ordered.assign(margin=ordered["margin"] * ordered["place"]).dropna(subset="place")
    variants = _means(table.dropna(subset="place"), [*keys, "place", "variant"])
    of_place = variants.groupby([*keys, "place"])
    above = variants.assign(margin=variants["margin"] - of_place["margin"].transform("mean"))
    above = above[of_place["variant"].transform("nunique") > 1]
    parts = [
        means.assign(effect=MEANING),
        placed.assign(effect="place", margin=placed["margin"] * placed["place"]),
        ordered.assign(effect="order"),
        _means(named, [*keys, "item"]).assign(effect="name", margin=lambda names: names["margin"].abs()),
        above.assign(effect="variant " + above["variant"].astype(str)),
    ]
    effects = pd.concat(parts, ignore_index=True)
    return mean_by(effects, "margin", FRAME, [*by, "effect"]).query("low < high")


def _means(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    return table.groupby(by, sort=False, dropna=False)["margin"].mean().reset_index()
