"""Cells of minimal pairs in which one answer is always right: their accuracy is how much a model likes that answer.

Where "unclear" is right and "clear" is wrong in all pairs, whatever the sentences say, a model that likes the word gets
them all. Such cells are found from the texts. They are reported one by one and are left out of an accuracy over several
cells.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.params import ContinuationAlone, Member
from cxprobe.lm.scores import CONTEXT_SCORES, SCORES, ScoresOfTexts, score_pairs, texts_by_scheme
from cxprobe.lm.token_table import token_scores_of
from cxprobe.pairs.params import Benchmark, JudgePairs
from cxprobe.report.comparisons import best_blind
from cxprobe.stats import (
    CLUSTER,
    Difference,
    clusters_by,
    clusters_of,
    credits_of_margins,
    estimate_difference,
    estimate_rate,
    rate_by,
    with_tie_rate,
)

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
            and wrong, the first words in which its texts differ, and balanced (`cxprobe.pairs.judge.with_balance`);
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
        schemes: Scheme -> the scored texts, see `cxprobe.lm.scores.score_pairs`.
        settings: The scheme and the score that decide, and all scores. A score that needs a context leaves pairs
            without one undecided.

    Raises:
        DataError: See `cxprobe.lm.scores.score_pairs`.
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
        cell: The columns of the pairs that make the cells, see `cxprobe.pairs.judge.unbalanced_cells`.

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
        cells that were left out, with the reason and their own accuracies (`cxprobe.pairs.judge.unbalanced_rates`).
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
        one way was decided are left out, see `cxprobe.pairs.judge_asked`.
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


def judge_benchmark(
    name: str, pairs: pd.DataFrame, schemes: Mapping[str, ScoresOfTexts], benchmark: Benchmark, scheme: str
) -> JudgedPairs:
    """Decide every pair of a benchmark by its own score and by every score of a whole text.

    Args:
        name: The benchmark, for messages.
        pairs: See `cxprobe.pairs.judge.judge_pairs`.
        schemes: Scheme -> the scored texts.
        benchmark: The score that decides, the columns to report by, and the format: a pair of a paired-focus table is
            right if it shifts from its control (`paired_focus_shifts`).
        scheme: The scheme that decides for a masked model.

    Raises:
        DataError: The pairs lack a column to report by, the score needs a context that some pairs lack, or see
            `cxprobe.lm.scores.score_pairs`.
    """
    _require_decidable(name, pairs, benchmark)
    scored = scored_pairs(pairs, schemes, [*dict.fromkeys([benchmark.score, *SCORES])])
    if benchmark.format == "paired_focus":
        by_score = scored.groupby(["scheme", "score"], sort=False)
        scored = pd.concat([paired_focus_shifts(own) for _, own in by_score], ignore_index=True)
    return credit_pairs(pairs, scored, scheme, benchmark.score, benchmark.by)


def benchmark_rates(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy over all judged pairs in balanced cells, as group "all", and in each group.

    Args:
        items: Judged pairs.
        by: The columns that make the groups; none for no groups.

    Returns:
        group, accuracy, low, high, n, ties and tie_rate.
    """
    return with_tie_rate(rate_by(with_groups(items, by), "accuracy", ["group"]))


