"""Minimal pairs judged: the right text must be preferred, strictly; accuracies and biases of any number of models.

What a model answered becomes a margin for each pair: the score of the right text less that of the wrong one under each
scheme and score of a language model; the preference of a rule (scheme "rule", score "preference"); or what was chosen
in words (scheme "reply", score "asked", see `cxprobe.pairs.replies`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.lm.params import ContinuationAlone, Member, NgramFeatures, PairClassifier
from cxprobe.lm.scores import SCORES, score_pairs
from cxprobe.pairs.balance import CELL, pooled, unbalanced_rates, with_balance
from cxprobe.pairs.controls import controls_of
from cxprobe.pairs.margins import effects_on_margins, of_meaning
from cxprobe.pairs.params import AskedPairs, Benchmark, PairsParams
from cxprobe.pairs.sources import FRAME, OWN_PAIRS, first_items, with_units
from cxprobe.stats import CLUSTER, clusters_by, credits_of_margins, difference_by, rate_by, with_tie_rate

RULE, REPLY = "rule", "reply"  # schemes
RULE_SCORE, ASKED = "preference", "asked"  # scores
MEMBERS = ("variant", "sentence", "order")  # the ways in which an item is asked about
BIAS = ("bias", "low", "high", "changed", "changed_low", "changed_high", "n")
_KIND = ["construction", "tests", "words"]
_VARIANT = ["construction", "variant"]
ANSWERED = "answered_by_words"  # names the column of `with_answered_by_words`, and the table of its variants


# Name of a table of accuracies -> the columns that divide it.
RATES: Mapping[str, Sequence[str]] = {
    "cells": [*_KIND, "variant", "sentence", "noun_type", "order"],
    "sentences": [*_KIND, "variant", "sentence"],
    "variants": [*_KIND, "variant"],
    "constructions": [*_KIND, "format"],
    "noun_types": [*_KIND, "noun_type"],
    "scores": ["construction", "words", "scheme", "score"],
}
PAIR_TABLES = (*RATES, "both", "margins", "unbalanced", "biases", "every_variant", "controls", ANSWERED)
BY_RUN = ["model", "run"]
MOST_GROUPS = 8  # of a run's metrics, which are few enough to be shown

Metrics = defaultdict[tuple[str, ...], dict[str, float]]
"""(model, run), or other columns -> the numbers of a run by their names."""


class HowToJudge(NamedTuple):
    """What decides about the pairs of a source.

    Attributes:
        source: `OWN_PAIRS`, or the name of a benchmark.
        scheme: For masked models, the scheme that decides.
        score: The score that decides.
        scores: All scores that are judged.
        cell: The columns that make the cells, see `cxprobe.pairs.balance`; those that a benchmark is reported by.
        shifts: Whether items are judged by the shift from a control, see `paired_focus_shifts`.
    """

    source: str
    scheme: str
    score: str
    scores: Sequence[str]
    cell: Sequence[str] = CELL
    shifts: bool = False

    @classmethod
    def of(cls, params: PairsParams, source: str = OWN_PAIRS) -> "HowToJudge":
        """Return what a section of params.yaml says about a source."""
        if source == OWN_PAIRS:
            return cls(OWN_PAIRS, params.judge.scheme, params.judge.score, params.judge.scores)
        benchmark = params.benchmarks[source]
        scores = [*dict.fromkeys([benchmark.score, *SCORES])]
        shifts = benchmark.format == "paired_focus"
        return cls(source, params.judge.scheme, benchmark.score, scores, benchmark.by, shifts)


@dataclass(frozen=True)
class JudgedPairs:
    """The decisions of one model, or of several, on minimal pairs.

    Attributes:
        items: One row a pair that the deciding score exists for: the pair with its texts, groups and clusters; right
            and wrong, the first words in which its texts differ, and balanced (`cxprobe.pairs.balance`); scheme, score
            and margin, by which it was decided; and accuracy, 1, 0, or 0.5 for a tie.
        scores: One row a pair, scheme and score: the same columns without the texts.
        replies: The replies in words (`cxprobe.pairs.replies.read_replies`); None where nobody was asked.
    """

    items: pd.DataFrame
    scores: pd.DataFrame
    replies: pd.DataFrame | None = None

    @classmethod
    def joined(cls, parts: Mapping[str, "JudgedPairs"], constructions: Sequence[str] = ()) -> "JudgedPairs":
        """Return the pairs of several models, with the column model.

        Args:
            parts: Model -> its pairs, at least one. A table without rows, such as that of a model whose replies could
                not be read, adds nothing.
            constructions: The order of the constructions, each of which has the rows of all models; none for tables
                that have one model after the other.
        """
        tables: dict[str, pd.DataFrame] = {}
        for name in ("items", "scores", "replies"):
            of_models = [(model, getattr(judged, name)) for model, judged in parts.items()]
            known = [table.assign(model=model) for model, table in of_models if table is not None]
            if not known:
                continue
            table = pd.concat([one for one in known if len(one)] or known[:1], ignore_index=True)
            if constructions:
                order = pd.Index(constructions).get_indexer
                table = table.sort_values("construction", key=order, kind="stable", ignore_index=True)
            tables[name] = table
        return cls(**tables)


def pairs_for(member: Member, pairs: pd.DataFrame, asked: Mapping[str, AskedPairs]) -> pd.DataFrame:
    """Return the pairs that a model is asked about: all, or the first of each cell (`PairsParams.models`).

    One that is shown the continuation alone is asked about pairs with a context; on others it would be no blind model.
    """
    pairs = first_items(pairs, asked.get(member.entry, AskedPairs()))
    return pairs[pairs["context"] != ""] if isinstance(member.spec, ContinuationAlone) else pairs


def decide_pairs(pairs: pd.DataFrame, answers: pd.DataFrame, how: HowToJudge) -> JudgedPairs:
    """Decide every pair by what one model answered: the right member must score higher, strictly.

    Args:
        pairs: Columns id, item, context, good, bad, what the pairs are reported under, and ``cluster_<name>``.
        answers: The table of token scores, or of preferences (id and margin, see `cxprobe.pairs.blind`), that the
            measuring stage wrote.
        how: What decides; nothing of it concerns preferences but the cells and shifts. A score that needs a context
            leaves this project's pairs without one undecided.

    Raises:
        DataError: A pair has no preference, or more than one; a margin is not finite; or see
            `cxprobe.lm.scores.score_pairs`.
    """
    if "margin" not in answers:
        return credit_pairs(pairs, score_pairs(pairs, answers, how.scores).drop(columns=["good", "bad"]), how)
    lacking = sorted(set(pairs["id"]) - set(answers["id"]))
    if lacking or not answers["id"].is_unique:
        raise DataError(
            f"{len(lacking)} of {len(pairs)} pairs have no preference ({', '.join(lacking[:3])}), or a pair has "
            "several; run the measuring stage again"
        )
    margins = answers.assign(scheme=RULE, score=RULE_SCORE)[["id", "scheme", "score", "margin"]]
    return credit_pairs(pairs, margins, how)


def credit_pairs(pairs: pd.DataFrame, margins: pd.DataFrame, how: HowToJudge) -> JudgedPairs:
    """Turn margins into decisions, and find the cells in which one answer is always right.

    Args:
        pairs: See `decide_pairs`; also those without a margin, since which cells are balanced follows from all.
        margins: One row a pair, scheme and score: id, scheme, score and margin.
        how: What decides.

    Raises:
        DataError: A margin is not finite.
    """
    pairs = pairs if "balanced" in pairs else with_balance(pairs, how.cell)
    pairs = with_units(pairs) if how.source == OWN_PAIRS else pairs
    scores = pairs.drop(columns=["context", "good", "bad"]).merge(margins, on="id", validate="one_to_many")
    if how.shifts:
        # A model that replies in words may have an answer to one of the two rows alone.
        both = scores.groupby(["scheme", "score", "item"])["row"].transform("nunique") == 2
        scores = paired_focus_shifts(scores[both] if (scores["scheme"] == REPLY).all() else scores)
    scores["accuracy"] = credits_of_margins(scores["margin"].to_numpy(np.float64))
    deciding = scores["scheme"].isin(["causal", how.scheme, RULE, REPLY])
    deciding &= scores["score"].isin([how.score, RULE_SCORE, ASKED])
    decisions = scores.loc[deciding, ["id", "scheme", "score", "margin", "accuracy"]]
    return JudgedPairs(pairs.merge(decisions, on="id", validate="one_to_one"), scores)


def paired_focus_shifts(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons of the paired-focus test, one an item, with the shift as their margin.

    A pair's margin is the log odds of the word that the construction makes right. The comparison is right where they
    are higher after the construction than after the control, which joins the same foci with "or"; a model that prefers
    the same in both is undecided.

    Args:
        scored: Scored pairs of a paired-focus table: item, scheme, score, margin, and row, "construction" or "control".

    Returns:
        The rows of the construction, whose ``margin`` is now the shift against the control; chance is 0.5.

    Raises:
        DataError: An item does not have exactly one row of the construction and one of the control.

    Source:
        The repository WesScivetti/Meaning_Alone: the share of comparisons whose log odds shift the expected way.
    """
    rows = scored.set_index(["scheme", "score", "item"]).sort_index()
    construction, control = rows[rows["row"] == "construction"], rows[rows["row"] == "control"]
    if not construction.index.is_unique or not construction.index.equals(control.index):
        raise DataError("every item needs one row of the construction and one of the control; read the table whole")
    return construction.assign(margin=construction["margin"] - control["margin"]).reset_index()


