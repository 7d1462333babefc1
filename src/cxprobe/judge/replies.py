"""Replies in words: what a model answered, and whether that is right. Nothing is guessed."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.judge.readings import read_answer
from cxprobe.records import RELATIONS, Relation

ReplyOutcome = Literal["right", "wrong", "unparsed", "failed"]
REPLY = "reply"  # how a model was asked that answers in words; for other models it is the name of a score

# The answers that a model may give, each with the words that may stand for it or with it.
_INFERENCE: Mapping[str, str] = {str(number): relation for number, relation in enumerate(RELATIONS)}
_REASONING: Mapping[str, str] = {"A": "", "B": "", "C": ""}
# A reply that is a letter and ASCII punctuation: it says the same whatever the options are.
_LETTER_ALONE = re.compile(r"[!-/:-@\[-`{-~]*[A-Za-z][!-/:-@\[-`{-~]*")
OPTION_COLUMNS: Mapping[str, str] = {"A": "option_a", "B": "option_b", "C": "option_c"}  # of questions


class JudgedReply(NamedTuple):
    """What a reply says, and whether that is right.

    Attributes:
        answer: The digit or letter that is given, or "" if there is none.
        outcome: "right", "wrong", "unparsed" if there is no answer, or "failed" if there was no reply.
    """

    answer: str
    outcome: ReplyOutcome


def judge_reply_table(questions: pd.DataFrame, replies: pd.DataFrame) -> pd.DataFrame:
    """Judge the reply to every question.

    Args:
        questions: One row per question: id, kind ("inference" or "reasoning"), gold, chain_of_thought and any other
            columns, which are kept.
        replies: One row per question: id, reply, and failed, whether the request failed.

    Returns:
        The questions with the columns asked ("reply"), reply, answer ("" if there is none), outcome, and credit (1 for
        right, else 0).

    Raises:
        DataError: The replies are not those to the questions.
    """
    if sorted(questions["id"]) != sorted(replies["id"]):
        raise DataError(
            f"there are {len(replies)} replies to {len(questions)} questions, or to others; run ask_llms again"
        )
    replied = questions.merge(replies[["id", "reply", "failed"]], on="id", validate="one_to_one")
    judged = [_judge_row(row) for _, row in replied.iterrows()]
    return replied.drop(columns="failed").assign(
        asked=REPLY,
        answer=[one.answer for one in judged],
        outcome=[one.outcome for one in judged],
        credit=[float(one.outcome == "right") for one in judged],
    )


def judge_inference(reply: str | None, gold: Relation, *, chain_of_thought: bool) -> JudgedReply:
    """Judge a reply to a question about a premise and a hypothesis, whose answer is one digit.

    The answer is read by the rules of `cxprobe.judge.readings`: the last digit, relation ("contradiction") or both that
    the reply states as its answer. An open answer ("0 or 1", "1/2"), a digit with the word of another, and a reply that
    states none are unparsed.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The right answer.
        chain_of_thought: Whether the model was asked to reason first.

    Source:
        Scivetti et al. 2025 (one digit); inspect_ai issue 721 (the first digit being in the reasoning).
    """
    return _judge(reply, str(RELATIONS.index(gold)), _INFERENCE, chain_of_thought=chain_of_thought)


def judge_reasoning(
    reply: str | None, gold: str, *, chain_of_thought: bool, options: Mapping[str, str] | None = None
) -> JudgedReply:
    """Judge a reply to a multiple-choice question, whose answer is one letter, as `judge_inference` does a digit.

    An A that could also be the article ("Answer: A person who is taller") is unparsed.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The right answer, "A", "B" or "C".
        chain_of_thought: Whether the model was asked to reason first.
        options: Letter -> the text of the option as it was shown, by which "Ida" is read as "A" and "A. Marek" is
            open; None if it is not known.
    """
    return _judge(reply, gold, options or _REASONING, chain_of_thought=chain_of_thought)


def judge_preference(reply: str | None, gold: str, options: Mapping[str, str]) -> JudgedReply:
    """Judge a reply to the question which of two texts is the likelier, as `judge_reasoning` does.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The letter of the right text, "A" or "B".
        options: Letter -> the text that was shown with it.
    """
    stripped = "" if reply is None else reply.strip()
    if _LETTER_ALONE.fullmatch(stripped) and all(len(text.split()) > 1 for text in options.values()):
        options = dict.fromkeys(options, "")  # what is read by other texts takes the time to compile patterns for them
    return _judge(reply, gold, options, chain_of_thought=False)


def _judge_row(row: "pd.Series[str]") -> JudgedReply:
    text = None if row["failed"] else str(row["reply"])
    thought = bool(row["chain_of_thought"])
    if row["kind"] == "inference":
        return judge_inference(text, RELATIONS[int(row["gold"])], chain_of_thought=thought)
    options = {letter: str(row[column]) for letter, column in OPTION_COLUMNS.items() if column in row.index}
    return judge_reasoning(text, row["gold"], chain_of_thought=thought, options=options)


def _judge(reply: str | None, gold: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> JudgedReply:
    if reply is None:
        return JudgedReply("", "failed")
    answer = read_answer(reply, answers, chain_of_thought=chain_of_thought)
    if not answer:
        return JudgedReply("", "unparsed")
    return JudgedReply(answer, "right" if answer == gold else "wrong")
