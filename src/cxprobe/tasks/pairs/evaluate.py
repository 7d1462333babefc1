"""Minimal pairs decided: the right text must be preferred, strictly; the responses of any number of models.

What a model answered becomes a margin for each pair: the score of the right text less that of the wrong one under each
scheme and score of a language model; the preference of a rule (scheme "rule", score "preference"); or what was chosen
in words (scheme "reply", score "asked", see `cxprobe.tasks.pairs.replies`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.models.params import ContinuationAlone, Member, NgramFeatures, PairClassifier
from cxprobe.models.scores import SCORES, score_pairs
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.rates import ALL, Facet, rates_of
from cxprobe.results.schema import CHANCE_IN_BOTH, HALF, KEYS, RESPONSES
from cxprobe.stats import CLUSTER, UNIT, credits_of_margins, difference_by, rate_by
from cxprobe.tasks.pairs.balance import CELL, fixed_preferences, with_balance
from cxprobe.tasks.pairs.controls import control_verdicts
from cxprobe.tasks.pairs.margins import MEANING, effects_on_margins
from cxprobe.tasks.pairs.params import AskedPairs, PairsParams
from cxprobe.tasks.pairs.sources import FRAME, OWN_PAIRS, first_items, with_units

RULE, REPLY = "rule", "reply"  # schemes
RULE_SCORE, ASKED = "preference", "asked"  # scores
REPLIES = ("consistency", "position_bias", "unparsed", "failed")
"""What replies in words are measured by, apart from whether they are right, see `cxprobe.tasks.pairs.replies`."""
MEMBERS = ("variant", "sentence", "order")  # the ways in which an item is asked about
BIAS = ("bias", "low", "high", "changed", "changed_low", "changed_high", "n")
_ITEM = ("construction", "tests", "words", "item", "variant", "sentence")  # what is asked about in two orders
KEPT = ("deciding", "balanced", "tests", "origin", "order", "place", "pair_item", "margin")
"""Columns of the responses beside those of facets: whether the scheme and score decide; whether no single answer is
always right in the pair's cell; what `cxprobe.tasks.pairs.make` says of the pair, pair_item being what it is about; and
the margin of a decision."""
FACETS = (
    Facet(
        "",
        measures=("accuracy", "both_orders", "every_variant", *REPLIES),
        where="decides or measure not in ['accuracy', 'both_orders']",
        has_verdicts=True,
        family=("source", "tests"),
        compared="source != 'pseudo'",
        is_all_tested=True,
    ),
    Facet(
        "group",
        ["group"],
        ("accuracy", *REPLIES),
        "group != '' and (deciding or measure != 'accuracy')",
        has_verdicts=True,
        family=("source",),
    ),
    Facet("variant", ["variant"], where="deciding and variant != ''"),
    Facet("sentence", ["variant", "sentence"], where="deciding and sentence != ''"),
    Facet("noun_type", ["noun_type"], where="decides and noun_type not in ['', 'none']", in_git=False),
    Facet("score", ["scheme", "score"], where="balanced and not deciding and way == ''", in_git=False),
    Facet("way", ["way"], where="way != '' and layer == ''"),
    Facet("layer", ["layer"], where="layer != ''", steps=True),
)
# Of the pairs of all constructions together that do not test meaning.
_APART = (
    Facet("tests", ["tests"], where="balanced and deciding"),
    Facet("tests_way", ["tests", "way"], where="way != '' and layer == ''"),
)
_OF_MODEL = [name for name in RESPONSES if name not in ("task", "model")]
_AS_ITEMS = {"item": "id", "pair_item": "item", "source": "words", "value": "accuracy"}
_TEXTS = ("tests", "variant", "sentence", "noun_type", "origin", "order", "place", "control")


class EvaluationConfig(NamedTuple):
    """What decides about the pairs of a source.

    Attributes:
        source: `OWN_PAIRS`, or the name of a benchmark.
        scheme: For masked models, the scheme that decides.
        score: The score that decides.
        scores: All scores that are judged.
        cell: The columns that make the cells, see `cxprobe.tasks.pairs.balance`; those that a benchmark is reported by.
        shifts: Whether items are judged by the shift from a control, see `paired_focus_shifts`.
    """

    source: str
    scheme: str
    score: str
    scores: Sequence[str]
    cell: Sequence[str] = CELL
    shifts: bool = False

    @classmethod
    def of(cls, params: PairsParams, source: str = OWN_PAIRS) -> "EvaluationConfig":
        """Return what a section of params.yaml says about a source."""
        if source == OWN_PAIRS:
            return cls(OWN_PAIRS, params.evaluate.scheme, params.evaluate.score, params.evaluate.scores)
        benchmark = params.benchmarks[source]
        scores = [*dict.fromkeys([benchmark.score, *SCORES])]
        shifts = benchmark.format == "paired_focus"
        return cls(source, params.evaluate.scheme, benchmark.score, scores, benchmark.by, shifts)


def pairs_for(member: Member, pairs: pd.DataFrame, asked: Mapping[str, AskedPairs]) -> pd.DataFrame:
    """Return the pairs that a model is asked about: all, or the first of each cell (`PairsParams.models`).

    One that is shown the continuation alone is asked about pairs with a context; on others it would be no baseline.
    """
    pairs = first_items(pairs, asked.get(member.entry, AskedPairs()))
    return pairs[pairs["context"] != ""] if isinstance(member.spec, ContinuationAlone) else pairs


def decide_pairs(pairs: pd.DataFrame, answers: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Decide every pair by what one model answered: the right member must score higher, strictly.

    Args:
        pairs: Columns id, item, context, good, bad, what the pairs are reported under, and ``cluster_<name>``.
        answers: The table of token scores, or of preferences (id and margin, see `cxprobe.tasks.pairs.baselines`), that
            the measuring stage wrote.
        how: What decides; nothing of it concerns preferences but the cells and shifts. A score that needs a context
            leaves this project's pairs without one undecided.

    Returns:
        See `credit_pairs`.

    Raises:
        DataError: A pair has no preference, or more than one; a margin is not finite; or see
            `cxprobe.models.scores.score_pairs`.
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


def credit_pairs(pairs: pd.DataFrame, margins: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Turn margins into decisions, and find the cells in which one answer is always right.

    Args:
        pairs: See `decide_pairs`; also those without a margin, since which cells are balanced follows from all.
        margins: One row a pair, scheme and score: id, scheme, score and margin.
        how: What decides.

    Returns:
        One row a pair, scheme and score: the pair without its texts; right, wrong and balanced
        (`cxprobe.tasks.pairs.balance`); scheme, score and margin; accuracy, 1, 0, or 0.5 for a tie; and deciding,
        whether the scheme and score decide.

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
    deciding = scores["scheme"].isin(["causal", how.scheme, RULE, REPLY])
    deciding &= scores["score"].isin([how.score, RULE_SCORE, ASKED])
    return scores.assign(accuracy=credits_of_margins(scores["margin"].to_numpy(np.float64)), deciding=deciding)


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


def in_two_orders(items: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions on items that were decided in both orders of two people.

    Args:
        items: Decided pairs of one model. Of the columns that tell what an item is asked about, any but item and order
            may be absent, as from a user's file.
    """
    return items[items.groupby(_keys_of(items))["order"].transform("nunique") == 2]


