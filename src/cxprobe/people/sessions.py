"""One person's labelling session: which sentences come next and what an answer does. Nothing here asks or prints."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

import pandas as pd

from cxprobe.files.reading import one_line
from cxprobe.people.labels import Judgement, Label, with_label, without_label
from cxprobe.seeding import generator_for

SHOWN = 5  # sentences of a group that are shown, and can be labelled by their number

ANSWERS: dict[str, Judgement] = {"p": "positive", "n": "negative", "u": "unclear"}
HELP = (
    "p positive, n negative, u unclear (2n: only the second sentence is negative), z undo, "
    "s next, b back, g 12 go to number 12, /word search (/ again: the next), q quit"
)
_ANSWER = re.compile(rf"([1-{SHOWN}]?)([{''.join(ANSWERS)}])")
_GO = re.compile(r"g ?([0-9]{1,9})")


class Candidate(NamedTuple):
    """A mined sentence; ``start`` and ``end`` are characters of what ``url`` names."""

    id: str
    text: str
    url: str
    start: int
    end: int


class Group(NamedTuple):
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
    sentences: tuple[Candidate, ...]

    @property
    def shown(self) -> tuple[Candidate, ...]:
        """The sentences that are shown."""
        return self.sentences[:SHOWN]


class Step(NamedTuple):
    """A label of this session, for undo: the label that it replaced, where it was given, and how long it took."""

    label: Label
    replaced: Label | None
    place: int
    seconds: float | None


class Pace(NamedTuple):
    """How fast a person labels: the median of the seconds from one group to the next, of ``n`` groups."""

    seconds: float
    n: int


@dataclass(frozen=True)
class Session:
    """The state of one person's labelling.

    Attributes:
        groups: All groups, in the order in which they are shown.
        labels: Everybody's labels.
        who: The person, as labels.tsv has the name.
        today: The date that is written beside new labels.
        place: The number, from 0, of the group that is shown; None when all are labelled and none is shown.
        history: The labels of this session, the newest last.
        query: What was last searched for.
    """

    groups: tuple[Group, ...]
    labels: tuple[Label, ...]
    who: str
    today: str
    place: int | None = None
    history: tuple[Step, ...] = ()
    query: str = ""

    @property
    def current(self) -> Group | None:
        """The group that is shown, or None."""
        return None if self.place is None else self.groups[self.place]

    @property
    def own(self) -> Mapping[tuple[str, str], Judgement]:
        """The person's labels: (kind, target) -> label."""
        return {(one.kind, one.target): one.label for one in self.labels if one.who == self.who}

    @property
    def left(self) -> int:
        """How many groups the person has not labelled."""
        own = self.own
        return sum((group.kind, group.target) not in own for group in self.groups)

    @property
    def pace(self) -> Pace | None:
        """How fast the person labels in this session, or None before the first group is labelled."""
        seconds = [step.seconds for step in self.history if step.seconds is not None]
        return Pace(median(seconds), len(seconds)) if seconds else None


class Reply(NamedTuple):
    """What an answer did.

    Attributes:
        session: The session after it.
        said: What it did, or why nothing was done, for the person; empty where what is shown says it.
        refused: Whether it was no answer, or could not be carried out.
    """

    session: Session
    said: str
    refused: bool = False


def group_sentences(sentences: pd.DataFrame, seed: int) -> tuple[Group, ...]:
    """Group mined sentences (columns id, text, url, start, end, tags) by their tags, in an order that the seed decides.

    The order depends neither on the order of the sentences nor on which other sequences there are, so a corpus that
    grows leaves the known sequences in their order.
    """
    by_tags = sentences.sort_values("id").groupby("tags", sort=True)
    groups = [Group("sequence", str(tags), str(tags), _candidates(rows)) for tags, rows in by_tags]
    return tuple(sorted(groups, key=lambda group: (generator_for(seed, "labelling", group.tags).random(), group.tags)))


def _candidates(rows: pd.DataFrame) -> tuple[Candidate, ...]:
    columns = [rows[name].tolist() for name in Candidate._fields]
    return tuple(Candidate(*row) for row in zip(*columns, strict=True))


def start_session(groups: Sequence[Group], labels: Sequence[Label], who: str, today: str) -> Session:
    """Begin a session with the first group that the person has not labelled."""
    return _to_next_open(Session(tuple(groups), tuple(labels), who, today), -1)


