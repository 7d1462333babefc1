"""The sentences around a mined sentence, cut from the record of the corpus that it was found in."""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from cxprobe.people.sessions import Candidate
from cxprobe.segmentation import joined, sentences

MOST = 2  # sentences on each side
LONGEST = 400  # characters on each side
_PARAGRAPH = re.compile(r"(.*#)([0-9]+)")


class Record(NamedTuple):
    """A record of a corpus; its text starts at character ``base`` of what ``url`` names."""

    url: str
    text: str
    base: int


class Surroundings(NamedTuple):
    """The text before a sentence and after it; empty where the source begins or ends."""

    before: str
    after: str


def needed(candidates: Collection[Candidate], *, paragraphs: bool) -> frozenset[str]:
    """Return the urls of the records that `find_surroundings` asks for.

    Args:
        candidates: Mined sentences.
        paragraphs: Whether ``url#3`` is the paragraph after ``url#2``, as in the corpus of installed documentation.
    """
    own = {one.url for one in candidates}
    return frozenset(own | ({name for url in own for name in _neighbours(url) if name} if paragraphs else set()))


def find_surroundings(
    candidates: Collection[Candidate], records: Iterable[Record], *, paragraphs: bool
) -> dict[str, Surroundings]:
    """Return the surroundings of each sentence, by its id; those whose record is not there are left out.

    Args:
        candidates: Mined sentences.
        records: The records that `needed` names, and any others.
        paragraphs: As in `needed`; the paragraphs before and after are then looked at too.
    """
    texts: dict[str, list[Record]] = {}
    wanted = needed(candidates, paragraphs=paragraphs)
    for one in records:
        if one.url in wanted:
            texts.setdefault(one.url, []).append(one)
    found = {}
    for candidate in candidates:
        own = texts.get(candidate.url, [])
        record = next((one for one in own if _is_in(candidate, one)), None)
        if record is not None:
            start, end = candidate.start - record.base, candidate.end - record.base
            previous, following = _neighbours(candidate.url) if paragraphs else ("", "")
            before = [*_last(texts.get(previous, [])), record.text[:start]]
            after = [record.text[end:], *_last(texts.get(following, []))]
            found[candidate.id] = Surroundings(_before(before), _after(after))
    return found


def _is_in(candidate: Candidate, record: Record) -> bool:
    """Return whether a record has the sentence where mining found it; a url may name several records."""
    return joined(record.text[max(0, candidate.start - record.base) : candidate.end - record.base]) == candidate.text


def _neighbours(url: str) -> tuple[str, str]:
    match = _PARAGRAPH.fullmatch(url)
    if match is None:
        return "", ""
    number = int(match[2])
    return (f"{match[1]}{number - 1}" if number else ""), f"{match[1]}{number + 1}"


def _last(records: list[Record]) -> list[str]:
    return [record.text for record in records[-1:]]


def _cut(texts: list[str]) -> list[str]:
    return [joined(text[span.start : span.end]) for text in texts for span in sentences(text)]


def _before(texts: list[str]) -> str:
    text = " ".join(_cut(texts)[-MOST:])
    return text if len(text) <= LONGEST else f"... {text[-LONGEST:].partition(' ')[2]}"


def _after(texts: list[str]) -> str:
    text = " ".join(_cut(texts)[:MOST])
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} ..."