def both_orders(items: pd.DataFrame) -> pd.DataFrame:
    """Return how often a model is right in both orders of two people: one row an item that was decided in both.

    A model that prefers a name is right in one order and wrong in the other: half of its answers are right, but it is
    hardly ever right in both orders. One that guesses is right in both in a quarter of the items.

    Args:
        items: See `in_two_orders`; with cluster_frame.

    Returns:
        The first row of each item, whose accuracy is the product of its credits (a tie is a guess, and two are right in
        a quarter of the cases), and whose unit is its frame.

    Source:
        Oba & Sugawara 2026, section on pairs that are switched, for the two orders; the number is our own.
    """
    two, keys = in_two_orders(items), _keys_of(items)
    credits = two.groupby(keys, sort=False, as_index=False)["accuracy"].prod()
    first = two.drop_duplicates(keys).drop(columns="accuracy")
    return first.merge(credits, on=keys, validate="one_to_one").assign(**{UNIT: lambda rows: rows[FRAME]})


def _keys_of(items: pd.DataFrame) -> list[str]:
    return [key for key in _ITEM if key in items]


def every_variant(items: pd.DataFrame) -> pd.DataFrame:
    """Return how often a model is right about an item of form in all of its variants: one row an item.

    Args:
        items: Decided pairs of one model.

    Returns:
        The first row of each item, whose accuracy is the product of its credits: a tie in one variant is a half, in two
        a quarter. Without the clusters of wordings.
    """
    form, keys = items[items["tests"] == "form"], ["construction", "words", "item"]
    credits = form.groupby(keys, sort=False, as_index=False)["accuracy"].prod()
    first = form.drop_duplicates(keys).drop(columns=["accuracy", f"{CLUSTER}wording"], errors="ignore")
    return first.merge(credits, on=keys, validate="one_to_one")


