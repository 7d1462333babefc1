"""Minimal pairs evaluated: the right text must be preferred, strictly; responses and rates of any number of models.

The raw answers of a model become a margin for each pair: the score of the right text less that of the wrong one under
each scheme and score of a language model; the preference of a rule (scheme "rule", score "preference"); or the choice
in words (scheme "reply", score "asked", see `cxprobe.tasks.pairs.replies`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.models.params import ContinuationAlone, Member, NgramFeatures, PairClassifier
from cxprobe.models.scores import SCORES, score_pairs
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.rates import ALL, Facet, rates_of
from cxprobe.results.schema import CHANCE_IN_BOTH, HALF, KEYS, OF_DIFFERENCE, RESPONSES
from cxprobe.results.verdict import CONDITION
from cxprobe.stats import CLUSTER, UNIT, credits_of_margins, difference_by, mean_by, rate_by
from cxprobe.tasks.pairs.balance import CELL, with_balance
from cxprobe.tasks.pairs.contrast_rates import SUM, contrast_rows, with_contrast_verdicts
from cxprobe.tasks.pairs.params import AskedPairs, PairsParams
from cxprobe.tasks.pairs.sources import CONTRAST, CONTRASTS, FRAME, OWN_PAIRS, first_items, with_units

RULE, REPLY = "rule", "reply"  # schemes
RULE_SCORE, ASKED = "preference", "asked"  # scores
REPLIES = ("consistency", "position_bias", "unparsed", "failed")
"""Measures of replies in words beside their accuracy, see `cxprobe.tasks.pairs.replies`."""
_ITEM = ("construction", "tests", "words", "item", "variant", "sentence")  # what has two orders
KEPT = ("deciding", "balanced", "tests", "origin", "order", "place", "pair_item", "margin")
"""Columns of the responses beside those of facets: whether the scheme and score decide; whether no single answer is
always right in the pair's cell; groups of the pair and its item (pair_item); and the margin of a decision."""
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
    Facet(CONDITION, ["sentence"], ("contrast", "above_zero"), has_verdicts=True, is_compared=False),
)
# Of the pairs of all constructions together that do not test meaning.
_APART = (
    Facet("tests", ["tests"], where="balanced and deciding"),
    Facet("tests_way", ["tests", "way"], where="way != '' and layer == ''"),
)
_OF_MODEL = [name for name in RESPONSES if name not in ("task", "model")]
_PLACE = ["model", "construction", "source"]
_OF_OWN_PAIRS = ("tests", "variant", "sentence", "noun_type", "origin", "order", "place", UNIT)
_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys([*_OF_OWN_PAIRS, "gold", "chosen"], ""),
    **dict.fromkeys(["margin", "chance"], np.nan),
    **dict.fromkeys(["decides", "deciding"], False),
}
"""Column of the responses -> its value where nothing else is known."""


class EvaluationConfig(NamedTuple):
    """The settings by which the pairs of a source are decided.

    Attributes:
        source: `OWN_PAIRS`, or the name of a benchmark.
        scheme: For masked models, the scheme that decides.
        score: The score that decides.
        scores: All scores that are evaluated.
        cell: The columns that make the cells, see `cxprobe.tasks.pairs.balance`; those that a benchmark is reported by.
        shifts: Whether the margin of an item is the shift from its control, see `paired_focus_shifts`.
    """

    source: str
    scheme: str
    score: str
    scores: Sequence[str]
    cell: Sequence[str] = CELL
    shifts: bool = False

    @classmethod
    def of(cls, params: PairsParams, source: str = OWN_PAIRS) -> "EvaluationConfig":
        """Return the settings of a source in params.yaml."""
        if source == OWN_PAIRS:
            return cls(OWN_PAIRS, params.evaluate.scheme, params.evaluate.score, params.evaluate.scores)
        benchmark = params.benchmarks[source]
        scores = [*dict.fromkeys([benchmark.score, *SCORES])]
        shifts = benchmark.format == "paired_focus"
        return cls(source, params.evaluate.scheme, benchmark.score, scores, benchmark.by, shifts)


def pairs_for(member: Member, pairs: pd.DataFrame, asked: Mapping[str, AskedPairs]) -> pd.DataFrame:
    """Return the pairs of a model: all, or the first of each cell (`PairsParams.models`).

    A model that is shown the continuation alone has pairs with a context; on others it would be no baseline.
    """
    pairs = first_items(pairs, asked.get(member.entry, AskedPairs()))
    return pairs[pairs["context"] != ""] if isinstance(member.spec, ContinuationAlone) else pairs