def answer(session: Session, text: str, seconds: float | None = None) -> Reply:
    """Do what a person asks for in the words that `HELP` describes.

    Args:
        session: The state before.
        text: What was typed.
        seconds: How long the person has looked at the group, for the pace; None if that is not known.
    """
    text = text.strip()
    if match := _ANSWER.fullmatch(text):
        label = ANSWERS[match[2]]
        return label_sentence(session, int(match[1]), label) if match[1] else label_group(session, label, seconds)
    if match := _GO.fullmatch(text):
        return go_to(session, int(match[1]))
    if text.startswith("/"):
        return search(session, text[1:].strip())
    if text in _MOVES:
        return _MOVES[text](session)
    return Reply(session, one_line(f"'{text}' is not an answer: {HELP}"), refused=True)


def label_group(session: Session, label: Judgement, seconds: float | None = None) -> Reply:
    """Label all sentences that are shown, and go to the next group without a label."""
    if session.place is None or session.current is None:
        return _nothing_shown(session)
    group, place = session.current, session.place
    after = _label(session, group.kind, group.target, label, seconds)
    return Reply(_to_next_open(after, place), f"number {place + 1} is {label}")


def label_sentence(session: Session, number: int, label: Judgement) -> Reply:
    """Label a single sentence of the group; ``number`` counts the shown sentences from 1."""
    group = session.current
    if group is None:
        return _nothing_shown(session)
    if group.kind == "sentence":
        return Reply(session, f"there is one sentence only; answer {label[0]}", refused=True)
    if not 1 <= number <= len(group.shown):
        return Reply(session, f"there is no sentence {number}", refused=True)
    said = f"sentence {number} is {label}; now label the others"
    return Reply(_label(session, "sentence", group.shown[number - 1].id, label, None), said)


def undo(session: Session) -> Reply:
    """Remove the last label of this session, restore the label that it replaced, and go back to where it was given."""
    if not session.history:
        return Reply(session, "nothing to undo: this session has no label", refused=True)
    last = session.history[-1]
    labels = without_label(session.labels, last.label)
    kept = labels if last.replaced is None else with_label(labels, last.replaced)
    after = replace(session, labels=tuple(kept), history=session.history[:-1], place=last.place)
    return Reply(after, f"undone: number {last.place + 1} is no longer {last.label.label}")


def go_to(session: Session, number: int) -> Reply:
    """Show the group of that number, which counts from 1; it may be labelled already."""
    if not 1 <= number <= len(session.groups):
        return Reply(session, f"there is no number {number}; they go from 1 to {len(session.groups)}", refused=True)
    return Reply(replace(session, place=number - 1), "")


def step_on(session: Session) -> Reply:
    """Show the next group, labelled or not; after the last comes the first."""
    return _step(session, 1)


def step_back(session: Session) -> Reply:
    """Show the group before, labelled or not; before the first comes the last."""
    return _step(session, -1)


def search(session: Session, query: str) -> Reply:
    """Show the next group with a text in its sentences, tags or sources; capital letters do not matter.

    Args:
        session: The state before.
        query: The text; empty for what was last searched for.
    """
    query = query or session.query
    if not query:
        return Reply(session, "what is searched for? Write /word", refused=True)
    found = [place for place, group in enumerate(session.groups) if _has(group, query.lower())]
    if not found:
        return Reply(replace(session, query=query), f"'{query}' is nowhere", refused=True)
    here = -1 if session.place is None else session.place
    place = next((one for one in found if one > here), found[0])
    said = f"'{query}' is in {len(found)} of {len(session.groups)}; this is match {found.index(place) + 1}"
    return Reply(replace(session, place=place, query=query), said)


_MOVES = {"z": undo, "s": step_on, "b": step_back}


def _has(group: Group, query: str) -> bool:
    return any(query in text.lower() for one in group.sentences for text in (one.text, group.tags, one.url, one.id))


def _step(session: Session, by: int) -> Reply:
    if not session.groups:
        return _nothing_shown(session)
    here = (-1 if by > 0 else 0) if session.place is None else session.place
    return go_to(session, (here + by) % len(session.groups) + 1)


def _nothing_shown(session: Session) -> Reply:
    return Reply(session, "all are labelled; z takes the last label back, g 12 shows number 12", refused=True)


def _to_next_open(session: Session, place: int) -> Session:
    """Show the first group after a place, or else from the beginning, that the person has not labelled."""
    own, groups = session.own, session.groups
    for one in (*range(place + 1, len(groups)), *range(place + 1)):
        if (groups[one].kind, groups[one].target) not in own:
            return replace(session, place=one)
    return replace(session, place=None)


def _label(session: Session, kind: str, target: str, label: Judgement, seconds: float | None) -> Session:
    new = Label(kind, target, label, session.who, session.today)
    known = {(one.kind, one.target, one.who): one for one in session.labels}
    step = Step(new, known.get((kind, target, session.who)), session.place or 0, seconds)
    return replace(session, labels=tuple(with_label(session.labels, new)), history=(*session.history, step))
