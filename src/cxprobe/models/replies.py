"""Read the answer in a reply in words. An answer must be stated in a form that prompts ask for; nothing is guessed.

A label is a symbol ("2", "B"), its words ("contradiction", the text of the option) or both. It is stated where it

- follows a noun and "is", a colon or an equals sign: "Answer: 2", "The relation is 1", "{"answer": "B"}";
- is a whole line: "**2**", "0 (entailment)", "B. Marek";
- begins a reply that was asked for at once, and an explanation follows: "0, since ...". After a chain of thought such
  lines are steps or options.

The last one decides after a chain of thought; in a reply that was asked for at once all must agree. There is no answer
if nothing is stated, or if what decides is open: several labels ("0 or 1", "A. Marek" where Marek is B), none ("The
answer is not 2"), a condition ("If it is older, the answer is A") or a question. Thoughts between tags and the markers
of chats are no part of the reply; what follows another "Premise:" or "Text:" belongs to an item that the model made up.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

HEAD, TAIL = 2_000, 20_000
"""The characters at the beginning and at the end of a longer reply that are read."""
_THOUGHT = re.compile(r"[<\[](/?)(?:think|thinking|thought|thoughts|reasoning|scratchpad)[>\]]", re.IGNORECASE)
_CHAT = re.compile(r"<\|[^<>|]{0,40}\|>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>")
_MARKED = re.compile(r"<(answer|final_answer)>(.{0,200}?)</\1>|\\boxed *\{(?:\\\w+ *\{)?([^{}]*)\}+", re.DOTALL | re.I)
_MARKUP = re.compile(r"</?\w+>|[*_`$#>\"“”]|^[^\S\n]*[-•+]\s+|(?<!\w)'|'(?!\w)|\\[\[\]()]", re.MULTILINE)
_NEXT_ITEM = re.compile(r"\n[^\S\n]*(?:premise|text)\s*:", re.IGNORECASE)
_OPEN = re.compile(r"(?:\A|[.!?;\n])\s*(?:if|otherwise|or else|could|would|is|might)\b[^.!?;\n]*\Z", re.IGNORECASE)

_ANNOUNCES = (
    r"\b(?:answer|relation|relationship|label|option|choice|digit|letter|character|value|output)"
    r"(?: +(?!(?:not|never|neither|cannot|says?)\b)[\w']+){0,8}?\s*(?:\b(?:is|would be|should be|must be)\s*:?|[:=])"
    r"\s*(?:(?:the|an?|option|label|number|most likely)\s+)*"
)
_JOIN = r"[^\S\n]*[-–—:=,.)]*[^\S\n]*[(\[]*"  # between a symbol and its words
_ENDS = r"(?=\s*(?:\Z|[.,;:!?)\]}\n—–-]|\b(?:because|since|as|for)\b))"


@lru_cache(maxsize=4096)
def _patterns(answers: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a label, of a stated answer, and of a line that begins with a symbol."""
    sign = rf"(?<![\w.\-])[{''.join(symbol for symbol, _ in answers)}](?![\w-]|\.\d|[%°])"
    word = "|".join(rf"\b{re.escape(words)}(?!\w)" for _, words in answers if words) or "(?!)"
    label = rf"[(\[{{]*(?:{sign}[)\]]*(?:{_JOIN}(?:{word}))?|(?:{word})(?:{_JOIN}{sign})?)[)\]}}]*"
    labels = rf"{label}(?:(?:\s*(?:[,/&]|\b(?:or|and)\b)\s*|\s*\n\s*)(?:{label}(?![^\S\n]+(?!or\b|and\b)\w)|\d+))*"
    stated = (
        rf"{_ANNOUNCES}(?P<named>{labels})(?P<ends>{_ENDS})?"
        rf"|{_ANNOUNCES}(?P<open>not|neither|either|both|between)\b"
        rf"|^[^\S\n]*(?P<line>{labels})[^\S\n]*[.!]*[^\S\n]*$"
        rf"|\A\s*(?P<first>{labels}){_ENDS}"
    )
    return (
        re.compile(rf"(?P<sign>{sign})|(?P<word>{word})|\d+", re.IGNORECASE),
        re.compile(stated, re.IGNORECASE | re.MULTILINE),
        re.compile(rf"^[^\S\n(]*[(]?({sign})[).:]", re.IGNORECASE | re.MULTILINE),
    )


def read_answer(reply: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> str:
    """Return the answer that a reply gives, by the rules of this module, or "" if it gives none or leaves it open.

    Args:
        reply: The whole reply.
        answers: Symbol, a digit or capital letter -> the words that may stand for it or with it ("entailment", the
            text of the option); "" where these are not known.
        chain_of_thought: Whether the model was asked to reason first, so that lines may begin with "1." or "A)" and be
            no answer.
    """
    said, tag = reply, None
    for tag in _THOUGHT.finditer(reply):  # noqa: B007
        pass
    if tag is not None:  # the last tag decides: after an opening one there is no answer
        said = reply[tag.end() :] if tag[1] else ""
    if len(said) > HEAD + TAIL:
        said = f"{said[:HEAD]}\n...{said[-TAIL:].lstrip('0123456789ABC')}"
    said = _MARKED.sub(lambda match: f"\nAnswer: {match[2] or match[3] or ''}\n", _CHAT.sub("\n", said))
    text = _plain(said)
    words_of = {symbol: _plain(words).strip().rstrip(".").lower() for symbol, words in answers.items()}
    symbol_of = {words: symbol for symbol, words in words_of.items()}
    label, stated, begins = _patterns(tuple(words_of.items()))
    is_list = len({match[1].upper() for match in begins.finditer(text)}) > 1
    next_item = _NEXT_ITEM.search(text)
    for end in [*([next_item.start()] if next_item else []), len(text)]:
        found = []
        for match in stated.finditer(text, 0, end):
            if match["first"] and (chain_of_thought or is_list):
                continue
            named = match["named"] or match["line"] or match["first"] or ""
            symbols = {
                one["sign"].upper() if one["sign"] else symbol_of.get((one["word"] or "").lower(), "")
                for one in label.finditer(named)
            }
            before = text[max(0, match.start() - 120) : match.start()]
            is_open = (match["named"] and match["ends"] is None) or text[match.end() :].lstrip().startswith("?")
            found.append(symbols.pop() if len(symbols) == 1 and not is_open and not _OPEN.search(before) else "")
        if found:
            return found[-1] if chain_of_thought or len(set(found)) == 1 else ""
    return ""


def _plain(text: str) -> str:
    """Return a text without mark-up, with full-width signs as usual ones."""
    return _MARKUP.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))


ReplyOutcome = Literal["right", "wrong", "unparsed", "failed"]
REPLY = "reply"  # how a model was asked that answers in words; for other models it is the name of a score


def evaluate_reply(
    reply: str | None, gold: str, answers: Mapping[str, str], *, chain_of_thought: bool
) -> tuple[str, ReplyOutcome]:
    """Evaluate a reply in words by the rules of this module.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The symbol of the right answer.
        answers: Symbol -> the words that may stand for it or with it; see `read_answer`.
        chain_of_thought: Whether the model was asked to reason first.

    Returns:
        The digit or letter of the answer, "" if there is none; and the outcome: "right", "wrong", "unparsed" where
        there is no answer or an open one, or "failed" where there is no reply.
    """
    if reply is None:
        return "", "failed"
    answer = read_answer(reply, answers, chain_of_thought=chain_of_thought)
    if not answer:
        return "", "unparsed"
    return answer, "right" if answer == gold else "wrong"