def pair_tables(judged: JudgedPairs) -> dict[str, pd.DataFrame]:
    """Return the tables of accuracies and biases of this project's pairs, each divided by the model first.

    Args:
        judged: The pairs, with the column model.

    Returns:
        The tables of `RATES`, each with the columns that it is divided by, accuracy, low, high, n, ties and tie_rate,
        without cells in which one answer is always right, unless it is divided by variants;
        "constructions" has clusters and left_out too, what its intervals rest on (`cxprobe.stats.clusters_by`), and
        "scores" is by every scheme and score, the others by the deciding one. "both" and "margins": see `both_orders`.
        "unbalanced": the cells that were left out, with the reason and their own accuracies
        (`cxprobe.pairs.balance.unbalanced_rates`). "biases", "every_variant" and "controls": see `biases_of`,
        `every_variant` and `controls_of_pairs`. "answered_by_words": the accuracies in the variants that a bag of words
        answers (`with_answered_by_words`).
    """
    balanced, keys = pooled(judged.items), ["model", *_KIND]
    tables = {}
    for name, by in RATES.items():
        pairs = balanced if name != "scores" else pooled(judged.scores)
        pairs = judged.items if "variant" in by else pairs
        tables[name] = with_tie_rate(rate_by(pairs, "accuracy", ["model", *by]))
    clusters = clusters_by(balanced, keys)
    real = judged.items[judged.items["words"] == "real"]
    real = real.assign(**{ANSWERED: real.get(ANSWERED, "")})
    return tables | {
        "constructions": tables["constructions"].merge(clusters, on=keys, validate="one_to_one"),
        **both_orders(balanced, keys),
        "unbalanced": unbalanced_rates(judged.items),
        "biases": biases_of(judged.items, ["model", "construction", "noun_type"]),
        "every_variant": every_variant(balanced, keys),
        "controls": controls_of_pairs(balanced),
        ANSWERED: rate_by(real[real[ANSWERED] != ""], "accuracy", ["model", *_VARIANT, ANSWERED]),
    }


