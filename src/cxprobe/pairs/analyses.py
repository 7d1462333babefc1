"""What the margins of scored pairs say: accuracies, and two biases that a model which understands would not have.

A table of scored pairs is that of `pair_table` with a column ``margin``: the score of the right text less that of the
wrong one, in any unit.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.records import Difference
from cxprobe.stats import clusters_of, estimate_difference, estimate_rate

BIAS = ("bias", "low", "high", "changed", "changed_low", "changed_high", "n")
MEMBERS = ("variant", "order")  # the ways in which an item is asked about


def credit_margins(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where the right text scores higher, 0 where the wrong one does and 0.5 for a tie, shape (n,).

    Raises:
        DataError: A margin is not finite; the message names its place.
    """
    if not np.isfinite(margins).all():
        place = int(np.flatnonzero(~np.isfinite(margins))[0])
        raise DataError(f"the margin at row {place} is {margins[place]}; a pair that was not scored has no place here")
    return (np.sign(margins) + 1) / 2


def accuracy_by(scored: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy of every group of pairs: the groups, accuracy, low, high, n, ties, tie_rate.

    A tie is half right. Intervals are those of `cxprobe.stats.estimate_rate` under all clusterings of the table.

    Args:
        scored: Scored pairs, with at least one column ``cluster_<name>``.
        by: The columns that make the groups, such as construction, variant, noun_type and order.
    """
    rows = []
    every, clusters = _credits(scored), clusters_of(scored)  # (n,), (n, ways)
    named = scored[[*dict.fromkeys(by)]].reset_index(drop=True)
    for key, group in named.groupby(list(by), sort=False):
        credits = every[group.index]
        estimate = estimate_rate(credits, clusters[group.index])
        ties = int((credits == 0.5).sum())
        rows.append((*key, estimate.value, estimate.low, estimate.high, estimate.n, ties, ties / estimate.n))
    return pd.DataFrame(rows, columns=[*by, "accuracy", "low", "high", "n", "ties", "tie_rate"])


def bias_by(scored: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Return how far two ways of asking about the same items are apart.

    With ``column="order"`` this is bias (i), |mean(original) - mean(switched)|; with ``column="variant"`` bias (ii),
    |mean(A) - mean(B)|, a preference for one diagnostic. A difference of 0 lies on the edge of what |difference| can
    be, so where the difference's interval has 0 in it, the bias's begins there.

    Bias (i) compares means, and people are drawn into both seats equally often: a model that always prefers the same
    one of two names is right in half of the original and half of the switched pairs and has no bias (i). What gives
    it away is ``changed``, the share of items whose decision is right in one order and wrong in the other (a tie
    against a decision counts half): near 1 for such a model, 0 for one that understands.

    Args:
        scored: Scored pairs in which every item has both ways.
        column: "order" or "variant".
        by: The columns that make the groups, such as noun_type.

    Returns:
        One row a group: the columns of ``by``; first and second, the two ways; bias, low, high; changed, changed_low,
        changed_high; n.

    Raises:
        DataError: A group has not exactly two values in the column, or an item lacks one of them.

    Source:
        Oba & Sugawara 2026, biases (i) and (ii); ``changed`` is the decision flip of Weissweiler et al. 2022.
    """
    rows = []
    for key, group in scored.groupby(list(by), sort=False):
        place = ", ".join(map(str, key))
        ways = list(dict.fromkeys(group[column]))
        if len(ways) != 2:
            raise DataError(f"{place}: a bias compares two values of {column}, and there are {len(ways)}: {ways}")
        keys = ["item", *(name for name in MEMBERS if name != column)]
        first, second = (group[group[column] == way].set_index(keys).sort_index() for way in ways)
        if not first.index.equals(second.index):
            raise DataError(f"{place}: some items have not both {ways[0]} and {ways[1]}, so they cannot be compared")
        one, other, clusters = _credits(first), _credits(second), clusters_of(first)
        difference = estimate_difference(one, other, clusters)
        changed = estimate_rate(np.abs(one - other), clusters)
        changes = (changed.value, changed.low, changed.high)
        rows.append((*key, *ways, *_absolute(difference), *changes, difference.n))
    return pd.DataFrame(rows, columns=[*by, "first", "second", *BIAS])


def paired_focus_shifts(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the paired-focus test, one an item, ready for `accuracy_by`.

    A pair's margin is the log odds of the word that the construction makes right. The comparison is right where they
    are higher after the construction than after the control, which joins the same foci with "or".

    Args:
        scored: Scored pairs of `read_paired_focus`.

    Returns:
        The rows of the construction, whose ``margin`` is now the shift against the control; chance is 0.5.

    Raises:
        DataError: An item has not one row of the construction and one of the control.

    Source:
        The repository WesScivetti/Meaning_Alone: the share of comparisons whose log odds shift the expected way.
    """
    construction, control = (
        scored[scored["row"] == row].set_index("item").sort_index() for row in ("construction", "control")
    )
    if not construction.index.is_unique or not construction.index.equals(control.index):
        raise DataError("every item needs one row of the construction and one of the control; read the table whole")
    shift = construction["margin"].to_numpy(np.float64) - control["margin"].to_numpy(np.float64)
    return construction.assign(margin=shift).reset_index()


def _credits(scored: pd.DataFrame) -> NDArray[np.float64]:
    return credit_margins(scored["margin"].to_numpy(np.float64))


def _absolute(difference: Difference) -> tuple[float, float, float]:
    """Return the size of a difference and the interval of that."""
    ends = sorted((abs(difference.low), abs(difference.high)))
    crosses = difference.low <= 0 <= difference.high
    return abs(difference.value), 0.0 if crosses else ends[0], ends[1]
