"""Minimal pairs evaluated: the right text must be preferred, strictly; responses and rates of any number of models.

The raw answers of a model become a margin for each pair: the score of the right text less that of the wrong one under
each scheme and score of a language model; the preference of a rule (scheme "rule", score "preference"); or the choice
in words (scheme "reply", score "asked"): the mean over the replies that could be read, 1 where the right text is chosen
in either order and 0.5 where the choice changes with the order. A pair of which no reply could be read is left out, and
is not wrong.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.models.params import ContinuationAlone, Member
from cxprobe.models.replies import evaluate_reply
from cxprobe.models.scores import CONTEXT_SCORES, SCORES, score_pairs
from cxprobe.models.texts import read_pair_answers
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.evaluate import Evaluation
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL, Facet, columns_of, divided_by, rates_of, with_further
from cxprobe.results.schema import CHANCE_IN_BOTH, HALF, HAS_VERDICT, KEYS, OF_DIFFERENCE, RESPONSES
from cxprobe.results.words import cell
from cxprobe.run.stage import Stage
from cxprobe.stats import CLUSTER, UNIT, credits_of_margins, difference_by
from cxprobe.tasks.pairs.balance import with_balance
from cxprobe.tasks.pairs.params import AskedPairs, PairsParams, PairsStage
from cxprobe.tasks.pairs.sources import (
    FRAME,
    OWN_PAIRS,
    first_items,
    folder_of,
    made_files,
    read_made,
    with_units,
)

RULE, REPLY = "rule", "reply"  # schemes
RULE_SCORE, ASKED = "preference", "asked"  # scores
REPLIES = ("position_bias", "unparsed", "failed")
"""Measures of replies in words beside their accuracy, see `reply_responses`."""
_ITEM = ("construction", "tests", "words", "item", "variant", "sentence")  # what has two orders
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
BY_VARIANT = Facet(["variant"], where="deciding and variant != ''")
FACETS = (
    WHOLE,
    Facet(
        ["group"],
        ("accuracy", *REPLIES),
        "group != '' and (deciding or measure != 'accuracy')",
        has_verdicts=True,
        family=("source",),
    ),
    BY_VARIANT,
    Facet(["variant", "sentence"], where="deciding and sentence != ''"),
    Facet(["noun_type"], where="decides and noun_type not in ['', 'none']", in_git=False),
    Facet(["scheme", "score"], where="not deciding", in_git=False),
)
MEANING = "all pairs of meaning"
PEOPLE = "people (majority)"  # whose published answers stand among the models
SOURCE = "Oba & Sugawara 2026, their items"  # of the published numbers
PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]
_OF_MODEL = [name for name in RESPONSES if name not in ("task", "model")]
_GROUPS = ("construction", "tests", "words", "variant", "group")  # those that pairs have
_ANSWERED = {"right": 1.0, "wrong": -1.0}  # outcome of a reply that has an answer -> its margin
_PLACE = ["model", "construction", "source"]
_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(["tests", "variant", "sentence", "noun_type", "origin", "order", "group", UNIT], ""),
    **dict.fromkeys(["gold", "chosen"], ""),
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
    """

    source: str
    scheme: str
    score: str
    scores: Sequence[str]

    @classmethod
    def of(cls, params: PairsParams, source: str = OWN_PAIRS) -> "EvaluationConfig":
        """Return the settings of a source in params.yaml."""
        if source == OWN_PAIRS:
            how = params.evaluate
            return cls(OWN_PAIRS, how.scheme, how.score, how.scores)
        benchmark = params.benchmarks[source]
        scores = [*dict.fromkeys([benchmark.score, *SCORES])]
        return cls(source, params.evaluate.scheme, benchmark.score, scores)


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
        answers: The table of token scores, or of preferences (id and margin, see `cxprobe.tasks.pairs.measure`), that
            the measuring stage wrote.
        how: The settings. A score that needs a context leaves this project's pairs without one undecided.

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
    pairs = with_balance(pairs)
    pairs = with_units(pairs) if how.source == OWN_PAIRS else pairs
    scores = pairs.drop(columns=["context", "good", "bad"]).merge(margins, on="id", validate="one_to_many")
    deciding = _is_by(scores, how.scheme, how.score)
    return scores.assign(accuracy=credits_of_margins(scores["margin"].to_numpy(np.float64)), deciding=deciding)


