"""Reading the answer in a reply in words. An answer must be stated; nothing is guessed.

The rules are these, and `read_answer` follows them in this order:

1. Thoughts between tags are no part of the reply. Mark-up, quotation marks, LaTeX and JSON's punctuation are no words.
2. An answer is its symbol ("2", "B"), its words ("contradiction", the whole text of the option) or both. If both are
   given and do not belong together, the answer is open.
3. An answer is stated where it
   - is the whole last sentence of a line, or what follows a colon at its end: "**2**", "Both cannot be true. 2";
   - follows a noun that announces it and a colon, a dash or "is": "Relation: 2", "The answer is B", "Antwort: 2";
   - follows a phrase that decides, and ends a clause: "I would say 1", "so B", "this is a contradiction";
   - is called right: "B is correct";
   - is a line with a part of its option's text: "C. Not enough information";
   - begins a line of a reply that was asked for at once, and an explanation follows: "0 (Entailment): since ...".
     After a chain of thought such lines are steps or options.
   "May be", "could be", "not" and "neither" state nothing, and neither does a sentence that only implies an answer
   ("The premise entails the hypothesis.").
4. Another answer after "or", "and", a comma or a slash, a condition ("If it is the taller one, the answer is A"), or a
   later question about another answer leaves it open.
5. Different answers with nothing between them are a list of options (or no decision), and none of them is stated.
6. The last answer counts. Where it is open, so is the reply. What follows after another "Premise:" or "Text:" belongs
   to an item that the model has made up.

This file imports nothing but Python's own library: exports for other tools carry it as it is.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

_TAGS = "think|thinking|thought|thoughts|reasoning|scratchpad"
# Without a closing tag there is no answer; without an opening tag the closing one ends the thoughts.
_THOUGHTS = re.compile(rf"<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(rf".*</(?:{_TAGS})>", re.DOTALL | re.IGNORECASE)
_ANSWER_TAG = re.compile(r"<(answer|final_answer)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{(?:\\\w+\s*\{)?([^{}]*)\}+")
_TAG = re.compile(r"</?\w+>")
_MARKUP = re.compile(r"[=-]+>|→|[*_`$#>\"“”«»„]|(?<!\w)['‘]|['‘](?!\w)|\\[\[\]()]")
_BULLET = re.compile(r"^[^\S\n]*[-•+]\s+", re.MULTILINE)
_BESIDE_CJK = re.compile(r"(?<=[\u3040-\u9fff\uac00-\ud7af])(?=[0-9A-Za-z])|(?<=[0-9A-Za-z])(?=[\u3040-\u9fff])")
_NEXT_ITEM = re.compile(r"^\s*(?:premise|text)\s*:", re.IGNORECASE | re.MULTILINE)

# Nouns that announce an answer, in the languages into which replies fall most often.
_NOUNS = (
    r"answer|label|relation|relationship|option|choice|digit|letter|conclusion|classification|verdict|prediction|"
    r"judge?ment|antwort|respuesta|réponse|risposta|resposta|antwoord|ответ|答案|回答|正解|정답|"
    r"verhältnis|beziehung|relación|relazione|relação|relatie|отношение|关系|関係"
)
_IS = r"is|was|would be|should be|must be|has to be|will be|ist|es|est|è|é|это|是|为|は"
_BEFORE = (
    r"(?:(?:most likely|likely|perhaps|maybe|\w+ly|therefore|thus|then|again|indeed|"
    r"option|choice|label|class|category|answer|number|relation|a|an|the|la|el|le|die|das)\s+)"
)
_DECIDES = (
    r"(?:\bi(?:'d|'ll| would| will| must| have to)?\s+(?:say|choose|pick|select|answer|go with|go for|opt for|"
    r"(?:label|classify|annotate|judge|rate)(?:\s+\w+){0,3}\s+as)|\b(?:labell?ed|classified|annotated)(?:\s+as)?|"
    r"\b(?:it|this|that|here|which)(?:'s| is| must be| has to be| would be)|"
    r"\b(?:so|hence|thus|therefore|but)(?:\s+it\s+is)?),?"
)
_OPEN = re.compile(r"\s*(?:or|and|nor|/|,|;|&|oder|ou|o)\s*(?:it\s+is\s+|option\s+)?[(\[]*$", re.IGNORECASE)
_FRACTION = re.compile(r"\s*/\s*\d")
_ENDS_CLAUSE = re.compile(r"[^\S\n]*(?:$|[\n.,;:!?)\]}。，—–(-]|\b(?:because|since|as|for|given|due)\b)", re.IGNORECASE)
_CONTRARY = re.compile(
    r"\b(?:otherwise|if not|or else)\b[^.!?\n]*$|(?:^|[.!?;\n])\s*if\b[^,.!?\n]*,\s*(?:then\s*)?$", re.IGNORECASE
)
_SHORT = 8  # words of an option, where the options are not known
_BETWEEN = re.compile(r"[\s,;.:{}\[\]()|/-]*")


class _Stated(NamedTuple):
    """An answer that is stated from one place of the text to another, or None if it is open; ``named`` by a noun."""

    start: int
    end: int
    answer: str | None
    named: bool = False


def read_answer(reply: str, answers: Mapping[str, str], *, chain_of_thought: bool) -> str:
    """Return the answer that a reply gives, by the rules of this module, or "" if it gives none or leaves it open.

    Args:
        reply: The whole reply.
        answers: Symbol, a digit or capital letter -> the words that may stand for it or with it ("entailment", the
            text of the option); "" where these are not known.
        chain_of_thought: Whether the model was asked to reason first, so that lines may begin with "1." or "A)" and be
            no answer.
    """
    words = {symbol: _plain(text).strip().rstrip(".").strip() for symbol, text in answers.items()}
    said = _END_OF_THOUGHT.sub("", _THOUGHTS.sub("", reply))
    text = _plain(_BOXED.sub(r"\nAnswer: \1\n", _ANSWER_TAG.sub(r"\nAnswer: \2\n", said)))
    starts = [match.start() for match in _NEXT_ITEM.finditer(text) if match.start() > 0]
    for end in [*starts[:1], len(text)]:
        stated = _last_stated(text[:end], words, chain_of_thought=chain_of_thought)
        if stated is not None:
            return stated.answer or ""
    return ""


def _plain(text: str) -> str:
    """Return a text without mark-up, with full-width signs as usual ones."""
    usual = _BESIDE_CJK.sub(" ", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return _BULLET.sub("", _MARKUP.sub("", _TAG.sub(" ", usual)))


class _Patterns(NamedTuple):
    """What states an answer; every match has the groups before, symbol, word, own and tail."""

    stating: tuple[re.Pattern[str], ...]
    clausal: tuple[re.Pattern[str], ...]
    leading: re.Pattern[str]
    mention: re.Pattern[str]


@lru_cache(maxsize=4096)
def _patterns(symbols: str, words: tuple[str, ...]) -> _Patterns:
    symbol = rf"(?<![\w.\-])[{symbols}](?![\w-]|\.\d|[%°])"
    word = (
        "|".join(rf"\b{re.escape(one)}(?!\w)" for one in sorted(filter(None, words), key=len, reverse=True)) or r"(?!)"
    )
    join = r"[^\S\n]*[-–—:=,.)]*[^\S\n]*[(\[]*"
    answer = (
        rf"[(\[]*(?:(?P<symbol>{symbol})[)\]]*(?:{join}(?P<word>{word}))?"
        rf"|(?P<alone>{word})(?:{join}(?P<after>{symbol}))?)[)\]]*"
    )
    flags = re.IGNORECASE | re.MULTILINE
    near = rf"(?<!\w)(?:{_NOUNS})\s*(?:(?:{_IS})(?!\w)\s*:?|[:=]|\s[-–—]\s)\s*{_BEFORE}*{answer}"
    far = (
        rf"(?<!\w)(?:{_NOUNS})(?:[^\S\n]+(?!not\b|never\b|neither\b|cannot\b)[^\W\d]+(?:'\w+)?){{1,8}}?"
        rf"[^\S\n]*(?:(?<!\w)(?:{_IS})(?!\w)[^\S\n]*:?|:)[^\S\n]*{_BEFORE}*{answer}"
    )
    whole = rf"(?:^|(?<=[.!?:])[^\S\n]+)[^\S\n]*[{{]?{_BEFORE}*{answer}[^\S\n]*[.!)}}。]*[^\S\n]*$"
    decides = rf"{_DECIDES}[^\S\n]+{_BEFORE}*{answer}"
    praised = rf"{answer}\s+(?:(?:is|would be|must be)\s+(?:the\s+)?|the\s+)(?:correct|right|best|answer)"
    return _Patterns(
        tuple(re.compile(one, flags) for one in (near, whole, praised)),
        tuple(re.compile(one, flags) for one in (far, decides)),
        re.compile(rf"^[^\S\n]*{_BEFORE}*{answer}(?=[^\S\n]*[.:,;–—-]|\s+(?:because|since|as)\b|(?<=[)\]])\s)", flags),
        re.compile(answer, flags),
    )


def _last_stated(text: str, words: Mapping[str, str], *, chain_of_thought: bool) -> _Stated | None:
    patterns = _patterns("".join(words), tuple(words.values()))
    matches = [match for one in patterns.stating for match in one.finditer(text)]
    matches += [
        match for one in patterns.clausal for match in one.finditer(text) if _ENDS_CLAUSE.match(text, match.end())
    ]
    found = [one for match in matches if (one := _stated(match, text, words, patterns))]
    found += _lines(text, words)
    if not chain_of_thought:  # what lines begin with, if all lines that begin with an answer agree
        leading = [one for match in patterns.leading.finditer(text) if (one := _stated(match, text, words, patterns))]
        found += leading[:1] if len({one.answer for one in leading}) == 1 else []
    stated = _without_lists(text, _joined(found), chain_of_thought=chain_of_thought)
    if not stated:
        return None
    last = stated[-1]
    return last._replace(answer=None) if _is_questioned(text[last.end :], last.answer, words, patterns) else last


def _stated(match: re.Match[str], text: str, words: Mapping[str, str], patterns: _Patterns) -> _Stated | None:
    """Return what a match states, or None if its letter is an article."""
    symbol = match["symbol"] or match["after"]
    if symbol is not None and _is_article(symbol, text, match):
        return _Stated(match.start(), match.end(), None) if symbol == "A" and match.re is patterns.stating[0] else None
    answer = _together(symbol, match["word"] or match["alone"], text[match.end() :], words)
    following = patterns.mention.search(text, match.end())
    is_alternative = following and _OPEN.fullmatch(text, match.end(), following.start())
    if is_alternative or _FRACTION.match(text, match.end()) or _CONTRARY.search(text[: match.start()]):
        answer = None
    return _Stated(match.start(), match.end(), answer, match.re is patterns.stating[0])


def _together(symbol: str | None, word: str | None, rest: str, words: Mapping[str, str]) -> str | None:
    """Return the answer of a symbol, its words, or both; None if they do not belong together."""
    meant = {answer for answer, text in words.items() if word and text.lower() == word.lower()}
    if symbol is None:
        return next(iter(meant)) if len(meant) == 1 else None
    differs = bool(word) and symbol.upper() not in meant and bool(re.match(r"\s*(?:$|[.,;)\]}\n])", rest))
    return None if differs else symbol.upper()


def _is_article(symbol: str, text: str, match: re.Match[str]) -> bool:
    """Return whether a letter is no answer: a small one inside a sentence, or "A" before a word that it can go with."""
    place = match.start("symbol") if match["symbol"] else match.start("after")
    rest = text[place + 1 :]
    if symbol.islower() and not re.match(r"\s*(?:[)\].,;:!}]|$)", rest, re.MULTILINE):
        return True
    after = r"(?:as|because|due|for|given|is|since|the|or|and|would|must)\b"
    return symbol == "A" and bool(re.match(rf"[^\S\n]+(?!{after})[a-z]", rest))


def _lines(text: str, words: Mapping[str, str]) -> Iterator[_Stated]:
    """Yield the lines that are a letter and its option's text in part: "C. There is not enough information".

    Where the options are not known, a short last line that begins with a letter is one ("A. Ida").
    """
    line_ = re.compile(
        rf"^[^\S\n]*[(\[]?(?P<symbol>[{''.join(words)}])[)\].:–—-]+[^\S\n]+(?P<rest>\S.*?)[.!]*[^\S\n]*$", re.M
    )
    listed = re.compile(rf"\s*[(\[]?[{''.join(words)}][)\].:]")
    for match in line_.finditer(text):
        rest = match["rest"].lower()
        option = words[match["symbol"]].lower()
        length = len(rest.split())
        before = text[: match.start()].strip().rsplit("\n", 1)[-1]
        is_last = not text[match.end() :].strip() and not listed.match(before)
        if (length > 1 and rest in option) or (not option and length <= _SHORT and ":" not in rest and is_last):
            yield _Stated(match.start(), match.end(), match["symbol"])


def _joined(stated: Iterable[_Stated]) -> list[_Stated]:
    """Return what is stated in the order of the text, what overlaps as one; it is open if a part of it is."""
    joined: list[_Stated] = []
    for one in sorted(stated, key=lambda each: each[:2]):
        if joined and one.start < joined[-1].end:
            before = joined.pop()
            answer = one.answer if before.answer is not None else None
            named = one.named or before.named
            joined.append(_Stated(before.start, max(before.end, one.end), answer, named))
        else:
            joined.append(one)
    return joined


def _without_lists(text: str, stated: list[_Stated], *, chain_of_thought: bool) -> list[_Stated]:
    """Return what is stated, without different answers that stand side by side with nothing between them.

    After a chain of thought a bare digit before "Answer: 0" is the end of the thoughts, and no answer beside it.
    """
    listed: set[_Stated] = set()
    for one, other in pairwise(stated):
        apart = one.answer != other.answer and None not in (one.answer, other.answer)
        thought = chain_of_thought and other.named and not one.named
        if apart and not thought and _BETWEEN.fullmatch(text, one.end, other.start):
            listed |= {one, other}
    return [one for one in stated if one not in listed]


def _is_questioned(rest: str, answer: str | None, words: Mapping[str, str], patterns: _Patterns) -> bool:
    """Return whether a later question names another answer: "Or is it B?"."""
    for question in re.findall(r"[^.!?\n]*\?", rest):
        for match in patterns.mention.finditer(question):
            symbol = match["symbol"] or match["after"]
            if symbol is not None and _is_article(symbol, question, match):
                continue
            if _together(symbol, match["word"] or match["alone"], "", words) not in (answer, None):
                return True
    return False


ReplyOutcome = Literal["right", "wrong", "unparsed", "failed"]
REPLY = "reply"  # how a model was asked that answers in words; for other models it is the name of a score

# A reply that is a letter and ASCII punctuation: it says the same whatever the options are.
_LETTER_ALONE = re.compile(r"[!-/:-@\[-`{-~]*[A-Za-z][!-/:-@\[-`{-~]*")


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


def judge_preference(reply: str | None, gold: str, options: Mapping[str, str]) -> JudgedReply:
    """Judge a reply to the question which of two texts is the likelier, as `judge_reply` does.

    Args:
        reply: The whole reply, or None if there is none because the request failed.
        gold: The letter of the right text, "A" or "B".
        options: Letter -> the text that was shown with it.
    """
    stripped = "" if reply is None else reply.strip()
    if _LETTER_ALONE.fullmatch(stripped) and all(len(text.split()) > 1 for text in options.values()):
        options = dict.fromkeys(options, "")  # what is read by other texts takes the time to compile patterns for them
    return judge_reply(reply, gold, options, chain_of_thought=False)
