"""Where sentences end, by the characters alone: the same text is cut alike whether or not it is tagged."""

import re
from collections.abc import Iterator

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


def sentence_spans(document: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a document starts and ends, in characters, without the white space around it.

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


def _stripped(document: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    text = document[start:end]
    left = len(text) - len(text.lstrip())
    if left < len(text):
        yield start + left, start + len(text.rstrip())