def _is_by(scores: pd.DataFrame, scheme: str, score: str) -> "pd.Series[bool]":
    """Return which rows are by a scheme and score; a causal model, a rule and replies have one of their own each."""
    return scores["scheme"].isin(["causal", scheme, RULE, REPLY]) & scores["score"].isin([score, RULE_SCORE, ASKED])


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
    keys = [key for key in _ITEM if key in items]
    in_two = items[items.groupby(keys)["order"].transform("nunique") == 2]
    credited = _right_in_all(in_two, keys)
    return credited.assign(**{UNIT: credited[FRAME]})


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
        clusters. The accuracy by the deciding score decides, and beside it whether both orders are right; but not in a
        cell in which one answer is always right, where no other score has responses.
    """
    decided = decided[decided["balanced"] | decided["deciding"]]
    decided = decided.assign(decides=decided["deciding"] & decided["balanced"])
    credits = decided["accuracy"]
    accuracy = decided.assign(
        measure="accuracy",
        chance=HALF,
        gold="good",
        chosen=np.select([credits == 1, credits == 0], ["good", "bad"], ""),
    )
    parts = [accuracy]
    if how.source == OWN_PAIRS:
        others = decided[decided["deciding"]].assign(margin=np.nan)
        variants = every_variant(others[others["decides"]])
        parts += [
            both_orders(others).assign(measure="both_orders", chance=CHANCE_IN_BOTH),
            variants.assign(measure="every_variant", deciding=False, decides=False),
        ]
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    named = rows.rename(columns={"accuracy": "value"}).fillna({"gold": "", "chosen": ""})
    return as_responses(named, how)


def as_responses(rows: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return rows about pairs as responses: with their construction, source and group, and the columns that they lack.

    Args:
        rows: measure and value; id and perhaps item; the groups and clusters of the pairs; and any columns of
            responses.
        how: Whose pairs they are.
    """
    named = rows.assign(pair_item=rows.get("item", rows["id"]), item=rows["id"]).reset_index(drop=True)
    if how.source == OWN_PAIRS:
        named = named.assign(source=named["words"])
        if "sentence" in named:
            rivals = named.groupby("construction")["sentence"].transform("nunique") > 1
            named["sentence"] = named["sentence"].where(rivals, "")
    else:
        named = named.assign(source=how.source)
    named = named.assign(**{name: value for name, value in _DEFAULTS.items() if name not in named})
    named["question"] = _questions(named, how)
    clusters = [name for name in named if str(name).startswith(CLUSTER)]
    columns = [*_OF_MODEL, *columns_of(FACETS), *KEPT, UNIT, *clusters]
    return named[columns]


def _questions(rows: pd.DataFrame, how: EvaluationConfig) -> "pd.Series[str]":
    """Return the question that each row answers; of a benchmark it is its name."""
    is_single = (rows["measure"] == "accuracy") & (rows["source"] != "pseudo")
    if how.source != OWN_PAIRS:
        return rows["source"].where(is_single, "")
    questions = rows["tests"].where(rows["tests"].isin(["form", "meaning"]) & is_single, "")
    is_reply = rows.get("scheme", pd.Series("", rows.index)) == REPLY
    return questions.mask(is_reply & (questions != ""), "words")


