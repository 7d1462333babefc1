"""Answers to questions: which are right, and the rates that no mean of answers is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.models.params import AnswersFile, Member
from cxprobe.models.replies import read_answer
from cxprobe.results.evaluate import Evaluation
from cxprobe.results.rates import ALL, Facet, divided_by, rates_of
from cxprobe.results.schema import OF_CONTROL
from cxprobe.run.stage import Stage
from cxprobe.stats import CLUSTER, rate_by
from cxprobe.tasks.prompts.params import CONTROL, PAPER, RELATION_OF, PromptsStage

NO_PROMPT = "none"  # of baselines, which answer an item, and of files
_UNPROMPTED: Mapping[str, Any] = {"prompt": NO_PROMPT, "shots": 0, "examples": NO_PROMPT, "order": ""}
SETTING = ["shots", "chain_of_thought", "examples"]
CONTROLS = {
    "templatic": f"templatic{CONTROL}",
    "challenge": f"templatic{CONTROL}",
    "reasoning": f"reasoning{CONTROL}",
}
"""Set of questions -> the set that asks in the same format about plain sentences."""

_OF_REPLIES = ("accuracy", "accuracy_parsed", "unparsed", "failed")
_PLACE = ["construction", "source"]
_SHOWN = ["shots", "examples"]
_COMPARED = ["baseline", "difference", "diff_low", "diff_high", "p_adjusted"]
_OF_TESTS = "test != ''"
BY_SETTING = Facet(SETTING, _OF_REPLIES, has_verdicts=True, is_compared=False)
BY_PROMPT = Facet(["prompt", *SETTING], _OF_REPLIES)
BY_TEST = Facet(["chain_of_thought", "answerable", "test"], where=_OF_TESTS)
BY_TEST_AND_PROMPT = Facet(["prompt", "chain_of_thought", "answerable", "test"], where=_OF_TESTS)
FACETS = (
    BY_SETTING,
    Facet(measures=_OF_REPLIES, where=f"source not in {[*CONTROLS.values()]}", has_verdicts=True),
    Facet(["shots"]),
    BY_PROMPT,
    Facet(["chain_of_thought", "template"], where="template != ''"),
    Facet(["chain_of_thought", "reading"], where="reading != ''"),
    Facet(["chain_of_thought", "order"], where="order != ''"),
    Facet(["prompt", "chain_of_thought", "answerable"], where=_OF_TESTS),
    BY_TEST,
    BY_TEST_AND_PROMPT,
)


def read_replies(questions: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Read the answer to every question from its reply.

    Args:
        questions: One row per question: id, kind ("inference" or "reasoning"), gold, chain_of_thought, option_a,
            option_b and option_c, the texts shown with the letters, and any other columns, which are kept.
            "Ida" is read as "A" where she is option A, and "A. Marek" has no answer if Marek is not.
        replies: One row per question: id, reply, and failed, whether the request failed.

    Returns:
        The questions with the columns failed, answer ("" if there is none), and credit (1 for right, else 0).

    Raises:
        DataError: The replies are not those to the questions.

    Source:
        Scivetti et al. 2025 (one digit, or one letter); inspect_ai issue 721 (the first digit being in the reasoning).
    """
    if sorted(questions["id"]) != sorted(replies["id"]):
        raise DataError(
            f"the replies are not those to the questions ({len(replies)} replies, {len(questions)} questions); run "
            "ask_prompts again"
        )
    read = questions.merge(replies[["id", "reply", "failed"]], on="id", validate="one_to_one")
    answers = []
    for row in read.to_dict("records"):
        is_choice = row["kind"] == "reasoning"
        words = {letter: row[f"option_{letter.lower()}"] for letter in PAPER} if is_choice else RELATION_OF
        answers.append(read_answer(row["reply"], words, chain_of_thought=row["chain_of_thought"]))
    return read.assign(answer=answers, credit=(read["gold"] == answers).astype(float))


