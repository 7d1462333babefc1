"""Minimal pairs evaluated: the right text must be preferred, strictly; responses and rates of any number of models.

The raw answers of a model become a margin for each pair: the score of the right text less that of the wrong one under
each scheme and score of a language model; the preference of a rule (scheme "rule", score "preference"); or the choice
in words (scheme "reply", score "asked"): the mean over the replies that could be read, 1 where the right text is chosen
in either order and 0.5 where the choice changes with the order. A pair of which no reply could be read is left out, and
is not wrong.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.models.params import ContinuationAlone, Member
from cxprobe.models.replies import evaluate_reply
from cxprobe.models.scores import GIVEN_CONTEXT, SCORES, score_pairs
from cxprobe.models.texts import read_pair_answers
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.evaluate import Evaluation
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL, Facet, columns_of, rates_of, with_further
from cxprobe.results.schema import CHANCE_IN_BOTH, HALF, HAS_VERDICT, KEYS, OF_DIFFERENCE, RESPONSES
from cxprobe.run.stage import Stage
from cxprobe.stats import CLUSTER, UNIT, cluster_columns, credits_of_margins, difference_by
from cxprobe.tasks.pairs.params import AskedPairs, EvaluatePairs, PairsStage
from cxprobe.tasks.pairs.sources import OWN_PAIRS, first_items, folder_of, read_sources, unbalanced_cells, with_balance

RULE, REPLY = "rule", "reply"  # schemes
RULE_SCORE, ASKED = "preference", "asked"  # scores
REPLIES = ("position_bias", "unparsed", "failed")
"""Measures of replies in words beside their accuracy, see `reply_responses`."""
FRAME = f"{CLUSTER}frame"
"""The column of the frame that a pair is made of."""
KEPT = ("deciding", "tests", "origin", "order", "pair_item", "margin")
"""Columns of the responses beside those of facets: whether the scheme and score decide; groups of the pair and its item
(pair_item); and the margin of a decision."""
WHOLE = Facet(
    measures=("accuracy", "both_orders", "every_variant", *REPLIES),
    where="decides or measure not in ['accuracy', 'both_orders']",
    has_verdicts=True,
    family=("source", "tests"),
    compared="source != 'pseudo'",
    is_all_tested=True,
)
FACETS = (
    WHOLE,
    Facet(
        ["group"],
        ("accuracy", *REPLIES),
        "group != '' and (deciding or measure != 'accuracy')",
        has_verdicts=True,
        family=("source",),
    ),
    Facet(["variant"], where="deciding and variant != ''"),
    Facet(["variant", "sentence"], where="deciding and sentence != ''"),
    Facet(["noun_type"], where="decides and noun_type not in ['', 'none']", in_git=False),
    Facet(["scheme", "score"], where="not deciding", in_git=False),
)
_TEXTS = ("context", "good", "bad")
_PLACE = ["model", "construction", "source"]
_COLUMNS = [
    *(name for name in RESPONSES if name not in ("task", "model", "question")),
    *columns_of(FACETS),
    *KEPT,
    UNIT,
]


def pairs_for(member: Member, pairs: pd.DataFrame, asked: Mapping[str, AskedPairs]) -> pd.DataFrame:
    """Return the pairs of a model: all, or the first of each cell (pairs.models of params.yaml).

    A model that is shown the continuation alone has pairs with a context; on others it would be no baseline.
    """
    pairs = first_items(pairs, asked.get(member.entry, AskedPairs()))
    return pairs[pairs["context"] != ""] if isinstance(member.spec, ContinuationAlone) else pairs


def decide_pairs(pairs: pd.DataFrame, answers: pd.DataFrame, how: EvaluatePairs) -> pd.DataFrame:
    """Decide every pair by the raw answers of one model: the right member must score higher, strictly.

    Args:
        pairs: Columns id, item, context, good, bad, groups, and ``cluster_<name>``.
        answers: The table of token scores, or of preferences (id and margin, see `cxprobe.tasks.pairs.measure`), that
            the measuring stage wrote.
        how: The settings. A score that needs a context leaves this project's pairs without one undecided.

    Returns:
        See `credit_pairs`.

    Raises:
        DataError: A pair has no preference; a margin is not finite; or see `cxprobe.models.scores.score_pairs`.
    """
    if "margin" not in answers:
        margins = score_pairs(pairs, answers, [*SCORES, GIVEN_CONTEXT])
        return credit_pairs(pairs, margins.drop(columns=["good", "bad"]), how)
    if lacking := sorted(set(pairs["id"]) - set(answers["id"])):
        raise DataError(f"{len(lacking)} of {len(pairs)} pairs have no preference, such as {lacking[0]}; measure again")
    return credit_pairs(pairs, answers[["id", "margin"]].assign(scheme=RULE, score=RULE_SCORE), how)


def credit_pairs(pairs: pd.DataFrame, margins: pd.DataFrame, how: EvaluatePairs) -> pd.DataFrame:
    """Turn margins into decisions, and find the cells in which one answer is always right.

    Args:
        pairs: See `decide_pairs`; also those without a margin, since which cells are balanced follows from all.
        margins: One row a pair, scheme and score: id, scheme, score and margin.
        how: The settings.

    Returns:
        One row a pair, scheme and score: the pair without its texts; right, wrong and balanced
        (`cxprobe.tasks.pairs.sources`); scheme, score and margin; accuracy, 1, 0, or 0.5 for a tie; and deciding,
        whether the scheme and score decide: a causal model, a rule and replies have one of their own each.

    Raises:
        DataError: A margin is not finite.
    """
    pairs = with_units(with_balance(pairs)).drop(columns=[*_TEXTS])
    scores = pairs.merge(margins, on="id", validate="one_to_many")
    by_scheme = scores["scheme"].isin(["causal", how.scheme, RULE, REPLY])
    deciding = by_scheme & scores["score"].isin([how.score, RULE_SCORE, ASKED])
    return scores.assign(accuracy=credits_of_margins(scores["margin"]), deciding=deciding)


def with_units(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with the column unit (`cxprobe.stats.rate_by`): the frame of those that are asked in two orders.

    Pairs of meaning and controls whose frames have one order have units too: there each of two answers is right in half
    of the pairs of a frame.

    Args:
        pairs: Those without the columns order and cluster_frame have no units.
    """
    if not {"order", FRAME} <= {*pairs.columns}:
        return pairs
    keys = [column for column in ("construction", "words", FRAME) if column in pairs]
    united = pairs.groupby(keys)["order"].transform("nunique") > 1
    if "tests" in pairs:
        united |= pairs["tests"] != "form"
    return pairs.assign(**{UNIT: pairs[FRAME].where(united, "")})


