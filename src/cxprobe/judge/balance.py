"""Cells of minimal pairs in which one answer is always right: their accuracy is how much a model likes that answer.

Where "unclear" is right and "clear" is wrong in all pairs, whatever the sentences say, a model that likes the word gets
them all. Such cells are found from the texts. They are reported one by one and are left out of an accuracy over several
cells.
"""

import re
from collections.abc import Hashable, Sequence
from itertools import zip_longest

import pandas as pd

from cxprobe.stats import rate_by, with_tie_rate

CELL = ("construction", "words", "variant")
UNBALANCED = ["right", "wrong", "n", "reason"]
_EDGES = re.compile(r"^\W+|\W+$")


def unbalanced_cells(pairs: pd.DataFrame, cell: Sequence[str] = CELL) -> pd.DataFrame:
    """Return the cells in which one answer is always right, and why.

    What tells the good text from the bad one is the first word in which they differ. A cell is not balanced if it has
    more than one pair, this is the same word in all of them, and so is the word in its place that is wrong; unless the
    other cells of its kind, such as the other variants of its construction, make up for that: there the two words
    are exchanged, and each is right as often as it is wrong.

    Args:
        pairs: One row a pair: good and bad, texts; and the columns of ``cell`` (those that the table lacks do not
            count).
        cell: The columns that make the cells; the last tells the cells of a kind apart.

    Returns:
        One row a cell: the columns of ``cell``; right and wrong, the two words in lower case; n, the number of pairs;
        and reason, a sentence.
    """
    keys = [column for column in cell if column in pairs.columns]
    told = _with_words(pairs)
    kinds = dict(_groups(told, keys[:-1]))
    rows = []
    for key, own in _groups(told, keys):
        words = set(zip(own["right"], own["wrong"], strict=True))
        if len(own) < 2 or len(words) > 1:
            continue
        ((right, wrong),) = words
        kind = kinds.get(key[:-1], own)
        with_it, against = _count(kind, right, wrong), _count(kind, wrong, right)
        if with_it != against:
            rows.append((*key, right, wrong, len(own), _reason(right, wrong, len(own))))
    return pd.DataFrame(rows, columns=[*keys, *UNBALANCED])


def with_balance(pairs: pd.DataFrame, cell: Sequence[str] = CELL) -> pd.DataFrame:
    """Return pairs with the columns right and wrong, the first words in which they differ, and balanced, a bool.

    Args:
        pairs: See `unbalanced_cells`.
        cell: See `unbalanced_cells`.
    """
    keys = [column for column in cell if column in pairs.columns]
    found = set(unbalanced_cells(pairs, cell)[keys].itertuples(index=False, name=None))
    balanced = [key not in found for key in pairs[keys].itertuples(index=False, name=None)]
    return _with_words(pairs).assign(balanced=balanced)


def pooled(items: pd.DataFrame) -> pd.DataFrame:
    """Return the judged pairs that an accuracy over several cells may have: those in balanced cells.

    Args:
        items: Judged pairs; without a column balanced all are taken to be.
    """
    return items[items["balanced"].astype(bool)] if "balanced" in items else items


def unbalanced_rates(items: pd.DataFrame, first: Sequence[str] = (), cell: Sequence[str] = CELL) -> pd.DataFrame:
    """Return the accuracies of the cells in which one answer is always right, one by one, with the reason.

    Args:
        items: Judged pairs; see `with_balance`.
        first: Columns by which the table is divided first, such as "model".
        cell: See `unbalanced_cells`.

    Returns:
        ``first``, the columns of ``cell``, right, wrong, reason, accuracy, low, high, n, ties and tie_rate.
    """
    keys = [*first, *(column for column in cell if column in items.columns), "right", "wrong"]
    rates = ["accuracy", "low", "high", "n", "ties", "tie_rate"]
    if "balanced" not in items or items["balanced"].astype(bool).all():
        return pd.DataFrame(columns=[*keys, "reason", *rates])
    found = items[~items["balanced"].astype(bool)]
    table = with_tie_rate(rate_by(found, "accuracy", keys))
    reasons = [_reason(*row) for row in table[["right", "wrong", "n"]].itertuples(index=False)]
    return table.assign(reason=reasons)[[*keys, "reason", *rates]]


def _reason(right: str, wrong: str, n: int) -> str:
    return f"'{right}' is right and '{wrong}' is wrong in all {n} pairs"


def telling_words(good: str, bad: str) -> tuple[str, str]:
    """Return the first words in which two texts differ, in lower case; an empty text where one ends before the other.

    Args:
        good: The right text.
        bad: The wrong one.
    """
    for right, wrong in zip_longest(_words(good), _words(bad), fillvalue=""):
        if right != wrong:
            return right, wrong
    return "", ""


def _with_words(pairs: pd.DataFrame) -> pd.DataFrame:
    words = [telling_words(good, bad) for good, bad in zip(pairs["good"], pairs["bad"], strict=True)]
    return pairs.assign(right=[right for right, _ in words], wrong=[wrong for _, wrong in words])


def _words(text: str) -> list[str]:
    return [_EDGES.sub("", word).lower() for word in text.split()]


def _groups(table: pd.DataFrame, keys: Sequence[str]) -> list[tuple[tuple[Hashable, ...], pd.DataFrame]]:
    if not keys:
        return [((), table)]
    return list(table.groupby(list(keys), sort=False))


def _count(pairs: pd.DataFrame, right: str, wrong: str) -> int:
    return int(((pairs["right"] == right) & (pairs["wrong"] == wrong)).sum())