def decide_pairs(pairs: pd.DataFrame, answers: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Decide every pair by the raw answers of one model: the right member must score higher, strictly.

    Args:
        pairs: Columns id, item, context, good, bad, groups, and ``cluster_<name>``.
        answers: The table of token scores, or of preferences (id and margin, see `cxprobe.tasks.pairs.baselines`), that
            the measuring stage wrote.
        how: The settings. Of preferences only the cells and shifts count. A score that needs a context leaves this
            project's pairs without one undecided.

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
    return credit_pairs(pairs, answers[["id", "margin"]].assign(scheme=RULE, score=RULE_SCORE), how)


def credit_pairs(pairs: pd.DataFrame, margins: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Turn margins into decisions, and find the cells in which one answer is always right.

    Args:
        pairs: See `decide_pairs`; also those without a margin, since which cells are balanced follows from all.
        margins: One row a pair, scheme and score: id, scheme, score and margin.
        how: The settings.

    Returns:
        One row a pair, scheme and score: the pair without its texts; right, wrong and balanced
        (`cxprobe.tasks.pairs.balance`); scheme, score and margin; accuracy, 1, 0, or 0.5 for a tie; and deciding,
        whether the scheme and score decide.

    Raises:
        DataError: A margin is not finite.
    """
    pairs = with_balance(pairs, how.cell)
    pairs = with_units(pairs) if how.source == OWN_PAIRS else pairs
    scores = pairs.drop(columns=["context", "good", "bad"]).merge(margins, on="id", validate="one_to_many")
    if how.shifts:
        # A model that replies in words may have an answer to one of the two rows alone.
        both = scores.groupby(["scheme", "score", "item"])["row"].transform("nunique") == 2
        scores = paired_focus_shifts(scores[both] if (scores["scheme"] == REPLY).all() else scores)
    deciding = _is_by(scores, how.scheme, how.score)
    return scores.assign(accuracy=credits_of_margins(scores["margin"].to_numpy(np.float64)), deciding=deciding)


def _is_by(scores: pd.DataFrame, scheme: str, score: str) -> "pd.Series[bool]":
    """Return which rows are by a scheme and score; a causal model, a rule and replies have one of their own each."""
    return scores["scheme"].isin(["causal", scheme, RULE, REPLY]) & scores["score"].isin([score, RULE_SCORE, ASKED])


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
    """Return the credit of each item that was decided in both orders of two people, 1 if it is right in both.

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
    two = _right_in_all(in_two_orders(items), _keys_of(items))
    return two.assign(**{UNIT: two[FRAME]})


def _keys_of(items: pd.DataFrame) -> list[str]:
    return [key for key in _ITEM if key in items]


def _right_in_all(items: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the first row of each group of decided pairs, with the product of the group's credits."""
    credits = items.groupby(keys, sort=False, as_index=False)["accuracy"].prod()
    first = items.drop_duplicates(keys).drop(columns="accuracy")
    return first.merge(credits, on=keys, validate="one_to_one")


def every_variant(items: pd.DataFrame) -> pd.DataFrame:
    """Return the credit of each item of form, 1 if it is right in all of its variants.

    Args:
        items: Decided pairs of one model.

    Returns:
        The first row of each item, whose accuracy is the product of its credits: a tie in one variant is a half, in two
        a quarter; and chance, the mean over the construction of what guesses get. Without the clusters of wordings.
    """
    form = items[items["tests"] == "form"].drop(columns=f"{CLUSTER}wording", errors="ignore")
    keys = ["construction", "words", "item"]
    guessed = HALF ** form.groupby(keys, sort=False)["accuracy"].size()
    chance = guessed.groupby(["construction", "words"]).mean().rename("chance")
    first = _right_in_all(form, keys).drop(columns="chance", errors="ignore")
    return first.merge(chance, on=["construction", "words"], how="left", validate="many_to_one")


def pair_responses(decided: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return the responses of one model to the pairs of a source.

    Args:
        decided: What `credit_pairs` returns.
        how: Whose pairs they are.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task and model; those of `FACETS` and `KEPT`; and the
        clusters. The accuracy by the deciding score in balanced cells decides, and beside it whether both
        orders are right. The margins of language models are of items that were decided in both orders.
    """
    parts = [pd.DataFrame()]
    if how.source == OWN_PAIRS:
        is_contrast = decided["tests"] == CONTRAST
        parts = [contrast_rows(decided[is_contrast & _is_by(decided, how.scheme, SUM)])]
        decided = decided[~is_contrast]
    credits = decided["accuracy"]
    accuracy = decided.assign(
        measure="accuracy",
        chance=HALF,
        gold="good",
        chosen=np.select([credits == 1, credits == 0], ["good", "bad"], ""),
    )
    parts.append(accuracy)
    if how.source == OWN_PAIRS:
        others = decided[decided["deciding"]].assign(margin=np.nan)
        likely = in_two_orders(decided[decided["deciding"] & ~decided["scheme"].isin([RULE, REPLY])])
        variants = every_variant(others[others["balanced"]])
        parts += [
            both_orders(others).assign(measure="both_orders", chance=CHANCE_IN_BOTH),
            likely.assign(measure="margin", accuracy=likely["margin"], margin=np.nan, deciding=False),
            variants.assign(measure="every_variant", deciding=False),
        ]
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    named = rows.rename(columns={"accuracy": "value"}).fillna({"gold": "", "chosen": ""})
    return as_responses(named.assign(decides=rows["deciding"] & rows["balanced"]), how)


def as_responses(rows: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return rows about pairs as responses: with their construction, source and group, and the columns that they lack.

    Args:
        rows: measure, value and balanced; id and perhaps item; the groups and clusters of the pairs; and any columns of
            responses.
        how: Whose pairs they are: of a benchmark the first of its groups is the construction.
    """
    named = rows.assign(pair_item=rows.get("item", rows["id"]), item=rows["id"], way="", layer="").reset_index(
        drop=True
    )
    if how.source == OWN_PAIRS:
        named = named.assign(source=named["words"], group="")
        if "sentence" in named:
            rivals = named.groupby("construction")["sentence"].transform("nunique") > 1
            named["sentence"] = named["sentence"].where(rivals, "")
    else:
        first, *others = how.cell
        groups = [", ".join(map(str, values)) for values in named[others].to_numpy().tolist()]
        named = named.assign(construction=named[first].str.replace("/", "_"), source=how.source, group=groups)
        named = named.drop(columns=[name for name in _OF_OWN_PAIRS if name in named])
    named = named.assign(**{name: value for name, value in _DEFAULTS.items() if name not in named})
    clusters = [name for name in named if str(name).startswith(CLUSTER)]
    columns = [*_OF_MODEL, *dict.fromkeys(name for facet in FACETS for name in facet.columns), *KEPT, UNIT, *clusters]
    return named[columns]


def decisions_of(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the responses that are decisions by the scheme and score that decide, in whatever cell."""
    return responses[responses["deciding"] & (responses["measure"] == "accuracy")]


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


def pool_pairs(responses: pd.DataFrame, members: Sequence[Member], limit: float) -> pd.DataFrame:
    """Return responses, and those to pairs of meaning in balanced cells as of all constructions together.

    Args:
        responses: Those of all models.
        members: The models.
        limit: See `answered_variants`, whose variants are left out.
    """
    decisions = decisions_of(responses)
    meaning = decisions[(decisions["tests"] == "meaning") & (decisions["source"] == "real")]
    variant = ["construction", "variant"]
    answered = answered_variants(rate_by(meaning, "value", ["model", *variant]), members, limit)
    is_answered = pd.MultiIndex.from_frame(responses[variant]).isin(pd.MultiIndex.from_frame(answered[variant]))
    kept = responses["tests"].isin(["meaning", ""]) & responses["balanced"] & ~is_answered
    return pd.concat([responses, responses[kept].assign(construction=ALL)], ignore_index=True)


def further_rates(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the rates that no facet gives: margins, biases, all pairs of form, and the published design.

    Args:
        responses: What `pool_pairs` returns.

    Returns:
        Columns of `cxprobe.results.schema.RATES` up to chance, and decides. Of biases the facets are compared (order or
        variant) and compared_noun_type. The facets tests and tests_way have what is no meaning, all constructions
        together; the facet origin the pairs of the published design.
    """
    if (responses["tests"] == "").all():  # of benchmarks
        return pd.DataFrame()
    margins = responses[(responses["measure"] == "margin") & responses["balanced"]]
    # Both places of the right person count alike, so that a preference for one of them cancels.
    of_places = margins.groupby([*KEYS, FRAME, "place"], sort=False)["value"].mean().reset_index()
    means = mean_by(of_places, "value", FRAME, KEYS)
    means = means[means["low"] < means["high"]]  # without those of one frame, or whose frames are all the same
    parts = [means.assign(facet="", level="", measure="margin", ties=0, chance=np.nan)]
    parts += _rates_of_biases(decisions_of(responses))
    of_single = responses[(responses["construction"] != ALL) & (responses["source"] == "real")]
    balanced = of_single[of_single["balanced"] & (of_single["measure"] == "accuracy")]
    apart = balanced[balanced["tests"].isin(["form", "control"])].assign(construction=ALL)
    paper = decisions_of(balanced[(balanced["origin"] == "paper") & (balanced["tests"] == "meaning")])
    published = pd.concat([paper.assign(construction=ALL), paper], ignore_index=True)
    for rows, facets in ((apart, _APART), (published, [Facet("origin", ["origin"])])):
        if len(rows):
            parts.append(rates_of(rows.assign(decides=False), facets))
    return pd.concat([part.assign(decides=False) for part in parts if len(part)], ignore_index=True)


def _rates_of_biases(decisions: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield both biases of the pairs of meaning with real words, and how many decisions change, as rates.

    Bias (i) is of constructions that have a switched form; bias (ii) of those that have two variants of the published
    design, without sentences that this project has added. All constructions together are those whose cells are all
    balanced.
    """
    meaning = decisions[(decisions["tests"] == "meaning") & (decisions["source"] == "real")]
    is_all = meaning["construction"] == ALL
    single = meaning[~is_all]
    whole = single.groupby(["model", "construction"])["balanced"].transform("all")
    together = meaning[is_all & meaning["item"].isin(single.loc[whole, "item"])]
    # Which ways a construction has is seen on its own rows, before all are one.
    construction_of_item = dict(zip(single["item"], single["construction"], strict=True))
    both = pd.concat([single, together], ignore_index=True)
    both = both.assign(own_construction=both["item"].map(construction_of_item))
    for column, part in (("order", both), ("variant", both[both["origin"] == "paper"])):
        two_ways = part[part.groupby("own_construction")[column].transform("nunique") == 2]
        yield biases(two_ways, column, KEYS).assign(facet="compared", level=column)
        by_noun_type = biases(two_ways, column, [*KEYS, "noun_type"])
        level = column + "." + by_noun_type.pop("noun_type")
        yield by_noun_type.assign(facet="compared_noun_type", level=level)


def biases(decisions: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the bias between two ways of asking about the same items, and the share of changed decisions, as rates.

    With ``column="order"`` it is bias (i), |mean(original) - mean(switched)|; with ``column="variant"`` bias (ii),
    |mean(A) - mean(B)|, a preference for one diagnostic. A difference of 0 lies on the edge of what |difference| can
    be, so where the difference's interval has 0 in it, the bias's begins there.

    Bias (i) compares means, and people are drawn into both seats equally often: a model that always prefers the same
    one of two names is right in half of the original and half of the switched pairs and has no bias (i). What gives
    it away is ``changed``, the share of items whose decision is right in one order and wrong in the other (a tie
    against a decision counts as half): near 1 for such a model, 0 for one that understands.

    Args:
        decisions: Decisions on constructions that have two ways of asking. Items of which only one was decided, as of
            a model that replies in words, are left out.
        column: "order" or "variant".
        by: The columns that make the groups, such as noun_type.

    Returns:
        The columns of ``by``; measure, bias or changed; value, low, high, n, ties and chance.

    Source:
        Oba & Sugawara 2026, biases (i) and (ii); ``changed`` is the decision flip of Weissweiler et al. 2022.
    """
    keys = [*by, "pair_item", *(name for name in ("variant", "sentence", "order") if name != column)]
    position = decisions.groupby(keys, sort=False).cumcount()  # of a way of asking about an item: 0 or 1
    second = decisions.loc[position == 1, [*keys, "value"]].rename(columns={"value": "other"})
    both = decisions[position == 0].merge(second, on=keys, validate="one_to_one")
    table = difference_by(both, "value", "other", by)
    low, high = table["low"], table["high"]
    bias = table.assign(
        measure="bias",
        value=table["difference"].abs(),
        low=np.where((low <= 0) & (high >= 0), 0.0, np.minimum(low.abs(), high.abs())),
        high=np.maximum(low.abs(), high.abs()),
    )
    changed = rate_by(both.assign(value=(both["value"] - both["other"]).abs()), "value", by).assign(measure="changed")
    return pd.concat([bias.drop(columns="difference"), changed], ignore_index=True).assign(ties=0, chance=np.nan)


def fixed_preferences(rates: pd.DataFrame) -> "pd.Index[Any]":
    """Return the models that are mostly wrong in one wording of a construction's pairs and mostly right in another.

    Pairs are grouped by the wording of what is asked and, where there are rivals, by whether the sentence has the
    construction: within such a group one answer, or one rule, may be right in all pairs. "Mostly" means that the 95 %
    interval does not contain a half.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of minimal pairs.

    Returns:
        Their model, construction and source.
    """
    of_wordings = rates[rates["facet"].isin(["variant", "sentence"]) & (rates["construction"] != ALL)]
    has_rivals = of_wordings["facet"].eq("sentence").groupby([of_wordings[name] for name in _PLACE]).transform("any")
    asked = of_wordings[(of_wordings["facet"] == "sentence") | ~has_rivals]
    places = asked.sort_values("value").groupby(_PLACE)
    return places.size().index[(places["high"].first() < HALF) & (places["low"].last() > HALF)]


def override(rates: pd.DataFrame, meaning: Collection[str], members: Sequence[Member]) -> pd.DataFrame:
    """Return rates with the verdicts that do not follow from the rate alone, and the baseline of both orders.

    On meaning single pairs have none: `cxprobe.tasks.pairs.contrast_rates.with_contrast_verdicts` has it. An accuracy
    of form is above chance only if items are right in all of their variants more often than by guessing: its mean may
    come from some variants alone.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES` but those of controls, and verdict.
        meaning: The constructions whose single pairs test meaning.
        members: The models.

    Returns:
        ``rates`` with control, control_low, control_high and control_n; prefers, verdict ("" where the rules of
        `cxprobe.results.verdict.with_verdicts` decide), and has_verdict: pairs with pseudowords have none. The
        difference from a baseline of both orders is that of the accuracy, which is of all pairs.
    """
    whole, is_real = rates["facet"] == "", rates["source"] != "pseudo"
    is_accuracy, is_both, is_every = (
        whole & (rates["measure"] == measure) for measure in ("accuracy", "both_orders", "every_variant")
    )
    places = pd.MultiIndex.from_frame(rates[_PLACE])
    accuracy = rates[is_accuracy].set_index(_PLACE).reindex(places).set_axis(rates.index)  # of the place of each row
    best = best_baseline(rates[is_both].rename(columns={"value": "accuracy"}), _PLACE[1:], members)
    of_best = best.set_index(_PLACE[1:])["model"].reindex(places.droplevel(0)).fillna("")
    result = with_contrast_verdicts(rates)
    result.loc[is_both, OF_DIFFERENCE] = accuracy.loc[is_both, OF_DIFFERENCE]
    result["baseline"] = result["baseline"].mask(is_both, of_best.to_numpy())
    in_one_order = (rates["high"] < CHANCE_IN_BOTH) & (accuracy["high"] >= HALF)
    in_one_wording = places.isin(fixed_preferences(rates))
    lopsided = rates.loc[is_every & (rates["low"] <= rates["chance"]), _PLACE]
    some_variants = is_accuracy & (rates["low"] > HALF) & places.isin(pd.MultiIndex.from_frame(lopsided))
    is_of_meaning = whole & (rates["source"] == "real") & rates["construction"].isin(meaning)
    verdict = result["verdict"].mask(some_variants, "some_variants")
    return result.assign(
        prefers=(is_accuracy & in_one_wording) | (is_both & in_one_order),
        has_verdict=result["has_verdict"] & is_real & ~is_every,
        verdict=verdict.mask(is_of_meaning, "no_control"),
    )


def question_of(row: Mapping[Any, Any], tests_of: Mapping[str, str], contrasts: Collection[str]) -> str:
    """Return the question that a rate with a verdict answers; "" where a contrast or an accuracy answers it.

    Args:
        row: A row of the rates.
        tests_of: Construction -> what its own pairs test: "meaning", "form" or "control".
        contrasts: The constructions that have contrasts, which say more of their meaning than single pairs.

    Returns:
        "meaning" or "form", or the name of a benchmark.
    """
    if row["source"] == CONTRASTS:
        return "meaning"
    if row["measure"] != "accuracy":
        return ""
    if row["source"] != "real":
        return str(row["source"])
    tests = tests_of[row["construction"]]
    return "" if tests == "control" or (tests == "meaning" and row["construction"] in contrasts) else tests