def decisions_of(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the responses that are decisions by the scheme and score that decide, in whatever cell."""
    return responses[responses["deciding"] & (responses["measure"] == "accuracy")]


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
    decisions = decisions_of(responses[responses["construction"] != ALL])
    decisions = decisions[decisions["source"] == "real"]
    if decisions.empty:
        return pd.DataFrame()
    deciding = decisions[decisions["decides"]]
    apart = deciding[deciding["tests"].isin(["form", "control"])].assign(construction=ALL)
    paper = deciding[(deciding["origin"] == "paper") & (deciding["tests"] == "meaning")]
    published = pd.concat([paper.assign(construction=ALL), paper], ignore_index=True)
    parts = list(_rates_of_biases(decisions[decisions["tests"] == "meaning"]))
    for rows, name in ((apart, "tests"), (published, "origin")):
        if len(rows):
            parts.append(rates_of(rows, [Facet([name])]))
    return pd.concat([part for part in parts if len(part)], ignore_index=True).assign(decides=False)


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
    position = decisions.groupby(keys, sort=False).cumcount()  # of a way of asking about an item: 0 or 1
    second = decisions.loc[position == 1, [*keys, "value"]].rename(columns={"value": "other"})
    both = decisions[position == 0].merge(second, on=keys, validate="one_to_one")
    table = difference_by(both, "value", "other", by)
    low, high = table["low"], table["high"]
    return table.drop(columns="difference").assign(
        measure="bias",
        value=table["difference"].abs(),
        low=np.where((low <= 0) & (high >= 0), 0.0, np.minimum(low.abs(), high.abs())),
        high=np.maximum(low.abs(), high.abs()),
        ties=0,
        chance=np.nan,
    )


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
    whole, is_real = WHOLE.among(rates), rates["source"] != "pseudo"
    is_accuracy, is_both, is_every = (
        whole & (rates["measure"] == measure) for measure in ("accuracy", "both_orders", "every_variant")
    )
    places = pd.MultiIndex.from_frame(rates[_PLACE])
    accuracy = rates[is_accuracy].set_index(_PLACE).reindex(places).set_axis(rates.index)  # of the place of each row
    best = best_baseline(rates[is_both].rename(columns={"value": "accuracy"}), _PLACE[1:], members)
    of_best = best.set_index(_PLACE[1:])["model"].reindex(places.droplevel(0)).fillna("")
    result = rates.copy()
    result.loc[is_both, OF_DIFFERENCE] = accuracy.loc[is_both, OF_DIFFERENCE]
    result["baseline"] = result["baseline"].mask(is_both, of_best.to_numpy())
    lopsided = rates.loc[is_every & (rates["low"] <= rates["chance"]), _PLACE]
    some_variants = is_accuracy & (rates["low"] > HALF) & places.isin(pd.MultiIndex.from_frame(lopsided))
    is_of_meaning = whole & (rates["source"] == "real") & rates["construction"].isin(meaning)
    verdict = pd.Series("", rates.index).mask(some_variants, "some_variants")
    return result.assign(
        has_verdict=result[HAS_VERDICT] & is_real & ~is_every,
        verdict=verdict.mask(is_of_meaning, "no_control"),
    )


def pairs_beside_published(rates: pd.DataFrame, objectives: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Return one table of accuracies by construction, published ones below those of this run.

    The published numbers are about the paper's own items, which differ from this project's: they show what is usual,
    and nothing is marked as different.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`; those by origin are shown, which are of the
            published design alone.
        objectives: As published: model, data (what it was trained on) and score, a rate over all items.
        people: As published: construction ("overall" for all), items, and majority_percent, how often the majority of
            the people asked chose the right member.

    Returns:
        construction, model, source, accuracy (in percent, with its interval where there is one) and n; a table for
        reading, in which what was not published is an empty text.
    """
    ours = divided_by(rates, "origin").replace({"construction": {ALL: MEANING}})
    run = ours.rename(columns={"value": "accuracy"}).assign(source="this run")
    run["accuracy"] = [cell(*row) for row in run[["accuracy", "low", "high"]].to_numpy()]
    models = objectives.assign(construction=MEANING, n="", source=SOURCE)
    models["accuracy"] = (100 * models["score"]).map("{:.1f}".format)
    majority = people.replace({"construction": {"overall": MEANING}}).assign(model=PEOPLE, source=SOURCE)
    majority["accuracy"] = majority["majority_percent"].map("{:.1f}".format)
    both = pd.concat([run, models, majority.rename(columns={"items": "n"})], ignore_index=True)
    order = pd.Index([*dict.fromkeys([MEANING, *both["construction"]])]).get_indexer
    both = both.sort_values("construction", key=order, kind="stable", ignore_index=True)
    return both[["construction", "model", "source", "accuracy", "n"]].astype({"n": str})


def responses_of_replies(pairs: pd.DataFrame, replies: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return the responses of one model that got prompts, see `read_replies`."""
    read = read_replies(pairs, replies)
    decided = pair_responses(evaluate_replies(pairs, read, how), how)
    return pd.concat([decided, reply_responses(read, how)], ignore_index=True)


def read_replies(pairs: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Read the replies of one model about pairs.

    Args:
        pairs: The pairs, see `decide_pairs`; also those that were not asked about.
        replies: One row a question: pair, gold, option_a and option_b (see `cxprobe.tasks.pairs.ask`), reply, and
            failed, whether the request failed.

    Returns:
        One row a question: pair, the id of the pair; gold, the letter of the right text; answer, "A", "B" or ""
        if there is none; outcome, "right", "wrong", "unparsed" or "failed"; and the groups and clusters of the pair.

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
    about = ["id", *(name for name in pairs.columns if name in _GROUPS or name.startswith(CLUSTER))]
    read = replies[["pair", "gold"]].join(answers)
    return read.merge(pairs[about].rename(columns={"id": "pair"}), on="pair", validate="many_to_one")


def evaluate_replies(pairs: pd.DataFrame, read: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Decide the pairs of which at least one reply could be read, by the mean of 1 for a right and -1 for a wrong one.

    Args:
        pairs: See `read_replies`.
        read: What `read_replies` returns.
        how: Whose pairs they are.

    Returns:
        See `credit_pairs`.
    """
    margins = read.rename(columns={"pair": "id"}).assign(margin=read["outcome"].map(_ANSWERED))
    table = margins.dropna(subset="margin").groupby("id")["margin"].mean().reset_index()
    return credit_pairs(pairs, table.assign(scheme=REPLY, score=ASKED), how)


def reply_responses(read: pd.DataFrame, how: EvaluationConfig) -> pd.DataFrame:
    """Return responses about the choices of a model that is asked, beside their accuracy.

    Args:
        read: What `read_replies` returns, of one model.
        how: Whose pairs they are.

    Returns:
        Columns as `pair_responses` returns them; the measures are position_bias,
        of each answer: whether it is "A" (0.5 for a model that does not mind the order); unparsed, of each reply:
        whether it has no answer; and failed, of each request: whether there is no reply.
    """
    asked = read.assign(id=read["pair"], item=read["pair"] + ", " + read["gold"])
    answered = asked[asked["outcome"].isin(_ANSWERED)]
    replied = asked[asked["outcome"] != "failed"]
    values = {
        "position_bias": answered.assign(value=answered["answer"] == "A"),
        "unparsed": replied.assign(value=replied["outcome"] == "unparsed"),
        "failed": asked.assign(value=asked["outcome"] == "failed"),
    }
    rows = pd.concat([table.assign(measure=measure) for measure, table in values.items()], ignore_index=True)
    rows = rows.assign(value=rows["value"].astype(float), gold="", scheme=REPLY, score=ASKED)
    return as_responses(rows, how).assign(item=rows["item"].to_numpy())


class PairsEvaluation(Evaluation[PairsStage]):
    """Which text of each pair a model finds the likelier, or says so."""

    facets = FACETS
    kept = KEPT
    sections: ClassVar[Mapping[str, str]] = {"form": "form", "words": "replies"}
    says = (
        "`form/<construction>`: pairs of which the well-formed text is the more probable one; chance is 50. "
        "`replies/...`: the one that the model calls so. `pairs/...`: single pairs of meaning, which decide nothing."
    )
    settings = ("pairs.score", "pairs.evaluate", "pairs.ask", "pairs.make", "pairs.benchmarks")

    def __init__(self, stage: Stage[PairsStage]) -> None:
        """Read the pairs of all sources."""
        super().__init__(stage)
        self.section, files = stage.params.pairs, made_files(stage.params.pairs)
        self.made = {source: read_made([stage.use(path) for path in paths]) for source, paths in files.items()}
        self.own = self.made.get(OWN_PAIRS, pd.DataFrame(columns=["construction", "tests", "context"]))
        score = self.section.evaluate.score
        if len(self.own) and score in CONTEXT_SCORES and (self.own["context"] == "").all():
            raise DataError(f"pairs.evaluate.score: {score} needs a context, and no pair has one; take another")

    def responses(self, member: Member, folder: Path) -> pd.DataFrame | None:
        """Return the responses to the pairs of all sources."""
        parts = []
        for source, pairs in self.made.items():
            how = EvaluationConfig.of(self.section, source)
            shown = pairs_for(member, pairs, self.section.models if source == OWN_PAIRS else {})
            if shown.empty:
                continue
            if member.is_asked:
                replies = read_table(folder / folder_of(source) / "replies.parquet")
                parts.append(responses_of_replies(shown, replies, how))
            else:
                answers = read_pair_answers(folder / folder_of(source))
                parts.append(pair_responses(decide_pairs(shown, answers, how), how))
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
        """Return rates beside published ones."""
        if self.own.empty:
            return {}
        published = [pd.read_csv(self.stage.use(path), sep="\t") for path in PUBLISHED]
        return {"tables/beside_published": pairs_beside_published(rates, *published)}
