"""Models beside each other on the same items: paired differences, corrected for their number, and the best blind model.

What a model that cannot know a construction reaches on its items is what the items give away. The line that counts is
therefore not chance: it is the best of the blind.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.params import Member, ModelSpec
from cxprobe.stats import clusters_of, compare_paired, holm

MODELS, BEST_BLIND, TWIN = "models", "best blind", "twin"
COMPARISON = ["compares", "first", "second", "difference", "low", "high", "n", "p", "p_holm", "detectable"]
_RATE = ["model", "accuracy", "low", "high", "n"]


class _Pair(NamedTuple):
    compares: str
    first: str
    second: str


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
    places = [tuple(row) for row in blind[by].itertuples(index=False)] if by else [()] * len(blind)
    group = {key: number for number, key in enumerate(dict.fromkeys(places))}
    ranked = blind.assign(_group=[group[key] for key in places], _order=blind["model"].map(order)).sort_values(
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
    rows = [
        (*key, *pair, *difference)
        for key, group in groups
        for pair, difference in _differences(_require_once(group, key), members)
    ]
    table = pd.DataFrame(rows, columns=[*by, *(name for name in COMPARISON if name != "p_holm")])
    return table.assign(p_holm=holm(table["p"].to_numpy(np.float64)))[[*by, *COMPARISON]]


def _pairs(group: pd.DataFrame, members: Sequence[Member]) -> Iterator[_Pair]:
    """Give the comparisons of the models of a group."""
    present = set(group["model"])
    known = {member.slug: member for member in members}
    real = [slug for slug in dict.fromkeys([*known, *group["model"]]) if slug in present and _is_real(known.get(slug))]
    yield from (_Pair(MODELS, *pair) for pair in combinations(real, 2))
    blind = [slug for slug, member in known.items() if member.is_blind and slug in present]
    if blind:
        means = group.groupby("model")["accuracy"].mean()
        best = max(blind, key=lambda slug: means[slug])  # the first of several
        yield from (_Pair(BEST_BLIND, slug, best) for slug in real)
    for slug in real:
        for twin in known.values():
            if twin.slug in present and slug in known and _is_twin(twin, known[slug]):
                yield _Pair(TWIN, slug, twin.slug)


def _is_real(member: Member | None) -> bool:
    return member is None or member.state == "trained"


def _is_twin(twin: Member, member: Member) -> bool:
    one, other = twin.spec, member.spec
    if not (isinstance(one, ModelSpec) and isinstance(other, ModelSpec)):
        return False
    return twin.state != "trained" and (one.name, one.revision) == (other.name, other.revision)


def _differences(group: pd.DataFrame, members: Sequence[Member]) -> Iterator[tuple[_Pair, tuple[float, ...]]]:
    """Give the comparisons of the models of a group, each with what `_difference` returns."""
    # Once for each model, since there are as many pairs as the square of the models.
    own = {slug: rows.set_index("id") for slug, rows in group.groupby("model", sort=False)}
    for pair in _pairs(group, members):
        yield pair, _difference(own[pair.first], own[pair.second])


def _difference(first: pd.DataFrame, second: pd.DataFrame) -> tuple[float, ...]:
    """Return difference, low, high, n, p and detectable of two models on the items that both have."""
    both = first.index[first.index.isin(second.index)]
    if both.empty:
        return (np.nan, np.nan, np.nan, 0, np.nan, np.nan)
    shared = first.loc[both]
    clusters: NDArray[np.object_] = clusters_of(shared)  # (n, ways)
    one, other = (own.loc[both, "accuracy"].to_numpy(np.float64) for own in (first, second))  # (n,)
    paired = compare_paired(one, other, clusters)
    return (paired.value, paired.low, paired.high, paired.n, paired.p, paired.detectable())


def _require_once(group: pd.DataFrame, key: object) -> pd.DataFrame:
    """Refuse a group in which a model has an item twice, which would count it twice."""
    twice = group.duplicated(["model", "id"])
    if twice.any():
        model, item = group.loc[twice, ["model", "id"]].iloc[0]
        raise DataError(
            f"{key}: {model} has the item {item} {(group.loc[group['model'] == model, 'id'] == item).sum()} times; "
            "compare within the groups in which an item is asked about once, or take the mean of its credits"
        )
    return group
