"""Mined sentences, in groups that are labelled at once, and what is shown with each.

That is the parts that the pattern matched, and the sentences around it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from cxprobe.seeding import generator_for
from cxprobe.segmentation import joined, sentence_spans

if TYPE_CHECKING:
    from spacy.language import Language

    from cxprobe.corpora.pattern import Pattern
    from cxprobe.corpora.readers import CorpusRecord

MOST_SHOWN = 5  # sentences of a group that are shown, and can be labelled by their number
MOST_AROUND = 2  # sentences on each side
LONGEST_AROUND = 400  # characters on each side
_PARAGRAPH = re.compile(r"(.*#)([0-9]+)")


class MinedSentence(NamedTuple):
    """A mined sentence.

    Attributes:
        id: Its id.
        text: The sentence.
        url: Where it is from.
        start: Its first character in what ``url`` names.
        end: The character after its last one.
        slots: For each word that fills a slot: its first character in the sentence, the one after its last, the slot.
    """

    id: str
    text: str
    url: str
    start: int
    end: int
    slots: tuple[tuple[int, int, str], ...] = ()


class SentenceGroup(NamedTuple):
    """What is labelled at once: the sentences of one sequence of tags, or a single sentence.

    Attributes:
        kind: "sequence" or "sentence".
        target: The tags, or the sentence's id.
        tags: The sequence of tags.
        sentences: All sentences, by their ids.
    """

    kind: str
    target: str
    tags: str
    sentences: tuple[MinedSentence, ...]

    @property
    def shown(self) -> tuple[MinedSentence, ...]:
        """The sentences that are shown."""
        return self.sentences[:MOST_SHOWN]


def group_sentences(table: pd.DataFrame, seed: int) -> tuple[SentenceGroup, ...]:
    """Group mined sentences (tags, and the columns of `MinedSentence`) by tags, in an order that the seed decides.

    The order depends neither on the order of the sentences nor on which other sequences there are, so a corpus that
    grows leaves the known sequences in their order.
    """
    groups = []
    for tags, rows in table.sort_values("id").groupby("tags", sort=True):
        slots = [tuple((slot["start"], slot["end"], slot["slot"]) for slot in filled) for filled in rows["slots"]]
        columns = [slots if name == "slots" else rows[name].tolist() for name in MinedSentence._fields]
        of_group = tuple(MinedSentence(*row) for row in zip(*columns, strict=True))
        groups.append(SentenceGroup("sequence", str(tags), str(tags), of_group))
    return tuple(sorted(groups, key=lambda group: (generator_for(seed, "labelling", group.tags).random(), group.tags)))


@dataclass(frozen=True)
class Piece:
    """A piece of a sentence; ``form`` names the form of the construction's part that it is, or is "" for other text."""

    text: str
    form: str


PieceFinder = Callable[[MinedSentence, str], tuple[Piece, ...]]