def choose_by_rule(items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the choices of a baseline, which answers each item once and not every kind of item.

    Args:
        items: One row per item that a question is about: id, gold and any other columns, which are kept.
        answers: One row per item and answer: id, symbol, log_p. Answers to items that are not in ``items`` are ignored.

    Returns:
        The items that have answers, with the columns item, which is the id; prompt and examples "none", shots 0,
        chain_of_thought False; answer, the one with the highest log_p, or "" if several have it; and credit: 1 for
        right, and where the right answer is one of k that are tied, 1/k.
    """
    scores = answers.merge(items[["id", "gold"]], on="id")
    scores["is_gold"] = scores["symbol"] == scores["gold"]
    highest = scores[scores["log_p"] == scores.groupby("id")["log_p"].transform("max")].groupby("id", sort=False)
    chosen = highest.agg(answer=("symbol", "first"), tied=("symbol", "size"), credit=("is_gold", "mean")).reset_index()
    chosen["answer"] = chosen["answer"].mask(chosen.pop("tied") > 1, "")
    answered = items.merge(chosen, on="id", validate="one_to_one")
    return answered.assign(item=answered["id"], chain_of_thought=False, **_UNPROMPTED)


def prompt_responses(answered: pd.DataFrame) -> pd.DataFrame:
    """Return the responses of one model.

    A reply without an answer is not right; its rate is a measure too, and so is the accuracy of the others. A request
    that failed is no reply, and has no accuracy.

    Args:
        answered: What `read_replies` or `choose_by_rule` returns.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task and model, where a source is a set; how the item was
        asked, and what it is; and the clusters, of which items without a template have none of wordings. Those decide
        that have the fewest shots and no chain of thought, and are no control.
    """
    table = answered.rename(columns={"set": "source", "answer": "chosen", "credit": "value"})
    table = table.assign(decides=False, question="words")
    wording = f"{CLUSTER}wording"
    table[wording] = table[wording].where(table["template"] != "", None)
    replied = table[~table["failed"]] if "failed" in table else table
    may_decide = ~replied["source"].isin(CONTROLS.values()) & ~replied["chain_of_thought"].astype(bool)
    ordered = replied[may_decide].sort_values("shots", kind="stable")
    fewest = replied[_PLACE].join(ordered.groupby(_PLACE)[_SHOWN].first(), on=_PLACE)  # of several sources the first
    decides = may_decide & (replied[_SHOWN] == fewest[_SHOWN]).all(axis=1)
    parts = [replied.assign(measure="accuracy", chance=1 / 3, decides=decides)]  # of three answers
    if "failed" in table:
        is_parsed = replied["chosen"] != ""
        parts += [
            replied[is_parsed].assign(measure="accuracy_parsed"),
            replied.assign(measure="unparsed", value=(~is_parsed).astype(float)),
            table.assign(measure="failed", value=table["failed"].astype(float)),
        ]
    columns = [*_PLACE, "item", "measure", "value", "chance", "gold", "chosen", "decides", "question"]
    columns += ["prompt", *SETTING, "order", "template", "reading", "test", "answerable", f"{CLUSTER}premise", wording]
    return pd.concat(parts, ignore_index=True).reindex(columns=columns)


def rates_beside_constant(responses: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return rates of groups of responses; the chance of an accuracy is what the best constant answer gets.

    That is the share of the most frequent gold answer among the questions of the group. Where options are shown in
    several orders, a model can always give the same letter, or always choose that there is not enough information,
    whichever letter that has; the better of the two counts.

    Args:
        responses: What `prompt_responses` returns; all of a group are of one kind of item.
        by: The columns whose values make the groups; the measure is one of them.
    """
    rates = rate_by(responses, "value", by)
    same_letter = responses.groupby([*by, "gold"]).size().groupby(level=by).max()
    both = zip(responses["order"], responses["gold"], strict=True)
    golds = [order[PAPER.index(gold)] if order else gold for order, gold in both]  # letters of the paper's order
    no_information = pd.Series(golds, responses.index).eq("C").groupby([responses[name] for name in by]).sum()
    best = pd.concat([same_letter, no_information], axis=1).max(axis=1) / responses.groupby(by).size()
    joined = rates.merge(best.rename("chance").reset_index(), on=by, validate="one_to_one")
    return joined.assign(chance=joined["chance"].where(joined["measure"] == "accuracy"))


def beside_controls(rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates by setting with the comparison of the model over all settings, and with the control of the setting.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES` but verdict, of all constructions.

    Returns:
        The same rows, with control, control_low, control_high, control_n and passes_control: of several controls, the
        one that the model is the least above chance in; None where there is none.
    """
    is_accuracy = rates["measure"] == "accuracy"
    is_setting = BY_SETTING.among(rates) & is_accuracy
    place = ["model", *_PLACE]
    compared = divided_by(rates[is_accuracy]).set_index(place)[_COMPARED]
    own = rates[is_setting].drop(columns=_COMPARED).join(compared, on=place).fillna({"baseline": ""})
    is_control = own["source"].isin(CONTROLS.values()) & (own["construction"] != ALL)
    controls = own[is_control].assign(margin=own["low"] - own["chance"]).sort_values("margin", kind="stable")
    worst = controls.drop_duplicates(["model", "source", *SETTING]).set_index(["model", "source", *SETTING])
    passes = (worst["margin"] > 0).astype(object)
    worst = worst[[*OF_CONTROL.values()]].set_axis([*OF_CONTROL], axis=1).assign(passes_control=passes)
    beside = own.assign(of=own["source"].map(CONTROLS)).join(worst, on=["model", "of", *SETTING]).drop(columns="of")
    beside["passes_control"] = beside["passes_control"].where(beside["passes_control"].notna(), None)
    return pd.concat([beside, rates[~is_setting].assign(passes_control=None)]).sort_index()


def accuracies_by_setting(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies by setting, and by prompt and setting.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of prompts.

    Returns:
        The rates with accuracy and set (for value and source), shots and chain_of_thought as a number and a truth
        value, and whether the set is_multiple choice. prompt is "" where the rate is over all prompts.
    """
    accuracies = rates[rates["measure"] == "accuracy"]
    multiple = ["reasoning", *accuracies.loc[BY_TEST.among(accuracies), "source"].unique()]
    kept = accuracies[BY_SETTING.among(accuracies) | BY_PROMPT.among(accuracies)].reset_index(drop=True)
    kept = kept.rename(columns={"value": "accuracy", "source": "set"})
    is_multiple, thought = kept["set"].isin(multiple), kept["chain_of_thought"] == "True"
    return kept.assign(is_multiple=is_multiple, shots=kept["shots"].astype(int), chain_of_thought=thought)


class PromptsEvaluation(Evaluation[PromptsStage]):
    """What models reply to questions."""

    facets = FACETS
    says = (
        "`prompts/<construction>`: questions that are answered rightly, with the fewest solved examples; a guess is "
        "right in a third. Each number of examples is a child run."
    )
    parts = ("shots", "chain_of_thought", "examples")

    def __init__(self, stage: Stage[PromptsStage]) -> None:
        """Read the questions and items of all constructions."""
        super().__init__(stage)
        self.section = stage.params.prompts
        self.questions, self.items = (self.section.made(one, stage.use) for one in ("questions", "items"))

    def responses(self, member: Member, folder: Path) -> pd.DataFrame:
        """Return the responses by replies, or of a baseline to what is asked about."""
        if member.is_baseline:
            asked = self.items[self.items["drawn"]].drop(columns="drawn")
            return prompt_responses(choose_by_rule(asked, read_table(folder / "answers.parquet")))
        if isinstance(member.spec, AnswersFile):  # each item once, in the paper's order: the prompt is not known
            in_order = self.questions[self.questions["order"].isin(["", PAPER])]
            first = in_order.drop_duplicates("item", ignore_index=True)
            thought = member.spec.chain_of_thought
            questions = first.assign(id=first["item"], chain_of_thought=thought, **_UNPROMPTED)
        else:
            questions = self.section.llms[member.slug].part_of(self.questions)
        return prompt_responses(read_replies(questions, read_table(folder / "replies.parquet")))

    def rates(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the rates, whose chance is that of the best constant answer."""
        return rates_of(responses, self.facets, rates_beside_constant)

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates beside those of the controls."""
        return beside_controls(rates)
