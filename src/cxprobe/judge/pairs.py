"""From the scores of minimal pairs to accuracies, and to two biases that a model which understands would not have.

A table of scored pairs has what a pair is reported under (construction, words, variant and its origin, sentence,
noun_type, order), its clusters (``cluster_<name>``), and a column ``margin``: the score of the right text less that of
the wrong one, in any unit. In a table of judged pairs the column ``accuracy`` says whether the pair was right: 1, 0, or
0.5 for a tie; and ``balanced``, whether the pair is in a cell whose answers differ (`cxprobe.judge.balance`). Cells in
which one answer is always right are reported one by one, and no accuracy of several cells has them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.judge.balance import CELL, pooled, unbalanced_rates, with_balance
from cxprobe.judge.comparisons import best_blind
from cxprobe.judge.scores import ScoresOfTexts, score_pairs
from cxprobe.params import JudgePairs, Member
from cxprobe.records import Difference
from cxprobe.stats import (
    clusters_by,
    clusters_of,
    credits_of_margins,
    estimate_difference,
    estimate_rate,
    rate_by,
    with_tie_rate,
)

BIAS = ("bias", "low", "high", "changed", "changed_low", "changed_high", "n")
MEMBERS = ("variant", "sentence", "order")  # the ways in which an item is asked about
_TEXTS = ["context", "good", "bad"]
_KIND = ["construction", "tests", "words"]
# Table -> what its accuracies are reported by.
_BY_CELL = {
    "cells": [*_KIND, "variant", "sentence", "noun_type", "order"],
    "sentences": [*_KIND, "variant", "sentence"],
    "variants": [*_KIND, "variant"],
}
# The same, for accuracies over several cells, of which those that are not balanced are left out.
_POOLED = {
    "constructions": _KIND,
    "noun_types": [*_KIND, "noun_type"],
}


@dataclass(frozen=True)
class JudgedPairs:
    """The decisions of one model, or of several, on minimal pairs.

    Attributes:
        items: One row a pair that the deciding score exists for: the pair with its texts, groups and clusters; right
            and wrong, the first words in which its texts differ, and balanced (`cxprobe.judge.balance.with_balance`);
            scheme, score and margin, by which it was decided; and accuracy, 1, 0, or 0.5 for a tie.
        scores: One row a pair, scheme and score: the same columns without the texts.
    """

    items: pd.DataFrame
    scores: pd.DataFrame

    def where(self, column: str, value: str) -> "JudgedPairs":
        """Return those pairs that have a value in a column."""
        return JudgedPairs(self.items[self.items[column] == value], self.scores[self.scores[column] == value])

    @classmethod
    def joined(cls, parts: Sequence["JudgedPairs"]) -> "JudgedPairs":
        """Return the pairs of several parts, of which there must be at least one, in their order."""
        items, scores = (
            pd.concat([getattr(part, name) for part in parts], ignore_index=True) for name in ("items", "scores")
        )
        return cls(items, scores)


def judge_pairs(pairs: pd.DataFrame, schemes: Mapping[str, ScoresOfTexts], settings: JudgePairs) -> JudgedPairs:
    """Decide every pair by every score: the right member must score higher, strictly.

    Args:
        pairs: Columns id, item, context, good, bad, what the pairs are reported under, and ``cluster_<name>``.
        schemes: Scheme -> the scored texts, see `cxprobe.judge.scores.score_pairs`.
        settings: The scheme and the score that decide, and all scores. A score that needs a context leaves pairs
            without one undecided.

    Raises:
        DataError: See `cxprobe.judge.scores.score_pairs`.
    """
    return credit_pairs(pairs, scored_pairs(pairs, schemes, settings.scores), settings.scheme, settings.score)


def scored_pairs(pairs: pd.DataFrame, schemes: Mapping[str, ScoresOfTexts], names: Sequence[str]) -> pd.DataFrame:
    """Return one row a pair, scheme and score: the pairs without their texts, with scheme, score and margin.

    Args:
        pairs: See `judge_pairs`.
        schemes: See `judge_pairs`.
        names: The scores by name.
    """
    margins = score_pairs(pairs, schemes, names).drop(columns=["good", "bad"])
    return pairs.drop(columns=_TEXTS).merge(margins, on="id", validate="one_to_many")


def credit_pairs(
    pairs: pd.DataFrame, scored: pd.DataFrame, scheme: str, score: str, cell: Sequence[str] = CELL
) -> JudgedPairs:
    """Turn margins into decisions, and find the cells in which one answer is always right.

    Args:
        pairs: See `judge_pairs`.
        scored: As `scored_pairs` returns it.
        scheme: The scheme that decides for a masked model.
        score: The score that decides.
        cell: The columns of the pairs that make the cells, see `cxprobe.judge.balance.unbalanced_cells`.

    Raises:
        DataError: A margin is not finite.
    """
    pairs = with_balance(pairs, cell)
    scored = scored.merge(pairs[["id", "right", "wrong", "balanced"]], on="id", validate="many_to_one")
    scores = scored.assign(accuracy=credits_of_margins(scored["margin"].to_numpy(np.float64)))
    deciding = scores["scheme"].isin(["causal", scheme]) & (scores["score"] == score)
    decisions = scores.loc[deciding, ["id", "scheme", "score", "margin", "accuracy"]]
    return JudgedPairs(pairs.merge(decisions, on="id", validate="one_to_one"), scores)


def pair_tables(judged: JudgedPairs, first: Sequence[str] = ()) -> dict[str, pd.DataFrame]:
    """Return the tables of accuracies and biases.

    Args:
        judged: The pairs.
        first: Columns by which every table is divided first, such as "model".

    Returns:
        "cells", "sentences" and "variants", of all pairs, and "constructions" and "noun_types", without the cells in
        which one answer is always right: by the deciding score; "scores", without these cells too: by every scheme and
        score. Each has the columns that it is reported by, accuracy, low, high, n, ties and tie_rate; "constructions"
        has clusters and left_out too, what its intervals rest on (`cxprobe.stats.clusters_by`). "unbalanced": the
        cells that were left out, with the reason and their own accuracies (`cxprobe.judge.balance.unbalanced_rates`).
        "biases": see `biases_of`.
    """
    by_score = [*first, "construction", "words", "scheme", "score"]
    pooled_items = pooled(judged.items)
    wanted = {name: (judged.items, by) for name, by in _BY_CELL.items()}
    wanted |= {name: (pooled_items, by) for name, by in _POOLED.items()}
    rates = {name: with_tie_rate(rate_by(own, "accuracy", [*first, *by])) for name, (own, by) in wanted.items()}
    keys = [*first, *_KIND]
    clusters = clusters_by(pooled_items, keys)
    return {
        **rates,
        "constructions": rates["constructions"].merge(clusters, on=keys, validate="one_to_one"),
        "scores": with_tie_rate(rate_by(pooled(judged.scores), "accuracy", by_score)),
        "unbalanced": unbalanced_rates(judged.items, first),
        "biases": biases_of(judged.items, [*first, "construction", "noun_type"]),
    }


def best_blind_pairs(tables: Mapping[str, pd.DataFrame], members: Sequence[Member]) -> dict[str, pd.DataFrame]:
    """Return the best blind model in each row of the tables of accuracies (see `best_blind`), by the table's name.

    Args:
        tables: What `pair_tables` returns of several models, divided by "model" first.
        members: The models.
    """
    return {name: best_blind(tables[name], by, members) for name, by in {**_BY_CELL, **_POOLED}.items()}


def pair_metrics(judged: JudgedPairs) -> dict[str, float]:
    """Return the numbers of one run, the most important first.

    Args:
        judged: The pairs of one construction, or of several.

    Returns:
        accuracy, low, high, n and tie_rate of the pairs with real words, without the cells in which one answer is
        always right, and absent if there are no others; unbalanced_cells, the number of these cells, where there are
        any; for the pairs of meaning bias_order and bias_variant with their intervals, and changed_with_order, as far
        as there are two orders and two variants (of several constructions, those whose cells are all balanced); and the
        accuracies variant.<name>, noun_type.<name>, words.pseudo, and score.<name> by each score.
    """
    real = judged.where("words", "real")
    metrics = accuracy_metrics(real.items)
    if cells := len(unbalanced_rates(real.items)):
        metrics["unbalanced_cells"] = cells
    for bias in biases_of_all(real.items, ["tests"]).to_dict("records"):
        way = bias["compares"]
        metrics |= {f"bias_{way}": bias["bias"], f"bias_{way}_low": bias["low"], f"bias_{way}_high": bias["high"]}
        if way == "order":
            metrics |= {f"changed_with_order{end}": bias[f"changed{end}"] for end in ("", "_low", "_high")}
    groups = accuracy_by_group(judged.items)
    metrics |= dict(groups.loc[groups["group"] != "all", ["group", "accuracy"]].itertuples(index=False, name=None))
    return metrics | score_metrics(real)


def _of_balanced_constructions(items: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of constructions whose cells are all balanced; of a single construction, all of its pairs."""
    if items["construction"].nunique() < 2:
        return items
    unbalanced = unbalanced_rates(items)["construction"]
    return items[~items["construction"].isin(unbalanced)]


