"""Models beside each other on the same items: paired differences, corrected for their number, and the best blind model.

What a model that cannot know a construction reaches on its items is what the items give away. The line that counts is
therefore not chance: it is the best of the blind.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.params import Member, ModelSpec
from cxprobe.stats import compare_paired, holm, unit_means

MODELS, BEST_BLIND, TWIN = "models", "best blind", "twin"
COMPARISON = ["compares", "first", "second", "difference", "low", "high", "n", "p", "p_holm", "detectable"]
_RATE = ["model", "accuracy", "low", "high", "n"]


def best_blind(rates: pd.DataFrame, by: list[str], members: Sequence[Member]) -> pd.DataFrame:
    """Return the blind model with the highest accuracy in each group.

    It is chosen by the accuracy that is reported, so its number is a little too high where several blind models are
    close; for a model that is held against it, that is on the safe side.

    Args:
        rates: Columns ``by``, model (a slug), accuracy in [0, 1], low, high and n.
        by: The columns that make the groups; may be empty.
        members: The models; those that are blind are compared.

    Returns:
        One row a group that has a blind model, in the order of the groups: ``by``, model, accuracy, low, high, n. Of
        two with the same accuracy, the one that is named first in ``members``.
    """
    order = {member.slug: place for place, member in enumerate(members) if member.is_blind}
    blind = rates[rates["model"].isin(order) & rates["accuracy"].notna()].reset_index(drop=True)
    group = blind.groupby(by, sort=False, dropna=False).ngroup() if by else 0
    ranked = blind.assign(_group=group, _order=blind["model"].map(order)).sort_values(
        ["_group", "accuracy", "_order"], ascending=[True, False, True], kind="stable"
    )
    return ranked.drop_duplicates("_group")[[*by, *_RATE]].reset_index(drop=True)


def compare_models(items: pd.DataFrame, by: list[str], members: Sequence[Member]) -> pd.DataFrame:
    """Return the paired differences of models on the same items, in each group of items.

    Compared are: every two models that are neither blind nor twins ("models"); each of these with the blind model that
    has the highest accuracy on the group ("best blind"); and each with its twins ("twin"), which have the same name
    and revision and weights that know nothing. Items that one of the two models lacks are left out.

    Args:
        items: One row a model and item of a group: model (a slug), id, accuracy (the item's credit in [0, 1]; NaN where
            there is none), the columns of ``by``, and columns that begin with ``cluster_``. A model that ``members``
            does not name, such as one that is asked in words, counts as one that is neither blind nor a twin.
        by: The columns that make the groups; may be empty.
        members: What the models are.

    Returns:
        One row a comparison: ``by``; compares; first and second, slugs; difference, first less second, with its 95 %
        interval low to high and n, the number of items that both have; p, not corrected, and p_holm, corrected for all
        rows of the table; detectable, the difference that would have been found with a probability of 80 % (see
        `cxprobe.stats.PairedDifference`).

    Raises:
        DataError: A model has an item twice in one group, or the items have no clusters.
    """
    answered = items[items["accuracy"].notna()].reset_index(drop=True)
    groups = answered.groupby(by, sort=False) if by else [((), answered)]
    rows = []
    for key, group in groups:
        twice = group.duplicated(["model", "id"])
        if twice.any():
            model, item = group.loc[twice, ["model", "id"]].iloc[0]
            times = int(((group["model"] == model) & (group["id"] == item)).sum())
            raise DataError(
                f"{key}: {model} has the item {item} {times} times; compare within the groups in which an item is "
                "asked about once, or take the mean of its credits"
            )
        own = {str(slug): rows.set_index("id") for slug, rows in group.groupby("model", sort=False)}
        for compares, first, second in _pairs(own, members):
            rows.append((*key, compares, first, second, *_difference(own[first], own[second])))
    table = pd.DataFrame(rows, columns=[*by, *(name for name in COMPARISON if name != "p_holm")])
    return table.assign(p_holm=holm(table["p"].to_numpy(np.float64)))[[*by, *COMPARISON]]


def _pairs(items: Mapping[str, pd.DataFrame], members: Sequence[Member]) -> Iterator[tuple[str, str, str]]:
    """Give what is compared of the models that have items, and the two models."""
    known = {member.slug: member for member in members}
    present = [slug for slug in dict.fromkeys([*known, *items]) if slug in items]
    real = [slug for slug in present if slug not in known or known[slug].state == "trained"]
    yield from ((MODELS, *pair) for pair in combinations(real, 2))
    blind = [slug for slug in present if slug in known and known[slug].is_blind]
    if blind:
        best = max(blind, key=lambda slug: items[slug]["accuracy"].mean())  # the first of several
        yield from ((BEST_BLIND, slug, best) for slug in real)
    twins = [slug for slug in present if slug in known and known[slug].state in ("random", "shuffled")]
    for slug, twin in product(real, twins):
        specs = [known[own].spec for own in (slug, twin) if own in known]
        names = [(spec.name, spec.revision) for spec in specs if isinstance(spec, ModelSpec)]
        if len(names) == 2 and names[0] == names[1]:
            yield TWIN, slug, twin


def _difference(first: pd.DataFrame, second: pd.DataFrame) -> tuple[float, ...]:
    """Return difference, low, high, n, p and detectable of two models on the items that both have."""
    both = first.index[first.index.isin(second.index)]
    if both.empty:
        return (np.nan, np.nan, np.nan, 0, np.nan, np.nan)
    shared = first.loc[both].assign(second=second.loc[both, "accuracy"])
    (one, other), clusters = unit_means(shared, ["accuracy", "second"])  # (units,) each, (units, ways)
    paired = compare_paired(one, other, clusters)
    return (paired.value, paired.low, paired.high, len(both), paired.p, paired.detectable())
