"""Mined sentences, in groups that are labelled at once."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from cxprobe.labels.labels import ByPerson, PersonLabel, Target, in_force, judgements_on
from cxprobe.labels.tables import as_text
from cxprobe.seeding import generator_for

MOST_SHOWN = 5  # sentences of a group that are shown, and can be labelled by their number
LABEL_COLUMNS = ("kind", "target", "label", "who", "text", "url")


class MinedSentence(NamedTuple):
    """A mined sentence: its id, its text, where it is from, and the words that fill slots.

    Of each such word, ``slots`` has its first character in the sentence, and the one after its last.
    """

    id: str
    text: str
    url: str
    slots: tuple[tuple[int, int], ...] = ()


class SentenceGroup(NamedTuple):
    """Sentences that are labelled at once: those of one sequence of tags, or a single sentence.

    Attributes:
        kind: "sequence" or "sentence".
        target: The tags, or the sentence's id.
        tags: The sequence of tags.
        sentences: All sentences, by their ids.
        others: The labels of others for a person who decides; empty where people label independently of each other.
    """

    kind: str
    target: str
    tags: str
    sentences: tuple[MinedSentence, ...]
    others: ByPerson = MappingProxyType({})


def group_sentences(table: pd.DataFrame, seed: int) -> tuple[SentenceGroup, ...]:
    """Group mined sentences (id, text, url, tags, slots) by tags, in an order that the seed decides.

    The order depends neither on the order of the sentences nor on which other sequences there are, so a corpus that
    grows leaves the known sequences in their order.
    """
    groups = []
    for tags, rows in table.sort_values("id").groupby("tags", sort=True):
        slots = [tuple((slot["start"], slot["end"]) for slot in filled) for filled in rows["slots"]]
        of_group = map(MinedSentence, rows["id"], rows["text"], rows["url"], slots)
        groups.append(SentenceGroup("sequence", str(tags), str(tags), tuple(of_group)))
    return tuple(sorted(groups, key=lambda group: (generator_for(seed, "labelling", group.tags).random(), group.tags)))


def disputes(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]) -> Iterator[SentenceGroup]:
    """Yield the conflicts of labels, for a person who decides.

    These are sequences and sentences that people label differently, and sentences that one person labels otherwise
    than another labels their sequence. Conflicts of sentences come after that of their sequence is decided.

    Args:
        groups: The mined sentences by their sequences; the disputes are in their order.
        labels: Everybody's labels.
    """
    valid = in_force(labels)
    for group in groups:
        of_sequence = valid.get(("sequence", group.tags), {})
        if len(set(of_sequence.values())) > 1:
            yield group._replace(others=of_sequence)
            continue
        for sentence in group.sentences:
            others = judgements_on(sentence.id, group.tags, valid)
            if len(set(others.values())) > 1:
                yield SentenceGroup("sentence", sentence.id, group.tags, (sentence,), others)


def label_rows(groups: Sequence[SentenceGroup], given: dict[Target, PersonLabel], who: str) -> Iterator[Sequence[str]]:
    """Yield the rows of a table that a person fills in, with the labels that this person has given (`LABEL_COLUMNS`).

    A sequence of several sentences has a row of its own, and one for each sentence, to be filled in where that is
    labelled otherwise.
    """
    for group in groups:
        rows = [("sentence", one.id, one.text, one.url) for one in group.sentences]
        if len(rows) == 1:
            rows = [(group.kind, group.target, *rows[0][2:])]
        else:
            rows.insert(0, (group.kind, group.target, f"{len(rows)} sentences, which follow", ""))
        for kind, target, text, url in rows:
            label = given.get((kind, target))
            yield kind, as_text(target), label.label if label else "", who, as_text(text), as_text(url)