def benchmark_scores(scores: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy by every scheme and score, over all judged pairs and in each group.

    Args:
        scores: `cxprobe.judge.JudgedPairs.scores` of a benchmark.
        by: The columns that make the groups, see `benchmark_rates`.

    Returns:
        group, scheme, score, accuracy, low, high, n, ties and tie_rate.
    """
    return with_tie_rate(rate_by(with_groups(scores, by), "accuracy", ["group", "scheme", "score"]))


def with_groups(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return judged pairs with a column group, twice: as "all", then each with the name of its group.

    Groups in which one answer is always right (`cxprobe.pairs.judge`) stand by themselves and are not in "all".

    Args:
        items: Judged pairs.
        by: The columns that make the groups; their values are joined by ", ". None for no groups.
    """
    parts = [pooled(items).assign(group="all")]
    if by:
        parts.append(items.assign(group=[", ".join(map(str, values)) for values in items[list(by)].to_numpy()]))
    return pd.concat(parts, ignore_index=True)


def construction_of(group: str) -> str:
    """Return the name of a group as the construction of a run, which is a part of paths; "none" for an empty text."""
    return group.replace("/", "_") or "none"


def paired_focus_shifts(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the paired-focus test, one an item, with the shift as their margin.

    A pair's margin is the log odds of the word that the construction makes right. The comparison is right where they
    are higher after the construction than after the control, which joins the same foci with "or".

    Args:
        scored: Scored pairs of a paired-focus table, by one score: item, margin, and row, "construction" or "control".

    Returns:
        The rows of the construction, whose ``margin`` is now the shift against the control; chance is 0.5.

    Raises:
        DataError: An item does not have exactly one row of the construction and one of the control.

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


def _require_decidable(name: str, pairs: pd.DataFrame, benchmark: Benchmark) -> None:
    """Refuse settings under which pairs would silently be missing from the accuracies."""
    lacking = [column for column in benchmark.by if column not in pairs.columns]
    if lacking:
        known = ", ".join(column for column in pairs.columns if not column.startswith(CLUSTER))
        raise DataError(f"benchmarks.{name}.by names {', '.join(lacking)}; the pairs only have the columns {known}")
    bare = pairs.loc[pairs["context"] == "", "id"].tolist()
    if bare and benchmark.score in CONTEXT_SCORES:
        raise DataError(
            f"benchmarks.{name}.score is {benchmark.score}, which needs a context; {len(bare)} of {len(pairs)} pairs "
            f"have none, such as {bare[0]}; take another score"
        )


SCHEME, SCORE = "rule", "preference"
HEADLINE = ("accuracy", "low", "high", "n")
_TEXTS_of_preferences = ["context", "good", "bad"]


def judge_pair_answers(
    member: Member, pairs: Mapping[str, pd.DataFrame], answers: pd.DataFrame, settings: JudgePairs
) -> dict[str, JudgedPairs]:
    """Decide the pairs of several constructions by what one model answered.

    Args:
        member: The model.
        pairs: Construction -> its pairs, see `cxprobe.pairs.judge.judge_pairs`.
        answers: The table of token scores, or of preferences, that the measuring stage wrote.
        settings: What decides, see `cxprobe.pairs.judge.judge_pairs`; nothing of it concerns preferences.

    Returns:
        Construction -> its judged pairs; without constructions of which the model is asked nothing, since their pairs
        have no context and it is shown the continuation alone.

    Raises:
        DataError: See `judge_preferences` and `cxprobe.pairs.judge.judge_pairs`.
    """
    asked = {name: own for name, every in pairs.items() if len(own := _asked(member, every))}
    if "margin" in answers:
        return {name: judge_preferences(own, answers) for name, own in asked.items()}
    schemes = texts_by_scheme(token_scores_of(answers))
    return {name: judge_pairs(own, schemes, settings) for name, own in asked.items()}


def judge_benchmark_answers(
    name: str, member: Member, pairs: pd.DataFrame, answers: pd.DataFrame, benchmark: Benchmark, scheme: str
) -> JudgedPairs:
    """Decide the pairs of a benchmark by what one model answered.

    Args:
        name: The benchmark, for messages.
        member: The model.
        pairs: The benchmark's pairs.
        answers: See `judge_pair_answers`.
        benchmark: See `cxprobe.pairs.judge.judge_benchmark`.
        scheme: The scheme that decides for a masked model.

    Raises:
        DataError: See `judge_preferences` and `cxprobe.pairs.judge.judge_benchmark`.
    """
    asked = _asked(member, pairs)
    if "margin" in answers:
        return judge_preferences(asked, answers, benchmark)
    return judge_benchmark(name, asked, texts_by_scheme(token_scores_of(answers)), benchmark, scheme)


def judge_preferences(
    pairs: pd.DataFrame, preferences: pd.DataFrame, benchmark: Benchmark | None = None
) -> JudgedPairs:
    """Decide every pair by a rule's preference.

    Args:
        pairs: Columns id, item, context, good, bad, what the pairs are reported under, and ``cluster_<name>``.
        preferences: Columns id and margin: above 0 where the rule prefers the right continuation, below 0 where it
            prefers the wrong one, 0 where it is undecided.
        benchmark: Whose pairs they are; None for the project's own. In a paired-focus table a rule that prefers the
            same in both rows of an item is undecided, as a model is (`cxprobe.pairs.judge.paired_focus_shifts`).

    Raises:
        DataError: A pair has no preference, or more than one.
    """
    lacking = sorted(set(pairs["id"]) - set(preferences["id"]))
    if lacking or not preferences["id"].is_unique:
        raise DataError(
            f"{len(lacking)} of {len(pairs)} pairs have no preference ({', '.join(lacking[:3])}), or a pair has "
            "several; run the measuring stage again"
        )
    margins = preferences.assign(scheme=SCHEME, score=SCORE)[["id", "scheme", "score", "margin"]]
    scored = pairs.drop(columns=_TEXTS_of_preferences).merge(margins, on="id", validate="one_to_one")
    if benchmark is not None and benchmark.format == "paired_focus":
        scored = paired_focus_shifts(scored)
    return credit_pairs(pairs, scored, SCHEME, SCORE, CELL if benchmark is None else benchmark.by)


def pair_headline(judged: JudgedPairs) -> dict[str, dict[str, float]]:
    """Return the headline of one model: accuracy, low, high and n of its pairs with real words.

    Args:
        judged: The pairs of all constructions.

    Returns:
        "meaning" and "form", as far as there are such pairs in balanced cells -> the numbers.
    """
    real = judged.where("words", "real").items
    metrics = {kind: accuracy_metrics(real[real["tests"] == kind]) for kind in ("meaning", "form")}
    return {kind: {name: own[name] for name in HEADLINE} for kind, own in metrics.items() if own}


def _asked(member: Member, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs that a model is asked about.

    One that is shown the continuation alone is asked about pairs with a context; on others it would be no blind model.
    """
    return pairs[pairs["context"] != ""] if isinstance(member.spec, ContinuationAlone) else pairs