def both_orders(items: pd.DataFrame) -> pd.DataFrame:
    """Return the credit of each item that was decided in both orders of two people, 1 if it is right in both.

    A model that prefers a name is right in one order and wrong in the other: half of its answers are right, but it is
    hardly ever right in both orders. One that guesses is right in both in a quarter of the items.

    Args:
        items: Decided pairs of one model, with cluster_frame; those that were decided in one order alone are left out.
            Of the columns that tell what an item is asked about, any but item and order may be absent, as from a user's
            file.

    Returns:
        The first row of each item, whose accuracy is the product of its credits (a tie is a guess, and two are right in
        a quarter of the cases), and whose unit is its frame.

    Source:
        Oba & Sugawara 2026, section on pairs that are switched, for the two orders; the number is our own.
    """
    keys = [key for key in ("construction", "tests", "words", "item", "variant", "sentence") if key in items]
    in_two = items[items.groupby(keys)["order"].transform("nunique") == 2]
    credited = _right_in_all(in_two, keys)
    return credited.assign(**{UNIT: credited[FRAME]})


def _right_in_all(items: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the first row of each group of decided pairs, with the product of the group's credits."""
    products = items.groupby(keys)["accuracy"].transform("prod")
    return items.assign(accuracy=products).drop_duplicates(keys).reset_index(drop=True)


def every_variant(items: pd.DataFrame) -> pd.DataFrame:
    """Return the credit of each item of form, 1 if it is right in all of its variants.

    Args:
        items: Decided pairs of one model.

    Returns:
        The first row of each item, whose accuracy is the product of its credits: a tie in one variant is a half, in two
        a quarter; and chance, the mean over the construction of what guesses get. Without the clusters of wordings.
    """
    form, kind = items[items["tests"] == "form"], ["construction", "words"]
    guessed = HALF ** form.groupby([*kind, "item"])["item"].transform("size")
    first = _right_in_all(form.assign(chance=guessed), [*kind, "item"])
    chance = first.groupby(kind)["chance"].transform("mean")
    return first.drop(columns=f"{CLUSTER}wording", errors="ignore").assign(chance=chance)


def pair_responses(decided: pd.DataFrame) -> pd.DataFrame:
    """Return the responses of one model to the pairs of a source.

    Args:
        decided: What `credit_pairs` returns; benchmarks lack the column tests.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task and model; those of `FACETS` and `KEPT`; and the
        clusters. The accuracy by the deciding score decides, and beside it whether both orders are right; but not in a
        cell in which one answer is always right, where no other score has responses.
    """
    decided = decided[decided["balanced"] | decided["deciding"]]
    decided = decided.assign(decides=decided["deciding"] & decided["balanced"])
    chosen = decided["accuracy"].map({1.0: "good", 0.0: "bad"}).fillna("")
    parts = [decided.assign(measure="accuracy", chance=HALF, gold="good", chosen=chosen)]
    if "tests" in decided:
        others = decided[decided["deciding"]].assign(margin=np.nan)
        variants = every_variant(others[others["decides"]])
        parts.append(both_orders(others).assign(measure="both_orders", chance=CHANCE_IN_BOTH))
        parts.append(variants.assign(measure="every_variant", deciding=False, decides=False))
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return _as_responses(rows.rename(columns={"accuracy": "value"}))


def _as_responses(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows about pairs as responses, with their question; a text that is not known is empty.

    Args:
        rows: measure, value, decides, deciding and id; the groups and clusters of the pairs; and any columns of
            responses.
    """
    named = rows.rename(columns={"item": "pair_item", "id": "item"})
    texts = [name for name in _COLUMNS if name not in ("chance", "margin")]
    named = named.assign(**{name: "" for name in texts if name not in named}).fillna(dict.fromkeys(texts, ""))
    named = named.reindex(columns=[*_COLUMNS, *cluster_columns(named)])
    has_rivals = named.groupby("construction")["sentence"].transform("nunique") > 1
    # Of a benchmark the question is its name.
    questions = named["tests"].mask(named["tests"] == "", named["source"]).replace("control", "")
    questions = questions.mask((named["scheme"] == REPLY) & questions.isin(["form", "meaning"]), "words")
    is_single = (named["measure"] == "accuracy") & (named["source"] != "pseudo")
    return named.assign(sentence=named["sentence"].where(has_rivals, ""), question=questions.where(is_single, ""))


def pool_pairs(responses: pd.DataFrame) -> pd.DataFrame:
    """Return responses, and those to pairs of meaning, or of a benchmark, as of all constructions together.

    Pairs in whose cell one answer is always right are in no rate of several constructions.
    """
    one_answer = responses["deciding"] & ~responses["decides"]
    kept = responses["tests"].isin(["meaning", ""]) & ~one_answer
    return pd.concat([responses, responses[kept].assign(construction=ALL)], ignore_index=True)


def further_rates(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the rates that no facet gives: biases, all pairs of form and of controls, and the published design.

    Args:
        responses: What `pool_pairs` returns.

    Returns:
        Columns of `cxprobe.results.schema.RATES` up to chance, and decides: the biases by what is compared and the noun
        type; the accuracies by tests of what is no meaning, all constructions together; and those by origin of the
        pairs of the published design.
    """
    decisions = responses.query("deciding and measure == 'accuracy' and source == 'real' and construction != @ALL")
    meaning, deciding = decisions[decisions["tests"] == "meaning"], decisions[decisions["decides"]]
    apart = deciding[deciding["tests"].isin(["form", "control"])].assign(construction=ALL)
    paper = deciding[(deciding["tests"] == "meaning") & (deciding["origin"] == "paper")]
    published = pd.concat([paper.assign(construction=ALL), paper], ignore_index=True)
    parts = [*_rates_of_biases(meaning)]
    parts += [rates_of(rows, [Facet([name])]) for name, rows in (("tests", apart), ("origin", published)) if len(rows)]
    parts = [part for part in parts if len(part)] or [pd.DataFrame()]
    return pd.concat(parts, ignore_index=True).assign(decides=False)


def _rates_of_biases(decisions: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield both biases by noun type, as rates.

    Bias (i) is of constructions that have a switched form; bias (ii) of those that have two variants of the published
    design, without sentences that this project has added. All constructions together are those in none of whose cells
    one answer is always right.

    Args:
        decisions: Decisions on pairs of meaning with real words.
    """
    own = decisions.assign(own_construction=decisions["construction"])
    whole = own.groupby(["model", "construction"])["decides"].transform("all")
    both = pd.concat([own, own[whole].assign(construction=ALL)], ignore_index=True)
    for column, part in (("order", both), ("variant", both[both["origin"] == "paper"])):
        two_ways = part[part.groupby("own_construction")[column].transform("nunique") == 2]
        yield biases(two_ways, column, [*KEYS, "noun_type"]).assign(compared=column)


def biases(decisions: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the bias between two ways of asking about the same items, as rates.

    With ``column="order"`` it is bias (i), |mean(original) - mean(switched)|; with ``column="variant"`` bias (ii),
    |mean(A) - mean(B)|, a preference for one diagnostic. A difference of 0 lies on the edge of what |difference| can
    be, so where the difference's interval has 0 in it, the bias's begins there.

    Args:
        decisions: Decisions on constructions that have two ways of asking. Items of which only one was decided, as of
            a model that replies in words, are left out.
        column: "order" or "variant".
        by: The columns that make the groups, such as noun_type.

    Returns:
        The columns of ``by``; measure, value, low, high, n, ties and chance.

    Source:
        Oba & Sugawara 2026, biases (i) and (ii).
    """
    keys = [*by, "pair_item", *(name for name in ("variant", "sentence", "order") if name != column)]
    ways = decisions.groupby(keys)["value"]
    in_two = decisions.assign(other=ways.transform("last"))[ways.transform("size") == 2]
    table = difference_by(in_two.drop_duplicates(keys), "value", "other", by)
    may_be_none = (table["low"] <= 0) & (table["high"] >= 0)
    ends = table[["low", "high"]].abs()
    size, low = table["difference"].abs(), ends.min(axis=1).mask(may_be_none, 0.0)
    sizes = table.drop(columns="difference").assign(measure="bias", value=size, low=low, high=ends.max(axis=1))
    return sizes.assign(ties=0, chance=np.nan)


def override(rates: pd.DataFrame, meaning: Collection[str], members: Sequence[Member]) -> pd.DataFrame:
    """Return rates with the verdicts that do not follow from the rate alone, and the baseline of both orders.

    On meaning single pairs have none: they have no control. An accuracy of form is above chance only if items are right
    in all of their variants more often than by guessing: its mean may come from some variants alone.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES` but those of controls, and verdict.
        meaning: The constructions whose single pairs test meaning.
        members: The models.

    Returns:
        ``rates`` with verdict ("" where the rules of
        `cxprobe.results.verdict.with_verdicts` decide), and has_verdict: pairs with pseudowords have none. The
        difference from a baseline of both orders is that of the accuracy, which is of all pairs.
    """
    whole, measure = WHOLE.among(rates), rates["measure"]
    is_both, is_every = whole & (measure == "both_orders"), whole & (measure == "every_variant")
    result = rates.assign(verdict="")
    result[HAS_VERDICT] &= (rates["source"] != "pseudo") & ~is_every
    best = best_baseline(rates[is_both].rename(columns={"value": "accuracy"}), _PLACE[1:], members)
    named = best.set_index(_PLACE[1:])["model"]
    of_place = rates[whole & (measure == "accuracy")].reset_index().set_index(_PLACE)
    for at, row in rates[is_both].iterrows():
        place = tuple(row[_PLACE])
        result.loc[at, OF_DIFFERENCE] = of_place.loc[place, OF_DIFFERENCE]
        result.loc[at, "baseline"] = named.get(place[1:], "")
    for place in rates.loc[is_every & (rates["low"] <= rates["chance"]), _PLACE].itertuples(index=False, name=None):
        if of_place.loc[place, "low"] > HALF:
            result.loc[of_place.loc[place, "index"], "verdict"] = "some_variants"
    result.loc[whole & (rates["source"] == "real") & rates["construction"].isin(meaning), "verdict"] = "no_control"
    return result


def read_replies(pairs: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Read the replies of one model about pairs.

    Args:
        pairs: The pairs, see `decide_pairs`; also those that were not asked about.
        replies: One row a question: pair, gold, option_a and option_b (see `cxprobe.tasks.pairs.ask`), reply, and
            failed, whether the request failed.

    Returns:
        One row a question: the pair without its texts; letter, that of the right text; answer, "A", "B" or "" if there
        is none; and outcome, "right", "wrong", "unparsed" or "failed".

    Raises:
        DataError: A reply is about a pair that there is not.
    """
    unknown = sorted(set(replies["pair"]) - set(pairs["id"]))
    if unknown:
        raise DataError(f"{len(unknown)} pairs were asked about that are not there, such as {unknown[0]}; ask again")
    outcomes = []
    for row in replies.to_dict("records"):
        reply, options = None if row["failed"] else row["reply"], {"A": row["option_a"], "B": row["option_b"]}
        outcomes.append(evaluate_reply(reply, row["gold"], options, chain_of_thought=False))
    answers = pd.DataFrame(outcomes, columns=["answer", "outcome"], index=replies.index)
    asked = replies[["pair", "gold"]].set_axis(["id", "letter"], axis=1).join(answers)
    return asked.merge(pairs.drop(columns=[*_TEXTS]), on="id", validate="many_to_one")


def evaluate_replies(pairs: pd.DataFrame, read: pd.DataFrame, how: EvaluatePairs) -> pd.DataFrame:
    """Decide the pairs of which at least one reply could be read, by the mean of 1 for a right and -1 for a wrong one.

    Args:
        pairs: See `read_replies`.
        read: What `read_replies` returns.
        how: The settings.

    Returns:
        See `credit_pairs`.
    """
    answered = read.assign(margin=read["outcome"].map({"right": 1.0, "wrong": -1.0})).dropna(subset="margin")
    margins = answered.groupby("id")["margin"].mean().reset_index()
    return credit_pairs(pairs, margins.assign(scheme=REPLY, score=ASKED), how)


def reply_responses(read: pd.DataFrame) -> pd.DataFrame:
    """Return responses about the choices of a model that is asked, beside their accuracy.

    Args:
        read: What `read_replies` returns, of one model.

    Returns:
        Columns as `pair_responses` returns them; the measures are position_bias,
        of each answer: whether it is "A" (0.5 for a model that does not mind the order); unparsed, of each reply:
        whether it has no answer; and failed, of each request: whether there is no reply.
    """
    outcome = read["outcome"]
    values = {
        "position_bias": (read["answer"] == "A").where(outcome.isin(["right", "wrong"])),
        "unparsed": (outcome == "unparsed").where(outcome != "failed"),
        "failed": outcome == "failed",
    }
    asked = read.assign(id=read["id"] + ", " + read["letter"], scheme=REPLY, score=ASKED, decides=False, deciding=False)
    rows = pd.concat([asked.assign(measure=measure, value=value) for measure, value in values.items()])
    return _as_responses(rows.dropna(subset="value").astype({"value": float}).reset_index(drop=True))


class PairsEvaluation(Evaluation[PairsStage]):
    """Which text of each pair a model finds the likelier, or says so."""

    facets = FACETS
    kept = KEPT
    sections: ClassVar[Mapping[str, str]] = {"form": "form", "words": "replies"}
    says = (
        "`form/<construction>`: pairs of which the well-formed text is the more probable one; chance is 50. "
        "`replies/...`: the one that the model calls so. `pairs/...`: single pairs of meaning, which decide nothing."
    )

    def __init__(self, stage: Stage[PairsStage]) -> None:
        """Read the pairs of all sources."""
        super().__init__(stage)
        self.section = stage.params.pairs
        self.made = read_sources(self.section, stage.use)
        self.own = self.made.get(OWN_PAIRS, pd.DataFrame(columns=["construction", "tests", "context"]))
        score = self.section.evaluate.score
        if len(self.own) and score == GIVEN_CONTEXT and (self.own["context"] == "").all():
            raise DataError(f"pairs.evaluate.score: {score} needs a context, and no pair has one; take another")

    def responses(self, member: Member, folder: Path) -> pd.DataFrame | None:
        """Return the responses to the pairs of all sources."""
        parts = []
        for source, pairs in self.made.items():
            how = self.section.evaluate
            if source in self.section.benchmarks:
                how = how.model_copy(update={"score": self.section.benchmarks[source].score})
            shown = pairs_for(member, pairs, self.section.models)
            if shown.empty:
                continue
            if member.is_asked:
                read = read_replies(shown, read_table(folder / folder_of(source) / "replies.parquet"))
                decided = evaluate_replies(shown, read, how)
                parts += [pair_responses(decided)] if len(decided) else []  # perhaps no reply has an answer
                parts.append(reply_responses(read))
            else:
                parts.append(pair_responses(decide_pairs(shown, read_pair_answers(folder / folder_of(source)), how)))
        return pd.concat(parts, ignore_index=True) if parts else None

    def pooled(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return responses, and those to pairs of meaning or of a benchmark together."""
        return pool_pairs(responses)

    def rates(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the rates of facets, and those that no facet gives."""
        return with_further(rates_of(responses, self.facets), further_rates(responses))

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates with the verdicts that do not follow from the rate alone."""
        meaning = self.own.loc[self.own["tests"] == "meaning", "construction"].unique().tolist()
        return override(rates, meaning, task_members(self.stage.params))

    def tables(self, rates: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """Return what rates of benchmarks leave out, which is printed too."""
        cells = [unbalanced_cells(self.made[name]).assign(source=name) for name in self.section.benchmarks]
        tables = dict[str, pd.DataFrame]()
        if cells:
            tables["tables/left_out"] = left_out = pd.concat(cells, ignore_index=True).fillna("")
            for name, group, n, reason in left_out[["source", "construction", "n", "reason"]].to_numpy():
                print(f"{name}: the rates of {group} leave out {n:,} pairs: {reason}")
        return tables
