"""Prompts, which are texts with fields such as {item} that tasks fill in, and the answers in replies to them.

A reply in words must state the answer in a form that prompts ask for; nothing is guessed.

A label is a symbol ("2", "B"), its words ("contradiction", the text of the option) or both. A reply states a label that

- follows a noun and "is", a colon or an equals sign: "Answer: 2", "The relation is 1", "{"answer": "B"}";
- is what the last line of a chain of thought draws: "..., resulting in a neutral relationship (1)";
- is a whole line: "**2**", "0 (entailment)", "B. Marek";
- begins a reply without a chain of thought, before an explanation: "0, since ...". In a chain of thought such lines are
  steps or options.

With a chain of thought the last statement decides; without one all statements must agree. A reply has no answer if it
states nothing, or if a statement that decides is open: it has several labels ("0 or 1", "A. Marek" where Marek is B),
none ("The answer is not 2"), a condition ("If it is older, the answer is A") or a question. A list of all labels states
nothing. Thoughts between tags and markers of chats are ignored. What follows another "Premise:" or "Text:" belongs to
an item that the model made up, and is read only if nothing is stated before it; "- Premise:" repeats the item.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import AfterValidator

from cxprobe.errors import PromptError
from cxprobe.files.schema import Closed, Slug, read_checked, suggest
from cxprobe.text import slots_of

PROMPTS_FOLDER = Path("prompts")
PromptName = Slug
FileOfPrompts = TypeVar("FileOfPrompts", bound=Closed)
NamedPrompt = TypeVar("NamedPrompt")
HEAD, TAIL = 2_000, 20_000
"""The numbers of characters that are read at the beginning and at the end of a longer reply."""
_THOUGHT = re.compile(r"[<\[](/?)(?:think|thinking|thought|thoughts|reasoning|scratchpad)[>\]]", re.IGNORECASE)
_CHAT = re.compile(r"<\|[^<>|]{0,40}\|>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>")
_MARKED = re.compile(r"<(answer|final_answer)>(.{0,200}?)</\1>|\\boxed *\{(?:\\\w+ *\{)?([^{}]*)\}+", re.DOTALL | re.I)
_MARKUP = re.compile(r"</?\w+>|[*_`$#>\"“”]|^[^\S\n]*[-•+]\s+|(?<!\w)'|'(?!\w)|\\[\[\]()]", re.MULTILINE)
_NEXT_ITEM = re.compile(r"\n[^\S\n]*(?:premise|text)\s*:", re.IGNORECASE)
_REPEATED = re.compile(r"^([^\S\n]*[-•+*]\s+\W*)(?=(?:premise|text)\b)", re.IGNORECASE | re.MULTILINE)
_OPEN = re.compile(r"[.!?;\n]\s*(?:if|otherwise|or else|could|would|is|might)\b[^.!?;\n]*\Z", re.IGNORECASE)

_ANNOUNCES = (
    r"\b(?:answer|relation|relationship|label|option|choice|digit|letter|character|value|output|code|conclusion"
    r"|determination)"
    r"(?: +(?!(?:not|never|neither|cannot|says?)\b)[\w']+){0,8}?\s*(?:\b(?:is|would be|should be|must be)\s*:?|[:=])"
    r"\s*(?:(?:the|an?|option|label|number|most likely)\s+)*"
)
_CONCLUDES = (
    r"\b(?:(?:making|makes)\s+(?:it|this|(?:the|their)\s+\w+)|resulting\s+in|leading\s+to|indicating"
    r"|(?:hence|thus|therefore),?\s+(?:it|this)\s+is)\s+(?:an?\s+)?(?:(?:clear\s+)?case\s+of\s+)?"
)
_JOIN = r"[^\S\n]*[-–—:=,.)]*[^\S\n]*[(\[]*"  # between a symbol and its words
_ENDS = r"(?=\s*(?:\Z|[.,;:!?)\]}\n—–-]|\(?\b(?:because|since|as|for|where)\b|\(the\b))"


def with_fields(*fields: str) -> AfterValidator:
    """Return a check that a text has exactly these fields."""

    def check(text: str) -> str:
        if {*slots_of(text)} != set(fields):
            listed = ", ".join(f"{{{name}}}" for name in fields)
            raise ValueError(f"{text!r} must have exactly the fields {listed or '(none)'}")
        return text

    return AfterValidator(check)


def named(prompts: Mapping[str, NamedPrompt], name: str, kind: str) -> NamedPrompt:
    """Return the prompt or continuation with a name.

    Args:
        prompts: Name -> prompt or continuation.
        name: The name.
        kind: What the name stands for, for the message.

    Raises:
        PromptError: None has this name.
    """
    if name not in prompts:
        raise PromptError(f"{kind} '{name}' is unknown{suggest(name, prompts)}")
    return prompts[name]


def read_prompt_file(model: type[FileOfPrompts], path: Path) -> FileOfPrompts:
    """Read and check a file of prompts.

    Args:
        model: The class of its content.
        path: The file.

    Raises:
        PromptError: The file has faults; the message has one line for each.
    """
    return read_checked(model, path, PromptError)


@lru_cache(maxsize=4096)
def _patterns(answers: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a label, of a stated answer, and of a line that begins with a symbol."""
    sign = rf"(?<![\w.\-])[{''.join(symbol for symbol, _ in answers)}](?![\w-]|\.\d|[%°])"
    word = "|".join(rf"\b{re.escape(words)}(?!\w)" for _, words in answers if words) or "(?!)"  # matches nothing
    kind = rf"(?:{word})(?:\s+(?:one|relation|relationship)\b)?"
    label = rf"[(\[{{]*(?:{sign}[)\]]*(?:{_JOIN}(?:{word}))?|{kind}(?:{_JOIN}{sign})?)[)\]}}]*"
    labels = rf"{label}(?:(?:\s*(?:[,/&]|\b(?:or|and)\b)\s*|\s*\n\s*)(?:{label}(?![^\S\n]+(?!or\b|and\b)\w)|\d+))*"
    stated = (
        rf"{_ANNOUNCES}(?P<named>{labels})(?P<ends>{_ENDS})?"
        rf"|{_ANNOUNCES}(?P<open>not|neither|either|both|between)\b"
        rf"|^[^\S\n]*(?P<line>{labels})[^\S\n]*[.!]*[^\S\n]*$"
        rf"|\A\s*(?P<first>{labels}){_ENDS}"
        rf"|{_CONCLUDES}(?P<drawn>{labels}){_ENDS}(?=[^\n]*\s*\Z)"
    )
    return (
        re.compile(rf"(?P<sign>{sign})|(?P<word>{word})|\d+", re.IGNORECASE),
        re.compile(stated, re.IGNORECASE | re.MULTILINE),
        re.compile(rf"^[^\S\n(]*[(]?({sign})[).:]", re.IGNORECASE | re.MULTILINE),
    )


