"""One person's labelling session: which sequence comes next and what an answer does. Nothing here asks or prints."""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import pandas as pd

from cxprobe.constructions import Judgement, Label, with_label, without_label
from cxprobe.seeding import generator_for

SHOWN = 5  # sentences of a sequence that are shown

ANSWERS: dict[str, Judgement] = {"p": "positive", "n": "negative", "u": "unclear"}
UNDO = "z"
HELP = "p positive, n negative, u unclear (2n: only the second sentence is negative), z undo, q quit"
_ANSWER = re.compile(rf"([1-{SHOWN}]?)([{''.join(ANSWERS)}])")


class Group(NamedTuple):
    """The sentences of one sequence of tags; ``shown`` are the ids and texts of some of them."""

    tags: str
    size: int
    shown: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Session:
    """The state of one person's labelling.

    Attributes:
        groups: All sequences, in the order in which they are shown.
        labels: Everybody's labels.
        who: The person.
        today: The date that is written beside new labels.
        history: The labels of this session, the newest last, each with the label that it replaced; for undo.
    """

    groups: tuple[Group, ...]
    labels: tuple[Label, ...]
    who: str
    today: str
    history: tuple[tuple[Label, Label | None], ...] = ()

    @property
    def current(self) -> Group | None:
        """The first sequence that the person has not labelled, or None if there is none left."""
        done = {label.target for label in self.labels if label.kind == "sequence" and label.who == self.who}
        return next((group for group in self.groups if group.tags not in done), None)

    @property
    def left(self) -> int:
        """How many sequences the person has not labelled."""
        done = {label.target for label in self.labels if label.kind == "sequence" and label.who == self.who}
        return sum(group.tags not in done for group in self.groups)


def group_sentences(sentences: pd.DataFrame, seed: int) -> tuple[Group, ...]:
    """Group mined sentences (columns id, text, tags) by their sequence of tags, in an order that the seed decides.

    The order depends neither on the order of the sentences nor on which other sequences there are, so a corpus that
    grows leaves the known sequences in their order.
    """
    groups = [_group(str(tags), rows) for tags, rows in sentences.sort_values("id").groupby("tags", sort=True)]
    return tuple(sorted(groups, key=lambda group: (generator_for(seed, "labelling", group.tags).random(), group.tags)))


def _group(tags: str, rows: pd.DataFrame) -> Group:
    shown = rows.head(SHOWN)
    return Group(tags, len(rows), tuple(zip(shown["id"].tolist(), shown["text"].tolist(), strict=True)))


def answer(session: Session, text: str) -> Session | None:
    """Return the session after an answer, or None if it is not one of the answers that `HELP` describes."""
    if text == UNDO:
        return undo(session)
    match = _ANSWER.fullmatch(text)
    if match is None:
        return None
    label = ANSWERS[match[2]]
    return label_sentence(session, int(match[1]), label) if match[1] else label_sequence(session, label)


def label_sequence(session: Session, label: Judgement) -> Session:
    """Label the current sequence."""
    if session.current is None:
        return session
    return _label(session, "sequence", session.current.tags, label)


def label_sentence(session: Session, number: int, label: Judgement) -> Session:
    """Label a single sentence of the current sequence; ``number`` counts the shown sentences from 1."""
    if session.current is None or not 1 <= number <= len(session.current.shown):
        return session
    return _label(session, "sentence", session.current.shown[number - 1][0], label)


def undo(session: Session) -> Session:
    """Remove the last label of this session and restore the label that it replaced, if any."""
    if not session.history:
        return session
    last, replaced = session.history[-1]
    labels = without_label(session.labels, last)
    kept = labels if replaced is None else with_label(labels, replaced)
    return replace(session, labels=tuple(kept), history=session.history[:-1])


def _label(session: Session, kind: str, target: str, label: Judgement) -> Session:
    new = Label(kind, target, label, session.who, session.today)
    known = {(one.kind, one.target, one.who): one for one in session.labels}
    return replace(
        session,
        labels=tuple(with_label(session.labels, new)),
        history=(*session.history, (new, known.get((kind, target, session.who)))),
    )
