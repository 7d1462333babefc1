"""Reading the answer in a reply in words. An answer must be stated; nothing is guessed.

The text is searched for labels: a symbol ("2", "B"), its words ("contradiction", the text of the option or three words
of it that no other option has) or both. Labels with nothing but "or", "and" or punctuation between them are one group.
A group is stated where it

- follows a noun that announces it: "Relation: 2", "The answer is B", "Therefore, the numerical value is 2.";
- follows a phrase that decides, and ends a clause: "I would say 1", "so B", "this is a contradiction";
- is called right: "B is correct";
- is the whole end of a line: "**2**", "Both cannot be true. 2", "Not enough information";
- begins a line of a reply that was asked for at once, and an explanation follows: "0 (Entailment): since ...". After a
  chain of thought such lines are steps or options.

The last group that is stated decides. The reply has no answer if nothing is stated, or if that group has different
labels ("0 or 1", "A. Marek" where Marek is B), is conditional ("If it is older, A") or in a question. Thoughts between
tags are no part of the reply, and what follows after another "Premise:" or "Text:" belongs to an item that the model
has made up.

This file imports nothing but Python's own library: exports for other tools carry it as it is.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

HEAD, TAIL = 2_000, 20_000
"""The characters at the beginning and at the end of a longer reply that are read."""
_TAGS = "think|thinking|thought|thoughts|reasoning|scratchpad"
_THOUGHT = re.compile(rf"<(/?)(?:{_TAGS})>", re.IGNORECASE)
_ANSWER = re.compile(r"<(answer|final_answer)>(.{0,200}?)</\1>|\\boxed *\{(?:\\\w+ *\{)?([^{}]*)\}+", re.DOTALL | re.I)
_MARKUP = re.compile(r"[=-]{1,3}>|→|[*_`$#>\"“”«»„]|(?<!\w)['‘]|['‘](?!\w)|\\[\[\]()]")
_BULLET = re.compile(r"^[^\S\n]*[-•+]\s+", re.MULTILINE)
_BESIDE_CJK = re.compile(r"(?<=[\u3040-\u9fff\uac00-\ud7af])(?=[0-9A-Za-z])|(?<=[0-9A-Za-z])(?=[\u3040-\u9fff])")
_NEXT_ITEM = re.compile(r"\n[^\S\n]*(?:premise|text)\s*:", re.IGNORECASE)

# Nouns that announce an answer, also in the languages into which replies fall most often.
_NOUN = (
    r"(?<!\w)(?:answer|ans|label|relation|relationship|option|choice|digit|letter|character|value|output|conclusion|"
    r"classification|verdict|prediction|judge?ment|antwort|respuesta|réponse|risposta|resposta|ответ|答案|回答|정답|verhältnis)"
)
_IS = r"(?:is|was|would be|should be|must be|has to be|ist|es|est|è|是|为|は)"
_BEFORE = r"(?:(?:most likely|perhaps|\w+ly|option|choice|label|class|answer|number|an?|the|la)[^\S\n]+)*[(\[{]*"
_WORDS = r"(?:[^\S\n]+(?!(?:not|never|neither|cannot)\b)[^\W\d]+(?:'\w+)?){0,8}"
_ANNOUNCES = rf"\s*(?:{_IS}(?!\w)\s*:?|[:=]|\s[-–—]\s)\s*{_BEFORE}\Z"
_NAMED = re.compile(rf"{_NOUN}{_ANNOUNCES}", re.IGNORECASE)
_NAMED_FAR = re.compile(rf"{_NOUN}{_WORDS}\s*\b{_ANNOUNCES}", re.IGNORECASE)
_DECIDES = re.compile(
    r"\b(?:(?:i(?:'d|'ll| would| will| must)? (?:say|choose|pick|select|answer|go with|opt for|"
    r"(?:label|classify|rate)(?: \w+){0,3} as)|labell?ed(?: as)?|(?:it|this|that)(?:'s| is| must be| has to be))|"
    rf"(?:so|hence|thus|therefore|but)(?: it is)?,?)\s+{_BEFORE}\Z",
    re.IGNORECASE,
)
_PRAISED = re.compile(
    r"\s+(?:(?:is|would be|must be)\s+(?:the\s+)?|the\s+)(?:correct|right|best|answer)", re.IGNORECASE
)
_LINE_BEGINS = re.compile(rf"(?:\A|\n)\s*{_BEFORE}\Z", re.IGNORECASE)
_SENTENCE_BEGINS = re.compile(rf"(?:\A|\n|[.!?:]\s)\s*{_BEFORE}\Z", re.IGNORECASE)
_LINE_ENDS = re.compile(r"[^\S\n]*[.!}。]*[^\S\n]*(?:\n|\Z)")
_CLAUSE_ENDS = re.compile(r"\s*(?:\Z|[.,;:!?)\]}。，—–(-]|\n|\b(?:because|since|as|for|given|due)\b)", re.IGNORECASE)
_EXPLAINED = re.compile(r"[^\S\n]*[.:,;–—-]|\s+(?:because|since|as)\b", re.IGNORECASE)
_BEGINS_LIST = re.compile(r"\w[)\].:,]+\s")
_CONDITIONAL = re.compile(r"(?:\A|[.!?;\n])\s*(?:if|otherwise|or else)\b[^.!?;\n]*\Z", re.IGNORECASE)
_IN_QUESTION = re.compile(r"[^.!?\n]*\?")
_BETWEEN = r"[\s,;{}\[\]()|/&-]*(?:(?:or|and|nor|oder|ou)\s+)?(?:(?:maybe|option)\s+)?[(\[]*"
_GROUPED = re.compile(_BETWEEN, re.IGNORECASE)
_LISTED = re.compile(rf"{_BETWEEN}(?:{_NOUN}\s*[:=]\s*)?", re.IGNORECASE)
_ALONE = re.compile(r"[\s(\[]*(\w)[\s)\].,:;!]*")
_NEAR = 120  # characters before and after a label that may state it


class _Label(NamedTuple):
    """A group of labels from one place of the text to another; symbol is "" if they differ or are no answer."""

    start: int
    end: int
    symbol: str
    is_article: bool = False  # "A person": no answer, and only after a noun that announces one a doubt


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
    text = _plain(_ANSWER.sub(lambda match: f"\nAnswer: {match[2] or match[3] or ''}\n", said))
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        return alone[1].upper() if alone[1].upper() in answers else ""
    words = {symbol: _plain(option).strip().rstrip(".").strip().lower() for symbol, option in answers.items()}
    labels = _labels(text, words, _GROUPED if chain_of_thought else _LISTED)
    next_item = _NEXT_ITEM.search(text)
    for end in [*([next_item.start()] if next_item else []), len(text)]:
        stated = _last_stated(text[:end], [one for one in labels if one.end <= end], chain_of_thought=chain_of_thought)
        if stated is not None:
            return stated
    return ""


def _plain(text: str) -> str:
    """Return a text without mark-up, with full-width signs as usual ones."""
    usual = _BESIDE_CJK.sub(" ", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return _BULLET.sub("", _MARKUP.sub("", re.sub(r"</?\w+>", " ", usual)))


@lru_cache(maxsize=4096)
def _label_pattern(words: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return what a label looks like, and words that stand for one symbol alone -> that symbol."""
    known: dict[str, str] = {}
    for symbol, option in words:
        others = [text for one, text in words if one != symbol]
        parts = option.split()
        runs = [" ".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 3, len(parts) + 1)]
        known |= {run: symbol for run in runs if not any(run in other for other in others)}
        if option and option not in others:
            known[option] = symbol
    word = "|".join(rf"\b{re.escape(run)}(?!\w)" for run in sorted(known, key=len, reverse=True)) or "(?!)"
    symbols = "".join(symbol for symbol, _ in words)
    sign = rf"(?<![\w.\-])(?:[{symbols}]|[{symbols.lower()}](?=\s*(?:[)\].,;:!}}]|$)))(?![\w-]|\.\d|[%°])"
    join = r"[^\S\n]*[-–—:=,.)]*[^\S\n]*[(\[]*"
    pattern = (
        rf"(?P<symbol>{sign})[)\]]*(?:{join}(?P<word>(?i:{word})))?[)\]]*"
        rf"|(?P<alone>(?i:{word}))(?:{join}(?P<after>{sign}))?[)\]]*"
    )
    return re.compile(pattern, re.MULTILINE), known