def piece_finder(pattern: "Pattern", nlp: "Language") -> PieceFinder:
    """Return a function of a sentence and its tags that cuts the sentence where parts of the construction are.

    Where mining has found which words fill slots, these words are the pieces, and the names of slots their forms.
    Otherwise, as in mining, the earliest position that leaves room for the other parts counts; of several matches
    there the longest is shown, up to where the next part begins. A sentence is one piece without a form if the pattern
    no longer matches it, or if its tags are those of another tokeniser: it was mined with another pattern or pipeline.

    Args:
        pattern: What was mined.
        nlp: The pipeline whose tokeniser was used; it is not asked for tags.
    """
    from spacy.matcher import Matcher  # takes a second to import, and only this function needs it

    from cxprobe.corpora.pattern import lexical_only

    never, matchers = frozenset(pattern.never), []
    for part in pattern.parts:
        matcher = Matcher(nlp.vocab, validate=True)
        for form in part.patterns:
            if form.tokens:
                # Of what a tagger says only the fine-grained tag was recorded.
                tokens = zip(lexical_only(form.tokens), form.tokens, strict=True)
                known = [words | ({"TAG": token["TAG"]} if "TAG" in token else {}) for words, token in tokens]
                matcher.add(form.name, [known])
        matchers.append(matcher)

    def find(sentence: MinedSentence, tags: str) -> tuple[Piece, ...]:
        text = sentence.text
        if sentence.slots:
            return _cut_at(text, sentence.slots)
        doc, recorded = nlp.make_doc(text), tags.split(" ")
        if len(doc) != len(recorded):
            return (Piece(text, ""),)
        for token, tag in zip(doc, recorded, strict=True):
            token.tag_ = tag
        parts: list[tuple[int, int, str]] = []  # first character, the one after the last, form
        free = 0  # the first token that the next part may have
        for matcher in matchers:
            matches = [
                (start, end, name)
                for name, start, end in matcher(doc, as_spans=False)
                if start >= free and not any(token.lower_ in never for token in doc[start:end])
            ]
            if not matches:
                return (Piece(text, ""),)
            first, free, _ = min(matches, key=lambda match: (match[1], match[0]))
            start, end, name = max((match for match in matches if match[0] == first), key=lambda match: match[1])
            parts.append((doc[start].idx, doc[start:end].end_char, nlp.vocab.strings[name]))
        return _cut_at(text, parts)

    return find


def _cut_at(text: str, parts: Sequence[tuple[int, int, str]]) -> tuple[Piece, ...]:
    """Cut a text at parts (first character, the one after the last, form), each up to where the next one begins."""
    pieces, done = [], 0
    for number, (start, end, form) in enumerate(parts):
        end = min(end, *(later for later, _, _ in parts[number + 1 : number + 2]), len(text))
        pieces += [Piece(text[done:start], ""), Piece(text[start:end], form)]
        done = end
    return tuple(piece for piece in (*pieces, Piece(text[done:], "")) if piece.text)


class Surroundings(NamedTuple):
    """The text before a sentence and after it; empty where the source begins or ends."""

    before: str
    after: str


def find_surroundings(
    candidates: Collection[MinedSentence], records: Iterable["CorpusRecord"], *, paragraphs: bool
) -> dict[str, Surroundings]:
    """Return the surroundings of each sentence, by its id; those whose record is not there are left out.

    Args:
        candidates: Mined sentences.
        records: The records of the corpus.
        paragraphs: Whether ``url#3`` is the paragraph after ``url#2``, as in the corpus of installed documentation; the
            paragraphs before and after are then looked at too.
    """

    def beside(url: str, by: int) -> str:
        match = _PARAGRAPH.fullmatch(url) if paragraphs else None
        return f"{match[1]}{int(match[2]) + by}" if match else ""

    urls = {candidate.url for candidate in candidates}
    wanted = {name for url in urls for name in (url, beside(url, -1), beside(url, 1)) if name}
    by_url: dict[str, list[CorpusRecord]] = {}
    for record in records:
        if record.url in wanted:
            by_url.setdefault(record.url, []).append(record)
    surroundings = {}
    for candidate in candidates:
        for record in by_url.get(candidate.url, []):
            start, end = max(0, candidate.start - record.base), candidate.end - record.base
            if joined(record.text[start:end]) == candidate.text:  # a url may name several records
                before, after = ([text.text for text in by_url.get(beside(candidate.url, by), [])] for by in (-1, 1))
                surroundings[candidate.id] = Surroundings(
                    _cut([*before[-1:], record.text[:start]], from_end=True), _cut([record.text[end:], *after[-1:]])
                )
                break
    return surroundings


def _cut(texts: Iterable[str], *, from_end: bool = False) -> str:
    """Return the first sentences of texts, or the last; if they are too long, up to a word."""
    whole = [joined(text[span.start : span.end]) for text in texts for span in sentence_spans(text)]
    text = " ".join(whole[-MOST_AROUND:] if from_end else whole[:MOST_AROUND])
    if len(text) <= LONGEST_AROUND:
        return text
    if from_end:
        return f"... {text[-LONGEST_AROUND:].partition(' ')[2]}"
    return f"{text[:LONGEST_AROUND].rpartition(' ')[0]} ..."
