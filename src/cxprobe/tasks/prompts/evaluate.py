"""Answers to questions, in words or by likelihood: which are right, and the rates that no mean of answers is."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml
from cxprobe.files.tables import read_table
from cxprobe.models.params import AnswersFile, Llm, Member
from cxprobe.models.replies import read_answer
from cxprobe.models.scores import ScoredTexts, no_score
from cxprobe.results.evaluate import Evaluation
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL, Facet, divided_by, rates_of
from cxprobe.results.words import cell, with_blanks
from cxprobe.run.stage import Stage
from cxprobe.stats import CLUSTER, rate_by
from cxprobe.tasks.prompts.params import CONTROL, PAPER, RELATION_OF, PromptsStage

REPLY = "reply"  # in the column asked, of models that get prompts; of others it has the name of a score instead
RULE = "rule"  # of baselines: they answer an item, not a prompt
UNDRAWN = "rule, of items that no question is about"
NO_PROMPT = "none"
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
_ASKED = ["asked", "prompt", *SETTING]  # the columns that say how an item is asked, but for the order of its options
_OF_ITEM = ["template", "reading", "test", "answerable"]
_COMPARED = ["baseline", "difference", "diff_low", "diff_high", "p_adjusted", "detectable"]


_OF_TESTS = "deciding and test != ''"
BY_SETTING = Facet(SETTING, _OF_REPLIES, "deciding", has_verdicts=True, is_compared=False)
BY_PROMPT = Facet(["prompt", *SETTING], _OF_REPLIES, "deciding")
BY_TEST = Facet(["chain_of_thought", "answerable", "test"], where=_OF_TESTS)
BY_TEST_AND_PROMPT = Facet(["prompt", "chain_of_thought", "answerable", "test"], where=_OF_TESTS)
FACETS = (
    BY_SETTING,
    Facet(measures=_OF_REPLIES, where=f"deciding and source not in {[*CONTROLS.values()]}", has_verdicts=True),
    Facet(["shots"], where="deciding"),
    BY_PROMPT,
    Facet(["chain_of_thought", "template"], where="deciding and template != ''"),
    Facet(["chain_of_thought", "reading"], where="deciding and reading != ''"),
    Facet(["chain_of_thought", "order"], where="deciding and order != ''"),
    Facet(["prompt", "chain_of_thought", "answerable"], where=_OF_TESTS),
    BY_TEST,
    BY_TEST_AND_PROMPT,
    Facet(["asked", *SETTING], where=f"not deciding and asked != '{UNDRAWN}'"),
    Facet(["items"], where=f"asked in {[RULE, UNDRAWN]}"),
)


def read_replies(questions: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Read the answer to every question from its reply.

    Args:
        questions: One row per question: id, kind ("inference" or "reasoning"), gold, chain_of_thought, option_a,
            option_b and option_c, the texts shown with the letters, and any other columns, which are kept.
            "Ida" is read as "A" where she is option A, and "A. Marek" has no answer if Marek is not.
        replies: One row per question: id, reply, and failed, whether the request failed.

    Returns:
        The questions with the columns asked ("reply"), failed, answer ("" if there is none), and credit (1 for right,
        else 0).

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
    return read.assign(asked=REPLY, answer=answers, credit=(read["gold"] == answers).astype(float))


def score_answers(
    choices: pd.DataFrame, answers: pd.DataFrame, tokens: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Score every answer to each question, given the text before it.

    Args:
        choices: One row per question: id, question (the text before the answer) and anywhere (one that says nothing
            about the item).
        answers: One row per question and answer: id (of the question), answer (its symbol) and text, how the question
            continues.
        tokens: The scored texts, see `cxprobe.models.texts.token_table`: each answer after its question and, for "pmi",
            after ``anywhere``.
        names: The scores by name.

    Returns:
        One row per answer and score: id, answer, score and value, in nats. "sum" is the log-probability of the answer,
        "per_token" and "per_character" that divided by the number of its tokens or of its characters that are not
        spaces; "pmi" is the sum less what it is after ``anywhere``.

    Raises:
        DataError: A text or token that is needed was not scored, or a score is not finite.

    Source:
        "sum" and "per_character" as in lm-evaluation-harness; "pmi": Holtzman, West, Shwartz, Choi & Zettlemoyer 2021,
        where it is called domain conditional PMI.
    """
    texts = ScoredTexts(tokens)
    asked = choices[["id", "question", "anywhere"]]
    both = answers[["id", "answer", "text"]].merge(asked, on="id", how="left", validate="many_to_one")
    scores = texts.parts(both["question"], both["text"])
    if "pmi" in names:
        scores["pmi"] = scores["sum"] - texts.parts(both["anywhere"], both["text"])["sum"]
    by_answer = both[["id", "answer"]].join(scores[[*names]])
    table = by_answer.melt(["id", "answer"], var_name="score", value_name="value", ignore_index=False)
    table = table.sort_index(kind="stable", ignore_index=True)  # all scores of an answer together
    for id_, answer, name, value in table[~np.isfinite(table["value"])].itertuples(index=False, name=None):
        raise no_score(f"{id_}, answer {answer}, {name}", [value], f"leave {name} out of prompts.evaluate.scores")
    return table