_ARTICLE = re.compile(r"[^\S\n]+(?!(?:as|because|due|for|given|is|since|the|or|and|would|must)\b)[a-z]")
_LIST_GOES_ON = re.compile(r"[.:][^\S\n]+\w")
_FRACTION = re.compile(r"\s*/\s*\d")


def _labels(text: str, words: Mapping[str, str], grouped: re.Pattern[str]) -> list[_Label]:
    """Return the groups of labels of a text in its order."""
    pattern, known = _label_pattern(tuple(words.items()))
    labels: list[_Label] = []
    for match in pattern.finditer(text):
        symbol = (match["symbol"] or match["after"] or "").upper()
        word = match["word"] or match["alone"]
        by_word = known.get(word.lower(), "") if word else symbol
        is_article = match[0] == "A" and bool(_ARTICLE.match(text, match.end()))
        agrees = symbol in ("", by_word) and not is_article
        one = _Label(match.start(), match.end(), by_word if agrees else "", is_article)
        gap = text[labels[-1].end : one.start] if labels else "."
        # "A\n\nB is wrong, because ..." is an answer and a sentence, "0\n1. The premise ..." an answer and a list.
        is_clause = _CLAUSE_ENDS.match(text, one.end) and not _LIST_GOES_ON.match(text, one.end)
        begins_sentence = "\n" in gap and not is_clause
        if grouped.fullmatch(gap) and not (is_article or begins_sentence):
            before = labels.pop()
            one = _Label(before.start, one.end, one.symbol if one.symbol == before.symbol else "")
        if _FRACTION.match(text, one.end):
            one = one._replace(symbol="")
        labels.append(one)
    return labels


