"""Replies in words: what a model answered, and whether that is right. Nothing is guessed."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.records import RELATIONS, Relation

ReplyOutcome = Literal["right", "wrong", "unparsed", "failed"]
REPLY = "reply"  # how a model was asked that answers in words; for other models it is the name of a score

# The answers that a model may give, each with the word that may follow it on its line.
_INFERENCE: Mapping[str, str] = {str(number): relation for number, relation in enumerate(RELATIONS)}
_REASONING: Mapping[str, str] = {"A": "", "B": "", "C": ""}

# What may follow an "A" that is an option; before any other lower-case word it may be the article.
_AFTER_OPTION = r"(?:as|because|due|for|given|is|since|the)\b"

# Reasoning between tags. Without a closing tag there is no answer; without an opening tag the closing one ends it.
_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r".*</(?:think|thinking|thought|reasoning|scratchpad)>", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}+")
_MARKUP = re.compile(r"[*_`$#>\"'“”‘’]")


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

    An answer is a digit that a whole line consists of ("1", "**2** (contradiction)"), or that the reply names as the
    answer ("Answer: 1"), possibly after its word ("Answer: neutral (1)"). The last one counts, so that a digit in the
    reasoning is not an answer. Without chain of thought a reply may also begin with the digit and then explain it
    ("0. The premise says ..."). An open answer ("Answer: 0 or 1", "Answer: 1/3"), a digit after the word of another
    digit, and a word without its digit are unparsed.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The right answer.
        chain_of_thought: Whether the model was asked to reason first.

    Source:
        Scivetti et al. 2025 (one digit); inspect_ai issue 721 (the first digit being in the reasoning).
    """
    return _judge(reply, str(RELATIONS.index(gold)), _INFERENCE, chain_of_thought=chain_of_thought)


def judge_reasoning(reply: str | None, gold: str, *, chain_of_thought: bool) -> JudgedReply:
    """Judge a reply to a multiple-choice question, whose answer is one letter, as `judge_inference` does a digit.

    An A that could also be the article ("Answer: A person who is taller") is unparsed.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The right answer, "A", "B" or "C".
        chain_of_thought: Whether the model was asked to reason first.
    """
    return _judge(reply, gold, _REASONING, chain_of_thought=chain_of_thought)


def _judge_row(row: "pd.Series[str]") -> JudgedReply:
    text = None if row["failed"] else str(row["reply"])
    thought = bool(row["chain_of_thought"])
    if row["kind"] == "inference":
        return judge_inference(text, RELATIONS[int(row["gold"])], chain_of_thought=thought)
    return judge_reasoning(text, row["gold"], chain_of_thought=thought)


def _judge(reply: str | None, gold: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> JudgedReply:
    if reply is None:
        return JudgedReply("", "failed")
    answer = _last_answer(_after_reasoning(reply), answers, chain_of_thought=chain_of_thought)
    if answer is None:
        return JudgedReply("", "unparsed")
    return JudgedReply(answer, "right" if answer == gold else "wrong")


def _after_reasoning(reply: str) -> str:
    rest = _END_OF_THOUGHT.sub("", _THOUGHTS.sub("", reply))
    return _MARKUP.sub("", _BOXED.sub(r"\nAnswer: \1\n", rest))


def _last_answer(text: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> str | None:
    """Return the answer that is given last, or None if none is given or the last one is left open."""
    symbol, words = _symbol(answers), "|".join(filter(None, answers.values()))
    worded = rf"(?:(?P<word>{words})[^\S\n]*[-–—:=,]?[^\S\n]*)?" if words else ""
    named = re.compile(
        rf"\b(?:answer|label|option|choice)\b\s*(?:is|was|would be|should be|must be)?\s*(?P<colon>[:=])?\s*"
        rf"(?:option|choice|label)?\s*{worded}[(\[]*(?P<symbol>{symbol})[)\]]*"
        rf"(?P<open>\s*(?:or|and|/|,)\s*[(\[]*(?:{symbol})|\s*/\s*\d)?",
        re.IGNORECASE,
    )
    praised = re.compile(
        rf"(?P<symbol>{symbol})[)\]]*\s+(?:is|would be|must be)\s+(?:the\s+)?(?:correct|right|best|answer)",
        re.IGNORECASE,
    )
    found: list[tuple[int, str | None]] = []
    for match in named.finditer(text):
        if _is_said(match) and _is_letter_of_its_own(match, text):
            open_ = match["open"] or _has_another_word(match, answers) or _may_be_article(match, text)
            found.append((match.start("symbol"), None if open_ else match["symbol"].upper()))
    for match in praised.finditer(text):
        if match["symbol"].isupper() or match["symbol"].isdigit():
            found.append((match.start("symbol"), match["symbol"].upper()))
    found += _lone(text, answers)
    if not found and not chain_of_thought:
        found += _leading(text, answers)
    return max(found, key=lambda one: one[0])[1] if found else None


def _symbol(answers: Mapping[str, str]) -> str:
    return rf"(?<![\w.\-])[{''.join(answers)}](?![\w-]|\.\d)"


def _is_said(match: re.Match[str]) -> bool:
    """Return whether the word before the symbol says that this is the answer, as "option A" alone does not."""
    between = match.group()[: match.start("symbol") - match.start()].lower()
    return bool(match["colon"]) or bool(re.search(r"\b(?:is|was|would be|should be|must be)\b", between))


def _is_letter_of_its_own(match: re.Match[str], text: str) -> bool:
    """Return whether the symbol is not an article: "the answer is a matter of taste" has none."""
    return not match["symbol"].islower() or bool(re.match(r"\s*(?:[)\].,;:!]|$)", text[match.end("symbol") :], re.M))


def _has_another_word(match: re.Match[str], answers: Mapping[str, str]) -> bool:
    word = match.groupdict().get("word")
    return word is not None and word.lower() != answers[match["symbol"].upper()]


def _may_be_article(match: re.Match[str], text: str) -> bool:
    """Return whether the symbol is a capital A, without a bracket, before a word that can follow the article."""
    return match["symbol"] == "A" and bool(re.match(rf"[^\S\n]+(?!{_AFTER_OPTION})[a-z]", text[match.end("symbol") :]))


def _lone(text: str, answers: Mapping[str, str]) -> list[tuple[int, str | None]]:
    """Return the lines that consist of an answer, and perhaps its word in brackets: "1", "(B)", "2 (contradiction)"."""
    found: list[tuple[int, str | None]] = []
    for answer, word in answers.items():
        after = rf"(?:\s*[-–—:.]?\s*[(\[]?{word}[)\]]?)?" if word else ""
        before = rf"(?:{word}[^\S\n]*[-–—:]?[^\S\n]*)?" if word else ""
        lone = re.compile(
            rf"^\s*{before}[(\[]?(?P<symbol>{answer})[)\]]?{after}\s*[.!:)]?\s*$", re.IGNORECASE | re.MULTILINE
        )
        found += [(match.start("symbol"), answer) for match in lone.finditer(text)]
    return found


def _leading(text: str, answers: Mapping[str, str]) -> list[tuple[int, str | None]]:
    """Return the answer that lines begin with, if all lines that begin with one agree."""
    leading = re.compile(rf"^\s*[(\[]?(?P<symbol>[{''.join(answers)}])\s*[)\].:,;–—-](?![\d])", re.MULTILINE)
    symbols = {match["symbol"]: match.start("symbol") for match in leading.finditer(text)}
    return [(place, symbol) for symbol, place in symbols.items()] if len(symbols) == 1 else []