def choose_answers(questions: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose the likeliest answer to each question by each score, strictly: no order of the answers breaks a tie.

    Args:
        questions: One row per question: id, gold and any other columns, which are kept.
        scores: One row per question, answer and score: id, answer, score, value.

    Returns:
        The questions that have scores, once for each, with the columns asked, the score; answer, the one with the
        highest value, or "" if several have it; credit: 1 for right, and where the right answer is one of k that are
        tied, 1/k; and margin, the value of the right answer less the highest of the others.
    """
    scores = scores.rename(columns={"score": "asked"}).merge(questions[["id", "gold"]], on="id")
    scores["is_gold"] = scores["answer"] == scores["gold"]
    by = ["id", "asked"]
    best, own = (scores[scores["is_gold"] == is_gold].groupby(by)["value"].max() for is_gold in (False, True))
    highest = scores[scores["value"] == scores.groupby(by)["value"].transform("max")].groupby(by, sort=False)
    chosen = highest.agg(answer=("answer", "first"), tied=("answer", "size"), credit=("is_gold", "mean"))
    chosen = chosen.assign(answer=chosen["answer"].mask(chosen["tied"] > 1, ""), margin=own - best).reset_index()
    return questions.merge(chosen.drop(columns="tied"), on="id", validate="one_to_many")


def choose_by_rule(items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the choices of a baseline, which answers each item once and not every kind of item.

    Args:
        items: One row per item: id, gold, drawn, whether a question is about it, and any other columns, which are kept.
        answers: One row per item and answer: id, symbol, log_p. Answers to items that are not in ``items`` are ignored.

    Returns:
        The items that have answers, in the form of `choose_answers`: asked is `RULE`, or `UNDRAWN` where no question is
        about the item, prompt and examples "none", shots 0, chain_of_thought False; item, which is the id; and no
        margin.
    """
    asked = items.assign(item=items["id"], prompt=NO_PROMPT, shots=0, examples=NO_PROMPT, chain_of_thought=False)
    scores = answers.rename(columns={"symbol": "answer", "log_p": "value"}).assign(score=RULE)
    chosen = choose_answers(asked, scores).drop(columns="margin")
    return chosen.assign(asked=chosen["asked"].where(chosen["drawn"].astype(bool), UNDRAWN), order="")


def without_prompts(questions: pd.DataFrame, *, chain_of_thought: bool) -> pd.DataFrame:
    """Return each item once, as one that somebody else has asked about, in words that are not known.

    Args:
        questions: See `read_replies`; and item, order, and the columns below.
        chain_of_thought: Whether its replies begin with reasons.

    Returns:
        The columns of ``questions``: id, which is the item; prompt and examples "none", shots 0; and the options in the
        order of the paper.
    """
    first = questions[questions["order"].isin(["", PAPER])].drop_duplicates("item", ignore_index=True)
    unprompted = first.assign(id=first["item"], prompt=NO_PROMPT, shots=0, examples=NO_PROMPT, order="")
    return unprompted.assign(chain_of_thought=chain_of_thought)


def prompt_responses(answered: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the responses of one model.

    A reply without an answer is not right; its rate is a measure too, and so is the accuracy of the others. A request
    that failed is no reply, and has no accuracy.

    Args:
        answered: What `read_replies`, `choose_answers` or `choose_by_rule` returns.
        score: The score that decides for models that are not prompted for replies.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task and model, where a source is a set; how the item was
        asked, and what it is; and the clusters, of which items without a template have none of wordings. Those decide
        that have the fewest shots and no chain of thought, and are no control. Margins are in no rate.
    """
    table = answered.rename(columns={"set": "source", "answer": "chosen", "credit": "value"}).assign(
        decides=False,
        question=np.where(answered["asked"] == REPLY, "words", "meaning"),
        deciding=answered["asked"].isin([REPLY, RULE, score]),
        items="all",  # with those that no question is about; the rates of others are of what was asked
    )
    wording = f"{CLUSTER}wording"
    table[wording] = table[wording].where(table["template"] != "", None)
    replied = table[~table["failed"]] if "failed" in table else table
    may_decide = replied["deciding"] & ~replied["source"].isin(CONTROLS.values())
    may_decide &= ~replied["chain_of_thought"].astype(bool)
    ordered = replied[may_decide].sort_values("shots", kind="stable")
    fewest = replied[_PLACE].join(ordered.groupby(_PLACE)[_SHOWN].first(), on=_PLACE)  # of several sources the first
    decides = may_decide & (replied[_SHOWN] == fewest[_SHOWN]).all(axis=1)
    parts = [replied.assign(measure="accuracy", chance=1 / 3, decides=decides)]  # of three answers
    if "margin" in table:
        parts.append(table.assign(measure="margin", value=table["margin"]))
    if "failed" in table:
        is_parsed = replied["chosen"] != ""
        parts += [
            replied[is_parsed].assign(measure="accuracy_parsed"),
            replied.assign(measure="unparsed", value=(~is_parsed).astype(float)),
            table.assign(measure="failed", value=table["failed"].astype(float)),
        ]
    columns = [*_PLACE, "item", "measure", "value", "chance", "gold", "chosen", "decides", "question"]
    columns += ["deciding", "items", *_ASKED, "order", *_OF_ITEM, f"{CLUSTER}premise", wording]
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


def beside_controls(rates: pd.DataFrame, asked: Collection[str]) -> pd.DataFrame:
    """Return rates by setting with the comparison of the model over all settings, and with the control of the setting.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES` but verdict, of all constructions.
        asked: The models that get prompts. Those of others have no control: by the likelihood of answers even a
            model that was taught the construction does not pass it, so their verdict is "no_control".

    Returns:
        The same rows, with control, control_low, control_high, control_n and passes_control: of several controls, the
        one that the model is the least above chance in; None where there is none. And verdict, where it is decided.
    """
    is_accuracy = rates["measure"] == "accuracy"
    is_setting = BY_SETTING.among(rates) & is_accuracy
    place = ["model", *_PLACE]
    names = {"value": "control", "low": "control_low", "high": "control_high", "n": "control_n"}
    compared = divided_by(rates[is_accuracy]).set_index(place)[_COMPARED]
    own = rates[is_setting].drop(columns=_COMPARED).join(compared, on=place).fillna({"baseline": ""})
    is_control = own["source"].isin(CONTROLS.values()) & own["model"].isin(asked) & (own["construction"] != ALL)
    controls = own[is_control].assign(margin=own["low"] - own["chance"]).sort_values("margin", kind="stable")
    worst = controls.drop_duplicates(["model", "source", *SETTING]).set_index(["model", "source", *SETTING])
    worst = worst[[*names]].rename(columns=names).assign(passes_control=(worst["margin"] > 0).astype(object))
    beside = own.assign(of=own["source"].map(CONTROLS)).join(worst, on=["model", "of", *SETTING]).drop(columns="of")
    beside["passes_control"] = beside["passes_control"].where(beside["passes_control"].notna(), None)
    has_none = ~beside["model"].isin(asked) & beside["source"].isin(CONTROLS)
    beside["verdict"] = np.where(has_none, "no_control", "")
    return pd.concat([beside, rates[~is_setting].assign(passes_control=None, verdict="")]).sort_index()


PUBLISHED = Path("published/prompts.yaml")  # its comments say what it has
REASONING = "reasoning"  # the set of the project's own multiple-choice items


def accuracies_by_setting(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies by setting, and by prompt and setting.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of prompts.

    Returns:
        The rates with accuracy and set (for value and source), shots and chain_of_thought as a number and a truth
        value, and whether the set is_multiple choice. prompt is "" where the rate is over all prompts.
    """
    accuracies = rates[rates["measure"] == "accuracy"]
    multiple = [REASONING, *accuracies.loc[BY_TEST.among(accuracies), "source"].unique()]
    kept = accuracies[BY_SETTING.among(accuracies) | BY_PROMPT.among(accuracies)].reset_index(drop=True)
    kept = kept.rename(columns={"value": "accuracy", "source": "set"})
    return kept.assign(
        is_multiple=kept["set"].isin(multiple),
        shots=kept["shots"].astype(int),
        chain_of_thought=kept["chain_of_thought"] == "True",
    )


def prompts_beside_published(
    rates: pd.DataFrame, members: Sequence[Member], use: Callable[[Path], Path]
) -> pd.DataFrame:
    """Return a row for each published accuracy, with the one of this run by the same model in the same setting.

    Args:
        rates: See `accuracies_by_setting`.
        members: The models. One is a published model if the name by which it is asked ends in that model's name.
        use: Notes a file before it is read, and returns it.

    Returns:
        The columns of the published table, with the accuracy in percent; then items (the set of this run, of which
        there may be several), this_run, with its 95 % interval, and n. What did not run, and what is not published, is
        an empty text.

    Source:
        Scivetti et al. 2025, footnote 6: most rates are those of the best prompts; the paper does not say whether a
        prompt is chosen for a model or for a setting.
    """
    names = read_yaml(use(PUBLISHED), DataError)
    theirs = pd.read_csv(use(Path(names["accuracies"])), sep="\t", keep_default_na=False)
    theirs = theirs.assign(
        accuracy=(100 * theirs["accuracy"]).map("{:.1f}".format),
        source=names["source"] + ", Table " + theirs["table"].astype(str),
    )
    served = {one.slug: one.spec.name.lower() for one in members if isinstance(one.spec, Llm)}
    published_name = {slug: known for slug, name in served.items() for known in theirs["model"] if name.endswith(known)}
    ours = accuracies_by_setting(rates)
    ours = ours[ours["model"].isin(published_name)]
    sources = [[Path(source).stem for source in examples.split("+")] for examples in ours["examples"]]
    ours = ours.assign(
        items=ours["set"],
        set=ours["set"].replace(names["sets"]),
        examples=["+".join(sorted(names["examples"].get(stem, stem) for stem in several)) for several in sources],
        prompt=ours["prompt"].replace(names["prompts"]),
        model=ours["model"].map(published_name),
        this_run=[cell(*row) for row in ours[["accuracy", "low", "high"]].to_numpy()],
        n=ours["n"].astype(str),
    )
    setting = ["set", "construction", "shots", "examples", "chain_of_thought", "prompt", "model"]
    table = theirs.merge(ours[[*setting, "items", "this_run", "n"]], on=setting, how="left")
    return with_blanks(table[["source", *setting, "accuracy", "items", "this_run", "n"]])


class PromptsEvaluation(Evaluation[PromptsStage]):
    """What models reply to questions, and which answers they find the likeliest."""

    facets = FACETS
    kept = ("deciding",)
    says = (
        "`prompts/<construction>`: questions that are answered rightly, with the fewest solved examples; a guess is "
        "right in a third. Each number of examples is a child run."
    )
    settings = ("prompts.make", "prompts.score", "prompts.evaluate")
    parts = ("shots", "chain_of_thought", "examples")

    def __init__(self, stage: Stage[PromptsStage]) -> None:
        """Read the questions and items of all constructions."""
        super().__init__(stage)
        self.section, self.members = stage.params.prompts, task_members(stage.params)
        tables = ("questions", "choices", "answers", "items")
        self.questions, self.choices, self.answers, self.items = (self.section.made(one, stage.use) for one in tables)

    def responses(self, member: Member, folder: Path) -> pd.DataFrame:
        """Return the responses by replies, by likelihood or of a baseline."""
        how = self.section.evaluate
        if member.is_asked:
            if isinstance(member.spec, AnswersFile):
                questions = without_prompts(self.questions, chain_of_thought=member.spec.chain_of_thought)
            else:
                questions = self.section.llms[member.slug].part_of(self.questions)
            answered = read_replies(questions, read_table(folder / "replies.parquet"))
        elif member.is_baseline:
            answered = choose_by_rule(self.items, read_table(folder / "answers.parquet"))
        else:
            tokens = read_table(folder / "tokens.parquet")
            answered = choose_answers(self.choices, score_answers(self.choices, self.answers, tokens, how.scores))
        return prompt_responses(answered, how.score)

    def rates(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the rates, whose chance is that of the best constant answer."""
        return rates_of(responses, self.facets, rates_beside_constant)

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates beside those of the controls."""
        return beside_controls(rates, [one.slug for one in self.members if one.is_asked])

    def tables(self, rates: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """Return rates beside published ones."""
        return {"tables/beside_published": prompts_beside_published(rates, self.members, self.stage.use)}