def _last_stated(text: str, labels: list[_Label], *, chain_of_thought: bool) -> str | None:
    """Return the symbol that is stated last, "" if it is open, or None if nothing is stated."""
    leading = [] if chain_of_thought else [one for one in labels if _leads(text, one)]
    if len({one.symbol for one in leading}) > 1:
        leading = []
    for one in reversed(labels):
        before, after = text[max(0, one.start - _NEAR) : one.start], text[one.end : one.end + _NEAR]
        if _IN_QUESTION.match(after):
            return ""
        ends_clause = bool(_CLAUSE_ENDS.match(after))
        is_named = bool(_NAMED.search(before) or (ends_clause and _NAMED_FAR.search(before)))
        if one.is_article and not is_named:
            continue
        if (
            is_named
            or (ends_clause and _DECIDES.search(before))
            or _PRAISED.match(after)
            or (_SENTENCE_BEGINS.search(before) and _LINE_ENDS.match(after))
            or one in leading[:1]
        ):
            return "" if _CONDITIONAL.search(before) else one.symbol
    return None


def _leads(text: str, one: _Label) -> bool:
    before, after = text[max(0, one.start - _NEAR) : one.start], text[one.end : one.end + _NEAR]
    is_explained = _EXPLAINED.match(after) or _BEGINS_LIST.match(text, one.start)
    return bool(_LINE_BEGINS.search(before) and is_explained) and not one.is_article


ReplyOutcome = Literal["right", "wrong", "unparsed", "failed"]
REPLY = "reply"  # how a model was asked that answers in words; for other models it is the name of a score


class JudgedReply(NamedTuple):
    """What a reply says, and whether that is right.

    Attributes:
        answer: The digit or letter that is given, or "" if there is none.
        outcome: "right", "wrong", "unparsed" if there is no answer, or "failed" if there was no reply.
    """

    answer: str
    outcome: ReplyOutcome


def judge_reply(reply: str | None, gold: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> JudgedReply:
    """Judge a reply in words by the rules of this module; an open answer, and none, are unparsed.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The symbol of the right answer.
        answers: Symbol -> the words that may stand for it or with it; see `read_answer`.
        chain_of_thought: Whether the model was asked to reason first.
    """
    if reply is None:
        return JudgedReply("", "failed")
    answer = read_answer(reply, answers, chain_of_thought=chain_of_thought)
    if not answer:
        return JudgedReply("", "unparsed")
    return JudgedReply(answer, "right" if answer == gold else "wrong")