def controls_of_pairs(items: pd.DataFrame) -> pd.DataFrame:
    """Return the controls of judged pairs with real words in balanced cells, see `cxprobe.pairs.controls.controls_of`.

    Args:
        items: Judged pairs, with the column model; without the column control they have none.
    """
    by = ["model", "construction", "tests", "control"]
    real = items[items["words"] == "real"]
    real = real.assign(control=real.get("control", ""))
    return controls_of(rate_by(real, "accuracy", by), both_orders(real, by)["both"])


def every_variant(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how often models are right about an item of form in all of its variants.

    Args:
        items: Judged pairs.
        by: The columns that make the groups, which tell models apart.

    Returns:
        The columns of ``by``; every_variant, low, high and n, the number of items: a tie in one variant is a half, in
        two a quarter.
    """
    form = items[items["tests"] == "form"]
    clusters = {name: "first" for name in form.columns if name.startswith(CLUSTER) and name != f"{CLUSTER}wording"}
    of_items = form.groupby([*by, "item"], sort=False).agg({"accuracy": "prod", **clusters}).reset_index()
    rates = rate_by(of_items, "accuracy", by).drop(columns="ties")
    return rates.rename(columns={"accuracy": "every_variant"})


def answered_variants(items: pd.DataFrame, members: Sequence[Member], limit: float) -> pd.DataFrame:
    """Return the variants of pairs of meaning that a bag of words answers, so that they ask nothing of a construction.

    Args:
        items: Judged pairs of several models.
        members: The models.
        limit: The accuracy above which a classifier on single words that was trained on other frames answers a variant,
            if its interval is above chance too.

    Returns:
        One row a variant: construction, variant, model, accuracy, low, high, ties and n.
    """
    words = NgramFeatures(kind="word_ngrams", lengths=[1, 1])
    bags = [one.slug for one in members if isinstance(one.spec, PairClassifier) and one.spec.counts == words]
    asked = items[items["model"].isin(bags) & (items["words"] == "real") & (items["tests"] == "meaning")]
    rates = rate_by(asked, "accuracy", [*_VARIANT, "model"])
    return rates[(rates["accuracy"] > limit) & (rates["low"] > 0.5)].drop_duplicates(_VARIANT)


def with_answered_by_words(judged: JudgedPairs, members: Sequence[Member], limit: float) -> JudgedPairs:
    """Return judged pairs with the column answered_by_words: the bag of words that answers the variant, or "".

    Rates of several constructions leave such a variant out (`several`). See `answered_variants` for the arguments.
    """
    answered = answered_variants(judged.items, members, limit)
    named = answered[[*_VARIANT, "model"]].rename(columns={"model": ANSWERED})
    items = judged.items.merge(named, "left", _VARIANT).fillna({ANSWERED: ""})
    scores = judged.scores.merge(named, "left", _VARIANT).fillna({ANSWERED: ""})
    return JudgedPairs(items, scores, judged.replies)


def several(items: pd.DataFrame) -> pd.DataFrame:
    """Return the judged pairs that a rate of several constructions may have: of variants that words do not answer."""
    return items[items[ANSWERED] == ""] if ANSWERED in items else items


def both_orders(items: pd.DataFrame, by: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return how often models are right in both orders of two people, and by how much they prefer the right text.

    A model that prefers a name is right in one order and wrong in the other: half of its answers are right, but it is
    hardly ever right in both orders. One that guesses is right in both in a quarter of the items. In the mean margin
    over both orders, too, a preference for a name cancels.

    Args:
        items: Judged pairs; those whose item was decided in one order alone are left out. Of the columns that tell what
            an item is asked about, any but item, order and cluster_frame may be absent.
        by: The columns that make the groups, which tell models apart.

    Returns:
        One row a group that has such items, in each table. "both": the columns of ``by``; both, the rate of items that
        are right in both orders (an item counts by the product of its credits: a tie is a guess, and two are right in
        a quarter of the cases), low, high and n.
        "margins", of language models alone: the parts of the margin, which is the deciding score of the right text less
        that of the wrong one, in nats (`cxprobe.pairs.margins.effects_on_margins`).

    Source:
        Oba & Sugawara 2026, section on pairs that are switched, for the two orders; the two numbers are our own.
    """
    known = dict.fromkeys([*by, *_KIND, "item", "variant", "sentence"])
    keys = [key for key in known if key in items]  # a user's file may have the items alone
    two = items[items.groupby(keys)["order"].transform("nunique") == 2]
    of_items = two.groupby(keys, sort=False).agg({"accuracy": "prod", FRAME: "first"}).reset_index()
    rates = rate_by(of_items, "accuracy", by).drop(columns="ties").rename(columns={"accuracy": "both"})
    return {"both": rates, "margins": effects_on_margins(two[~two["scheme"].isin([RULE, REPLY])], by)}


def with_pair_runs(items: pd.DataFrame, meaning: Sequence[str]) -> pd.DataFrame:
    """Return rows with the column run: each under its construction, and those of pairs of meaning under "all" as well.

    Args:
        items: Rows with the column construction.
        meaning: The constructions whose pairs test meaning.
    """
    every = several(items[items["construction"].isin(meaning)]).assign(run="all")
    return pd.concat([items.assign(run=items["construction"]), every], ignore_index=True)


def run_metrics(judged: pd.DataFrame, scores: pd.DataFrame) -> Metrics:
    """Return the numbers of each run on this project's pairs, the most important first.

    Args:
        judged: The items of judged pairs with the columns model and run; a run has those of one construction, or of
            several.
        scores: Their scores, likewise.

    Returns:
        (model, run) -> accuracy, low, high, n and tie_rate of the pairs with real words, without the cells in which one
        answer is always right, and absent if there are no others, since such an accuracy would be how much the model
        likes that answer; every_variant, of form; control and less_control with their intervals (`controls_of_pairs`);
        both and margin with their intervals (`both_orders`); unbalanced_cells, the number of these
        cells, where there are any; for the pairs of meaning bias_order and bias_variant with their intervals, and
        changed_with_order, as far as there are two orders and two variants (of several constructions, those whose cells
        are all balanced); and the accuracies variant.<name>, noun_type.<name>, words.pseudo (`MOST_GROUPS` at most),
        and score.<name> by each score.
    """
    items = judged[judged["words"] == "real"]
    balanced, metrics = pooled(items), accuracy_metrics(items)
    orders = both_orders(balanced, BY_RUN)
    _add(metrics, orders["both"], "both", "both")
    _add(metrics, of_meaning(orders["margins"]), "margin", "margin")
    for row in every_variant(balanced, BY_RUN).to_dict("records"):
        metrics[row["model"], row["run"]]["every_variant"] = row["every_variant"]
    controls = controls_of_pairs(balanced[balanced["run"] == balanced["construction"]])
    controls["run"] = controls["construction"]
    _add(metrics, controls, "control", "control_accuracy", "control_")
    _add(metrics, controls, "less_control", "less_control", "less_")
    unbalanced = items[~items["balanced"].astype(bool)].drop_duplicates([*BY_RUN, *CELL])
    for model, run, cells in unbalanced.groupby(BY_RUN).size().reset_index().itertuples(index=False, name=None):
        metrics[model, run]["unbalanced_cells"] = cells
    biases = biases_of_all(items, BY_RUN)
    order, variant = (biases[biases["compares"] == way] for way in ("order", "variant"))
    _add(metrics, order, "bias_order", "bias")
    _add(metrics, order, "changed_with_order", "changed", "changed_")
    _add(metrics, variant, "bias_variant", "bias")
    groups = accuracy_by_group(judged)
    groups = groups[groups["group"] != "all"].groupby(BY_RUN).head(MOST_GROUPS)
    for model, run, group, accuracy in groups[[*BY_RUN, "group", "accuracy"]].itertuples(index=False, name=None):
        metrics[model, run][group] = accuracy
    add_scores(metrics, items, scores[scores["words"] == "real"])
    return metrics


def _add(metrics: Metrics, table: pd.DataFrame, name: str, column: str, before: str = "") -> None:
    """Add a number of each run with its interval, ``before`` + low and high; a table has a row a run."""
    for row in table.to_dict("records"):
        interval = {f"{name}_{end}": row[before + end] for end in ("low", "high")}
        metrics[row["model"], row["run"]] |= {name: row[column], **interval}


def accuracy_metrics(items: pd.DataFrame, by: Sequence[str] = BY_RUN) -> Metrics:
    """Return accuracy, low, high, n and tie_rate of judged pairs in balanced cells by some columns."""
    metrics: Metrics = defaultdict(dict)
    for row in with_tie_rate(rate_by(pooled(items), "accuracy", by)).to_dict("records"):
        key = tuple(str(row[column]) for column in by)
        metrics[key] = {name: row[name] for name in ("accuracy", "low", "high", "n", "tie_rate")}
    return metrics


def add_scores(metrics: Metrics, items: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Add to the numbers of each run "score.<name>", the accuracy by each score under the scheme that decides.

    Cells in which one answer is always right are left out.
    """
    deciding = pooled(scores).merge(items[["model", "scheme"]].drop_duplicates())
    means = deciding.groupby([*BY_RUN, "score"], sort=False)["accuracy"].mean().reset_index()
    for model, run, score, accuracy in means.itertuples(index=False, name=None):
        metrics[model, run][f"score.{score}"] = accuracy


def accuracy_by_group(items: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of runs on this project's pairs: what the figure of each shows.

    Args:
        items: Judged pairs, with the columns model and run.

    Returns:
        model, run, group, accuracy, low, high, n and ties: first "all" pairs with real words, then
        "variant.<name>" and "noun_type.<name>" of these, where there are several, and "words.pseudo" if some words are
        replaced. Cells in which one answer is always right are left out, except as variants of a single construction,
        each of which is such a cell by itself; these are shown even if there is only one.
    """
    real = items[items["words"] == "real"]
    balanced = real["balanced"].astype(bool)
    of_run = real.groupby(BY_RUN, sort=False)
    single = of_run["construction"].transform("nunique") == 1
    variants = real[balanced | single]
    several = variants.groupby(BY_RUN, sort=False)["variant"].transform("nunique") > 1
    alone = ~of_run["balanced"].transform("any")
    variants = variants[several | alone[variants.index]]
    pool = real[balanced]
    noun_types = pool[pool.groupby(BY_RUN, sort=False)["noun_type"].transform("nunique") > 1]
    parts = [
        pool.assign(group="all"),
        variants.assign(group="variant." + variants["variant"]),
        noun_types.assign(group="noun_type." + noun_types["noun_type"]),
        pooled(items[items["words"] == "pseudo"]).assign(group="words.pseudo"),
    ]
    return rate_by(pd.concat(parts, ignore_index=True), "accuracy", [*BY_RUN, "group"])


def biases_of(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return both biases of the pairs of meaning with real words.

    Args:
        items: Judged pairs.
        by: The columns that make the groups.

    Returns:
        The rows of `bias_by` with the column compares: "order" for bias (i), from constructions that have a switched
        form; "variant" for bias (ii), from those that have two variants of the published design, without
        sentences that this project has added.
    """
    meaning = items[(items["tests"] == "meaning") & (items["words"] == "real")]
    parts = []
    for column, part in (("order", meaning), ("variant", meaning[meaning["origin"] == "paper"])):
        two_ways = part[part.groupby("construction")[column].transform("nunique") == 2]
        parts.append(bias_by(two_ways, column, by).assign(compares=column))
    return pd.concat(parts, ignore_index=True)


def biases_of_all(items: pd.DataFrame, by: Sequence[str] = ("model", "noun_type")) -> pd.DataFrame:
    """Return `biases_of` all constructions together: of several, those whose cells are all balanced.

    Args:
        items: Judged pairs of one construction or of several.
        by: The columns that make the groups, the first of which are those of the runs: model, and run if there is any.
    """
    real = items[items["words"] == "real"]
    runs = [column for column in by if column in BY_RUN]
    several = real.groupby(runs)["construction"].transform("nunique") > 1
    balanced = real.groupby([*runs, "construction"])["balanced"].transform("all")
    return biases_of(real[~several | balanced], by)


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
        judged: Judged pairs of constructions that have two ways of asking. Items of which only one was decided, as of a
            model that replies in words, are left out.
        column: "order" or "variant".
        by: The columns that make the groups, such as noun_type.

    Returns:
        One row a group: the columns of ``by``; first and second, the two ways; bias, low, high; changed, changed_low,
        changed_high; n.

    Source:
        Oba & Sugawara 2026, biases (i) and (ii); ``changed`` is the decision flip of Weissweiler et al. 2022.
    """
    keys = [*by, "item", *(name for name in MEMBERS if name != column)]
    position = judged.groupby(keys, sort=False).cumcount()  # of a way of asking about an item: 0 or 1
    first = judged[position == 0].rename(columns={column: "first"})
    second = judged.loc[position == 1, [*keys, column, "accuracy"]]
    second = second.rename(columns={column: "second", "accuracy": "other"})
    both = first.merge(second, on=keys, validate="one_to_one")
    for way in ("first", "second"):  # each construction has its own names
        both[way] = both.groupby([*by])[way].transform(lambda names: " / ".join(names.unique()))
    differences = difference_by(both, "accuracy", "other", by)
    low, high = differences["low"], differences["high"]
    changed = both.assign(changed=(both["accuracy"] - both["other"]).abs())
    table = rate_by(changed, "changed", [*by, "first", "second"])
    table = table.rename(columns={"low": "changed_low", "high": "changed_high"})
    table["bias"] = differences["difference"].abs()
    table["low"] = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(low.abs(), high.abs()))
    table["high"] = np.maximum(low.abs(), high.abs())
    return table[[*by, "first", "second", *BIAS]]


def with_groups(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return judged pairs of a benchmark with a column group, twice: as "all", then each with the name of its group.

    Groups in which one answer is always right (`cxprobe.pairs.balance`) stand by themselves and are not in "all".

    Args:
        items: Judged pairs of several models, in the order of the models.
        by: The columns that make the groups; their values are joined by ", ". None for no groups.
    """
    parts = [(pooled(items) if "balanced" in items else items).assign(group="all")]
    if by:
        parts.append(items.assign(group=[", ".join(map(str, values)) for values in items[[*by]].to_numpy()]))
    both, order = pd.concat(parts, ignore_index=True), pd.Index(items["model"].unique()).get_indexer
    return both.sort_values("model", key=order, kind="stable", ignore_index=True)


def with_benchmark_runs(rows: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return rows with the column run, twice: as "all", and by the first column that the benchmark is reported by."""
    runs = rows.assign(run=rows[benchmark.by[0]].map(construction_of))
    return pd.concat([rows.assign(run="all"), runs], ignore_index=True)


def groups_of_runs(rows: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Return rows with the columns run and group: what the figure of each run on a benchmark divides.

    Args:
        rows: Judged pairs of several models, or replies about them.
        benchmark: Its first column to report by divides the run of "all" pairs, and names the others; the second one,
            if there is any, divides each of these.
    """
    every, runs = with_groups(rows, benchmark.by[:1]).assign(run="all"), with_groups(rows, benchmark.by[1:2])
    runs["run"] = runs[benchmark.by[0]].map(construction_of)
    return pd.concat([every, runs], ignore_index=True)


def construction_of(group: object) -> str:
    """Return the name of a group as the construction of a run, which is a part of paths; "none" for an empty text."""
    return str(group).replace("/", "_") or "none"
