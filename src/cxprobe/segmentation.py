"""Where sentences end, by the characters alone: the same text is cut alike whether or not it is tagged."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# After these, and a full stop, no sentence ends.
_TITLES = "mr mrs ms dr prof st rev hon gen col capt lt sgt maj messrs mme mlle jr sr"
_REFERENCES = "vs cf eg ie viz fig figs eq eqs sec nos vol vols ch chap pp ed eds al approx"
_NAMES = "dept inc ltd co corp bros ave mt ft"
_MONTHS = "jan feb aug sept oct nov dec"
ABBREVIATIONS = frozenset(f"{_TITLES} {_REFERENCES} {_NAMES} {_MONTHS}".split())
_ENDS, _CLOSERS, _OPENERS = ".!?…", "”’\"'`)\\]*_", "“‘\"'`(\\[*_"
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\.$")
_WINDOW = 16  # characters before a full stop in which an abbreviation is looked for
# It begins where no such character is before it, and gives nothing back: a line of dots takes no longer than another.
_END = re.compile(
    rf"(?<![{_ENDS}{_CLOSERS}])[{_CLOSERS}]*+(?P<stop>[{_ENDS}][{_ENDS}{_CLOSERS}]*+)(?P<gap>\s++)"
    rf"(?=[{_OPENERS}]*+(?P<next>\w))|\n"
)

# RE2: what can stand between two parts of one sentence. Everything that `sentence_spans` leaves together passes;
# of what it cuts apart, most does not. (Alternative by alternative: another character; an end of sentence that no space
# follows; one that no capital follows; an abbreviation or a single letter with its full stop.)
_BLANKS = r"\t\v\f\r\x1c-\x1f\x{85}\p{Z}"
_TAIL = rf"[{_ENDS}{_CLOSERS}]*"
_SHORT = rf"(?:[^\n]|(?i:{'|'.join(sorted(ABBREVIATIONS))}))\."
WITHIN_A_SENTENCE = (
    rf"(?:\.|{_SHORT})?"
    rf"(?:[^{_ENDS}\n]"
    rf"|[{_ENDS}]{_TAIL}[^{_ENDS}{_CLOSERS}\n{_BLANKS}]"
    rf"|[{_ENDS}]{_TAIL}[{_BLANKS}]+"
    rf"(?:[^{_OPENERS}\p{{Lu}}\p{{Lt}}\n{_BLANKS}]|[{_OPENERS}]+[^{_OPENERS}\p{{Lu}}\p{{Lt}}\n])"
    rf"|(?:[^\pL\n]|[{_ENDS}]{_TAIL}){_SHORT})*"
    rf"(?:[{_ENDS}]{_TAIL}[{_BLANKS}]*[{_OPENERS}]*)?"
)


class Span(NamedTuple):
    """The place of a sentence in its document: characters from ``start`` up to ``end``."""

    start: int
    end: int


def sentence_spans(document: str) -> Iterator[Span]:
    """Yield the sentences of a document, without the white space around them.

    A sentence ends at a line break, and at a full stop, question mark, exclamation mark or ellipsis (with the
    quotes and brackets that close there) that white space and a capital letter follow, unless the word before the
    full stop is a single letter or one of `ABBREVIATIONS`.
    """
    start = 0
    for match in _END.finditer(document):
        if _ends(document, match):
            yield from _stripped(document, start, match.end())
            start = match.end()
    yield from _stripped(document, start, len(document))


def joined(sentence: str) -> str:
    """Return a sentence with one space for each run of white space, so that its words can be counted by spaces."""
    return " ".join(sentence.split())


def _ends(document: str, match: re.Match[str]) -> bool:
    if match["gap"] is None or "\n" in match["gap"]:
        return True
    if not (match["next"].isupper() or match["next"].istitle()):
        return False
    if sum(character in _ENDS for character in match["stop"]) > 1:
        return True
    stop = match.start("stop")
    before = _WORD_BEFORE.search(document, max(0, stop - _WINDOW), stop + 1)
    return before is None or not (len(before[1]) == 1 or before[1].lower() in ABBREVIATIONS)


def _stripped(document: str, start: int, end: int) -> Iterator[Span]:
    text = document[start:end]
    left = len(text) - len(text.lstrip())
    if left < len(text):
        yield Span(start + left, start + len(text.rstrip()))
