"""Mined sentences, in groups that are labelled at once, and which parts of each the pattern matched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from cxprobe.seeding import generator_for

if TYPE_CHECKING:
    from spacy.language import Language

    from cxprobe.corpora.pattern import Pattern

MOST_SHOWN = 5  # sentences of a group that are shown, and can be labelled by their number


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