def accuracy_metrics(items: pd.DataFrame) -> dict[str, float]:
    """Return accuracy, low, high, n and tie_rate of judged pairs.

    Cells in which one answer is always right are left out; where there are no others, nothing is returned, since such
    an accuracy would be how much the model likes that answer.
    """
    rates = with_tie_rate(rate_by(pooled(items).assign(every=""), "accuracy", ["every"])).to_dict("records")
    return {name: one[name] for one in rates for name in ("accuracy", "low", "high", "n", "tie_rate")}


def score_metrics(judged: JudgedPairs) -> dict[str, float]:
    """Return "score.<name>" -> the accuracy by each score, under the scheme that decides, of the balanced cells."""
    deciding = pooled(judged.scores)
    deciding = deciding[deciding["scheme"].isin(judged.items["scheme"].unique())]
    means = deciding.groupby("score", sort=False)["accuracy"].mean()
    return {f"score.{name}": float(accuracy) for name, accuracy in means.items()}


def accuracy_by_group(items: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of one run side by side: what its figure shows.

    Args:
        items: Judged pairs.

    Returns:
        group, accuracy, low, high, n and ties: first "all" pairs with real words, then "variant.<name>" and
        "noun_type.<name>" of these, where there are several, and "words.pseudo" if some words are replaced. Cells in
        which one answer is always right are left out, except as variants of a single construction, each of which is
        such a cell by itself; these are shown even if there is only one.
    """
    real, pseudo = (items[items["words"] == words] for words in ("real", "pseudo"))
    balanced = pooled(real)
    parts = [balanced.assign(group="all")]
    variants = balanced if real["construction"].nunique() > 1 else real
    if variants["variant"].nunique() > 1 or balanced.empty:
        parts.append(variants.assign(group="variant." + variants["variant"]))
    if balanced["noun_type"].nunique() > 1:
        parts.append(balanced.assign(group="noun_type." + balanced["noun_type"]))
    parts.append(pooled(pseudo).assign(group="words.pseudo"))
    return rate_by(pd.concat(parts, ignore_index=True), "accuracy", ["group"])


def biases_of(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return both biases of the pairs of meaning with real words.

    Args:
        items: Judged pairs.
        by: The columns that make the groups.

    Returns:
        The rows of `bias_by` with the column compares: "order" for bias (i), from constructions that have a switched
        form; "variant" for bias (ii), from those that have two variants of the published design. Items of which only
        one way was decided are left out, see `cxprobe.judge.asked`.
    """
    meaning = items[(items["tests"] == "meaning") & (items["words"] == "real")]
    parts = []
    for column, own in (("order", meaning), ("variant", meaning[meaning["origin"] == "paper"])):
        two_ways = own[own.groupby("construction")[column].transform("nunique") == 2]
        parts.append(bias_by(_decided_both_ways(two_ways, column, by), column, by).assign(compares=column))
    return pd.concat(parts, ignore_index=True)


def _decided_both_ways(items: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the pairs whose items were decided in both ways; of a model that replies in words some may not be."""
    keys = [*by, "item", *(name for name in MEMBERS if name != column)]
    return items[items.groupby(keys)[column].transform("nunique") == 2]


def biases_of_all(items: pd.DataFrame, by: Sequence[str] = ("model", "noun_type")) -> pd.DataFrame:
    """Return `biases_of` all constructions together: of several, those whose cells are all balanced.

    Args:
        items: Judged pairs of one construction or of several.
        by: The columns that make the groups.
    """
    return biases_of(_of_balanced_constructions(items[items["words"] == "real"]), by)


def bias_by(judged: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Return how far two ways of asking about the same items are apart.

    With ``column="order"`` this is bias (i), |mean(original) - mean(switched)|; with ``column="variant"`` bias (ii),
    |mean(A) - mean(B)|, a preference for one diagnostic. A difference of 0 lies on the edge of what |difference| can
    be, so where the difference's interval has 0 in it, the bias's begins there.

    Bias (i) compares means, and people are drawn into both seats equally often: a model that always prefers the same
    one of two names is right in half of the original and half of the switched pairs and has no bias (i). What gives
    it away is ``changed``, the share of items whose decision is right in one order and wrong in the other (a tie
    against a decision counts as half): near 1 for such a model, 0 for one that understands.

    Args:
        judged: Judged pairs in which every item has both ways.
        column: "order" or "variant".
        by: The columns that make the groups, such as noun_type.

    Returns:
        One row a group: the columns of ``by``; first and second, the two ways; bias, low, high; changed, changed_low,
        changed_high; n.

    Raises:
        DataError: A group does not have exactly two values in the column, or an item lacks one of them.

    Source:
        Oba & Sugawara 2026, biases (i) and (ii); ``changed`` is the decision flip of Weissweiler et al. 2022.
    """
    credits, clusters = judged["accuracy"].to_numpy(np.float64), clusters_of(judged)  # (pairs,), (pairs, ways)
    keys = ["item", *(name for name in MEMBERS if name != column)]
    rows = []
    for key, group in judged[[*by, *keys, column]].reset_index(drop=True).groupby(list(by), sort=False):
        place = ", ".join(map(str, key))
        ways = list(dict.fromkeys(group[column]))
        if len(ways) != 2:
            raise DataError(f"{place}: a bias compares two values of {column}, and there are {len(ways)}: {ways}")
        first, second = (_rows_by_key(group[group[column] == way], keys) for way in ways)
        if first.keys() != second.keys():
            raise DataError(f"{place}: some items have only one of {ways[0]} and {ways[1]}, so nothing can be compared")
        one, other = credits[list(first.values())], credits[[second[item] for item in first]]
        shared = clusters[list(first.values())]
        difference = estimate_difference(one, other, shared)
        changed = estimate_rate(np.abs(one - other), shared)
        changes = (changed.value, changed.low, changed.high)
        rows.append((*key, *ways, *_absolute(difference), *changes, difference.n))
    return pd.DataFrame(rows, columns=[*by, "first", "second", *BIAS])


def _rows_by_key(table: pd.DataFrame, keys: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Return the row of each combination of values of some columns."""
    values = zip(*(table[key].tolist() for key in keys), strict=True)
    return dict(zip(values, table.index.tolist(), strict=True))


def _absolute(difference: Difference) -> tuple[float, float, float]:
    """Return the size of a difference and the interval of that."""
    ends = sorted((abs(difference.low), abs(difference.high)))
    crosses = difference.low <= 0 <= difference.high
    return abs(difference.value), 0.0 if crosses else ends[0], ends[1]