def pair_responses(decided: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return the responses of one model to the pairs of a source.

    Args:
        decided: What `credit_pairs` returns.
        how: Whose pairs they are.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task and model; those of `FACETS` and `KEPT`; and the
        clusters. What decides is the accuracy by the deciding score in balanced cells, and beside it whether both
        orders are right. The margins of language models are of items that were decided in both orders.
    """
    known = decided.assign(way="", layer="")
    parts = [known.assign(measure="accuracy", chance=HALF)]
    if how.source == OWN_PAIRS:
        deciding = known[known["deciding"]]
        likely = in_two_orders(deciding[~deciding["scheme"].isin([RULE, REPLY])])
        variants = every_variant(deciding[deciding["balanced"]]).assign(deciding=False)
        parts += [
            both_orders(deciding).assign(measure="both_orders", chance=CHANCE_IN_BOTH),
            likely.assign(measure="margin", accuracy=likely["margin"], chance=np.nan, deciding=False),
            variants.assign(measure="every_variant", chance=np.nan),
        ]
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    right, wrong = (rows["measure"] == "accuracy") & (rows["accuracy"] == 1), rows["accuracy"] == 0
    wrong &= rows["measure"] == "accuracy"
    rows = rows.assign(
        gold=np.where(rows["measure"] == "accuracy", "good", ""),
        chosen=np.select([right, wrong], ["good", "bad"], ""),
        decides=rows["deciding"] & rows["balanced"],
        margin=rows["margin"].where(rows["measure"] == "accuracy"),
    )
    return as_responses(rows.rename(columns={"accuracy": "value"}), how)


def as_responses(rows: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return rows about pairs with the place that responses have: construction, source, group and what is asked.

    Args:
        rows: measure, value, chance, gold, chosen, decides, deciding, balanced, way, layer; and the groups and clusters
            of the pairs, with id and perhaps item.
        how: Whose pairs they are: of a benchmark the first of its groups is the construction.
    """
    named = rows.assign(pair_item=rows.get("item", rows["id"]), item=rows["id"]).reset_index(drop=True)
    if how.source == OWN_PAIRS:
        named = named.assign(source=named["words"], group="")
        if "sentence" in named:
            rivals = named.groupby("construction")["sentence"].transform("nunique") > 1
            named["sentence"] = named["sentence"].where(rivals, "")
    else:
        first, *others = how.cell
        groups = [", ".join(map(str, values)) for values in named[others].to_numpy().tolist()]
        construction = named[first].map(construction_of)
        named = named.assign(**dict.fromkeys(_TEXTS, "")).assign(
            construction=construction, source=how.source, group=groups, **{UNIT: ""}
        )
    named = named.assign(**{name: "" for name in (*_TEXTS, UNIT) if name not in named})
    named = named if "margin" in named else named.assign(margin=np.nan)
    clusters = [name for name in named if str(name).startswith(CLUSTER)]
    columns = [*_OF_MODEL, *dict.fromkeys(name for facet in FACETS for name in facet.columns), *KEPT, UNIT, *clusters]
    return named[columns]


def as_items(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the deciding decisions among responses as decided pairs: with id, item, words and accuracy."""
    decisions = responses[responses["deciding"] & (responses["measure"] == "accuracy") & (responses["way"] == "")]
    return decisions.drop(columns="measure").rename(columns=_AS_ITEMS)


def answered_variants(rates: pd.DataFrame, members: Sequence[Member], limit: float) -> pd.DataFrame:
    """Return the variants of pairs of meaning that a bag of words answers, so that they ask nothing of a construction.

    Args:
        rates: The accuracies in the variants of pairs of meaning with real words: model, construction, variant, value,
            low and any others.
        members: The models.
        limit: The accuracy above which a classifier on single words that was trained on other frames answers a variant,
            if its interval is above chance too.

    Returns:
        A row of ``rates`` for each such variant.
    """
    words = NgramFeatures(kind="word_ngrams", lengths=[1, 1])
    bags = [one.slug for one in members if isinstance(one.spec, PairClassifier) and one.spec.counts == words]
    answered = rates["model"].isin(bags) & (rates["value"] > limit) & (rates["low"] > HALF)
    return rates[answered].drop_duplicates(["construction", "variant"])


def answered_in(responses: pd.DataFrame, members: Sequence[Member], limit: float) -> pd.MultiIndex:
    """Return the construction and variant of each of `answered_variants`, given the responses of all models."""
    items = as_items(responses)
    meaning = items[(items["tests"] == "meaning") & (items["words"] == "real")]
    by_variant = rate_by(meaning.rename(columns={"accuracy": "value"}), "value", ["model", "construction", "variant"])
    return pd.MultiIndex.from_frame(answered_variants(by_variant, members, limit)[["construction", "variant"]])


def poolable(responses: pd.DataFrame, answered: pd.MultiIndex, tests: Sequence[str] = ("meaning", "")) -> pd.DataFrame:
    """Return the responses that a rate of several constructions may have, as of all constructions together.

    Args:
        responses: Those of all models.
        answered: Variants that are left out, see `answered_in`.
        tests: What their pairs test; "" for those of benchmarks.
    """
    is_answered = pd.MultiIndex.from_frame(responses[["construction", "variant"]]).isin(answered)
    kept = responses["tests"].isin(tests) & responses["balanced"] & ~is_answered
    return responses[kept].assign(construction=ALL)


def pool_pairs(responses: pd.DataFrame, answered: pd.MultiIndex) -> pd.DataFrame:
    """Return responses, and those to pairs of meaning in balanced cells as of all constructions together."""
    return pd.concat([responses, poolable(responses, answered)], ignore_index=True)


def with_ways(responses: pd.DataFrame, ways: pd.DataFrame) -> pd.DataFrame:
    """Return responses with those by each way of asking, which `cxprobe.tasks.pairs.ways.way_responses` returns."""
    back = {"id": "item", "item": "pair_item"}
    never = {"decides": False, "deciding": False, "balanced": True}
    named = ways.rename(columns=back).assign(
        source="real", chance=HALF, gold="", chosen="", scheme="", score="", **never
    )
    return pd.concat([responses, named[[*responses]]], ignore_index=True)


def further_rates(responses: pd.DataFrame, answered: pd.MultiIndex) -> pd.DataFrame:
    """Return what no facet gives: parts of margins, biases, rates of all pairs of form, and of the published design.

    Args:
        responses: Those of all models.
        answered: See `poolable`.

    Returns:
        Columns of `cxprobe.results.schema.RATES` up to chance, and decides. Of a margin "" is the part of what is
        meant, and the facet effect has the other parts (`cxprobe.tasks.pairs.margins`). Of biases the facets are
        compared (order or variant) and compared_noun_type. The facets tests and tests_way have what is no meaning, all
        constructions together; the facet origin the pairs of the published design.
    """
    if (responses["tests"] == "").all():  # of benchmarks
        return pd.DataFrame()
    pooled = pool_pairs(responses, answered)
    margins = pooled[(pooled["measure"] == "margin") & pooled["balanced"]]
    margins = margins.assign(margin=margins["value"], item=margins["pair_item"])
    effects = effects_on_margins(margins, [*KEYS])
    effects = effects.rename(columns={"margin": "value", "effect": "level"}).drop(columns="standardised")
    effects["facet"] = np.where(effects["level"] == MEANING, "", "effect")
    parts = [effects.assign(measure="margin", level=effects["level"].replace(MEANING, ""), ties=0, chance=np.nan)]
    parts += _rates_of_biases(responses, answered)
    apart = poolable(responses, answered, ["form", "control"])
    apart = apart[(apart["source"] == "real") & (apart["measure"] == "accuracy")]
    paper = responses["balanced"] & responses["deciding"] & (responses["measure"] == "accuracy")
    paper &= (responses["origin"] == "paper") & (responses["tests"] == "meaning") & (responses["source"] == "real")
    published = pd.concat([responses[paper].assign(construction=ALL), responses[paper]], ignore_index=True)
    for rows, facets in ((apart, _APART), (published, [Facet("origin", ["origin"])])):
        if len(rows):
            parts.append(rates_of(rows.assign(decides=False), facets))
    return pd.concat([part.assign(decides=False) for part in parts if len(part)], ignore_index=True)


def _rates_of_biases(responses: pd.DataFrame, answered: pd.MultiIndex) -> list[pd.DataFrame]:
    """Return both biases of the pairs of meaning with real words, and how many decisions change, as rates.

    Bias (i) is of constructions that have a switched form; bias (ii) of those that have two variants of the published
    design, without sentences that this project has added. All constructions together are those whose cells are all
    balanced.
    """
    items = as_items(responses).assign(source="real")
    meaning = items[(items["tests"] == "meaning") & (items["words"] == "real")]
    together = as_items(poolable(responses, answered, ["meaning"])).assign(source="real")
    whole = meaning.groupby(["model", "construction"])["balanced"].transform("all")
    together = together[together["id"].isin(meaning.loc[whole, "id"]) & (together["words"] == "real")]
    # Which ways a construction has is seen on its own rows, before all are one.
    together = together.merge(meaning[["id", "construction"]].drop_duplicates(), on="id", suffixes=("", "_of"))
    meaning = meaning.assign(construction_of=meaning["construction"])
    both, parts = pd.concat([meaning, together], ignore_index=True), []
    for column, part in (("order", both), ("variant", both[both["origin"] == "paper"])):
        two_ways = part[part.groupby("construction_of")[column].transform("nunique") == 2]
        for facet, by in (("compared", []), ("compared_noun_type", ["noun_type"])):
            table = bias_by(two_ways, column, [*KEYS, *by])
            level = column + ("." + table["noun_type"] if by else "")
            named = table.assign(facet=facet, level=level, ties=0, chance=np.nan)
            of_changes = {"changed_low": "low", "changed_high": "high", "changed": "value"}
            columns = [*KEYS, "facet", "level", "measure", "value", "low", "high", "n", "ties", "chance"]
            biases = named.rename(columns={"bias": "value"}).assign(measure="bias")
            changes = named.drop(columns=["low", "high"]).rename(columns=of_changes).assign(measure="changed")
            parts += [biases[columns], changes[columns]]
    return parts


def override(rates: pd.DataFrame, control_of: Mapping[str, str], members: Sequence[Member]) -> pd.DataFrame:
    """Return rates with controls and the verdicts beside them, fixed preferences, and the baseline of both orders.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES` but verdict.
        control_of: Construction -> its control.
        members: The models.

    Returns:
        ``rates`` with control and its numbers, verdict ("" where there is no control), prefers and has_verdict: pairs
        with pseudowords have none. The difference from a baseline of both orders is that of the accuracy, which is of
        all pairs.
    """
    place = ["model", "construction", "source"]
    whole = rates[rates["facet"] == ""]
    accuracy = whole[whole["measure"] == "accuracy"].set_index(place)
    differences = ["difference", "diff_low", "diff_high", "p_adjusted", "detectable"]
    is_both = (rates["measure"] == "both_orders") & (rates["facet"] == "")
    of_both = pd.MultiIndex.from_frame(rates.loc[is_both, place])
    result = rates.copy()
    result.loc[is_both, differences] = accuracy.reindex(of_both)[differences].to_numpy()
    best = best_baseline(rates[is_both].rename(columns={"value": "accuracy"}), place[1:], members)
    of_best = best.set_index(place[1:])["model"].reindex(of_both.droplevel(0)).fillna("")
    result.loc[is_both, "baseline"] = of_best.to_numpy()
    result["has_verdict"] = rates["source"] != "pseudo"
    return control_verdicts(_with_preferences(result, accuracy), control_of)


def _with_preferences(rates: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the column prefers: whether the model of a row has a fixed preference."""
    wordings = fixed_preferences(rates)
    prefers = []
    for row in rates.to_dict("records"):
        place = (row["model"], row["construction"], row["source"])
        if row["facet"] or row["measure"] not in ("accuracy", "both_orders"):
            prefers.append(False)
        elif row["measure"] == "accuracy":
            prefers.append(place in wordings)
        else:
            prefers.append(bool(row["high"] < CHANCE_IN_BOTH and accuracy.loc[place, "high"] >= HALF))
    return rates.assign(prefers=prefers)


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


def construction_of(group: object) -> str:
    """Return the name of a group as the construction of a run, which is a part of paths; "none" for an empty text."""
    return str(group).replace("/", "_") or "none"
