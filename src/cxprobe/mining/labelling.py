"""Labelling: which sequence comes next, what an answer does, and how far people agree. Nothing here asks or prints."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import pandas as pd
from sklearn.metrics import cohen_kappa_score

from cxprobe.mining.labels import JUDGEMENTS, Judgement, Label, with_label, without_label
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
    """One person's labelling, as far as it has come.

    Attributes:
        groups: All sequences, in the order in which they are shown.
        labels: Everybody's labels.
        who: The person.
        today: The day that new labels bear.
        history: This sitting's labels, the newest last, for undo, each with what it replaced.
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

    The order does not depend on that of the sentences, nor on which other sequences there are: a corpus that grows
    leaves the others in their order.
    """
    groups = [_group(str(tags), rows) for tags, rows in sentences.sort_values("id").groupby("tags", sort=True)]
    return tuple(sorted(groups, key=lambda group: (generator_for(seed, "labelling", group.tags).random(), group.tags)))


def _group(tags: str, rows: pd.DataFrame) -> Group:
    shown = rows.head(SHOWN)
    return Group(tags, len(rows), tuple(zip(shown["id"].tolist(), shown["text"].tolist(), strict=True)))


def answer(session: Session, text: str) -> Session | None:
    """Return the session after an answer as `HELP` describes it, or None if it is none of them."""
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
    """Label one of the current sequence's sentences by itself, ``number`` counting those that are shown from 1."""
    if session.current is None or not 1 <= number <= len(session.current.shown):
        return session
    return _label(session, "sentence", session.current.shown[number - 1][0], label)


def undo(session: Session) -> Session:
    """Take this sitting's last label back, and put in its place what it replaced."""
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


class Conflict(NamedTuple):
    """A thing that people call differently: who calls it what."""

    kind: str
    target: str
    labels: tuple[tuple[str, Judgement], ...]


class Agreement(NamedTuple):
    """How far two people agree on what both have labelled; ``kappa`` is None where it is not defined."""

    first: str
    second: str
    both: int
    agreed: int
    kappa: float | None


def conflicts(labels: Sequence[Label]) -> list[Conflict]:
    """Return what is not called the same by all who have labelled it, sorted."""
    said: dict[tuple[str, str], dict[str, Judgement]] = defaultdict(dict)
    for label in labels:
        said[label.kind, label.target][label.who] = label.label
    return [
        Conflict(kind, target, tuple(sorted(people.items())))
        for (kind, target), people in sorted(said.items())
        if len(set(people.values())) > 1
    ]


def agreement(labels: Sequence[Label]) -> list[Agreement]:
    """Return the agreement of every two people, sorted by their names.

    Kappa is not defined where both use one and the same label throughout: agreement by chance is then certain.

    Source:
        Cohen 1960, as scikit-learn has it.
    """
    own: dict[str, dict[tuple[str, str], Judgement]] = defaultdict(dict)
    for label in labels:
        own[label.who][label.kind, label.target] = label.label
    return [_agreement(first, second, own[first], own[second]) for first, second in combinations(sorted(own), 2)]


def _agreement(
    first: str, second: str, one: dict[tuple[str, str], Judgement], other: dict[tuple[str, str], Judgement]
) -> Agreement:
    both = sorted(one.keys() & other.keys())
    pairs = [(one[target], other[target]) for target in both]
    agreed = sum(mine == yours for mine, yours in pairs)
    defined = len({label for pair in pairs for label in pair}) > 1
    kappa = float(cohen_kappa_score(*zip(*pairs, strict=True), labels=list(JUDGEMENTS))) if defined else None
    return Agreement(first, second, len(both), agreed, kappa)