def read_answer(reply: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> str:
    """Return the answer of a reply by the rules of this module; "" if it has none or an open one.

    Args:
        reply: The whole reply.
        answers: Symbol (a digit or a capital letter) -> its words, which may stand in its place or beside it
            ("entailment", the text of the option); "" where they are not known.
        chain_of_thought: Whether the model was asked to reason first. Lines that begin with "1." or "A)" may then be
            steps.
    """
    said, last_tag = reply, None
    for last_tag in _THOUGHT.finditer(reply):  # noqa: B007 (a list of all tags would be slow)
        pass
    if last_tag is not None:  # after a last tag that opens a thought there is no answer
        said = reply[last_tag.end() :] if last_tag[1] else ""
    if len(said) > HEAD + TAIL:
        said = f"{said[:HEAD]}\n...{said[-TAIL:].lstrip('0123456789ABC')}"
    said = _MARKED.sub(lambda match: f"\nAnswer: {match[2] or match[3] or ''}\n", _CHAT.sub("\n", said))
    text = _plain(_REPEATED.sub(r"\1its ", said))
    words_of = {symbol: _plain(words).strip().rstrip(".").lower() for symbol, words in answers.items()}
    symbol_of = {words: symbol for symbol, words in words_of.items()}
    label, stated, line_start = _patterns(tuple(words_of.items()))
    is_list = len({match[1].upper() for match in line_start.finditer(text)}) > 1  # a list of options
    next_item = _NEXT_ITEM.search(text)
    for end in [*([next_item.start()] if next_item else []), len(text)]:
        found = []
        for match in stated.finditer(text, 0, end):
            if match["first"] and (chain_of_thought or is_list):
                continue
            if match["drawn"] and not chain_of_thought:
                continue
            named = match["named"] or match["line"] or match["first"] or match["drawn"] or ""
            symbols = {
                part["sign"].upper() if part["sign"] else symbol_of.get((part["word"] or "").lower(), "")
                for part in label.finditer(named)
            }
            if len(symbols) == len(answers):
                continue
            before = ("" if match.start() > 120 else "\n") + text[max(0, match.start() - 120) : match.start()]
            goes_on = match["named"] and match["ends"] is None
            is_question = text[match.end() :].lstrip().startswith("?")
            is_open = goes_on or is_question or _OPEN.search(before)
            found.append(symbols.pop() if len(symbols) == 1 and not is_open else "")
        if found:
            return found[-1] if chain_of_thought or len(set(found)) == 1 else ""
    return ""


def _plain(text: str) -> str:
    """Remove mark-up from a text, and replace full-width characters by the usual ones."""
    return _MARKUP.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))


def evaluate_reply(
    reply: str | None, gold: str, answers: Mapping[str, str], *, chain_of_thought: bool
) -> tuple[str, Literal["right", "wrong", "unparsed", "failed"]]:
    """Evaluate a reply in words by the rules of this module.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The symbol of the right answer.
        answers: Symbol -> its words; see `read_answer`.
        chain_of_thought: Whether the model was asked to reason first.

    Returns:
        The symbol of the answer, "" if there is none; and the outcome: "right", "wrong", "unparsed" for a reply without
        an answer or with an open one, or "failed" for no reply.
    """
    if reply is None:
        return "", "failed"
    answer = read_answer(reply, answers, chain_of_thought=chain_of_thought)
    if not answer:
        return "", "unparsed"
    return answer, "right" if answer == gold else "wrong"
