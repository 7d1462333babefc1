"""One person's labelling: which sentences come next, what an answer does, how it is saved, and what is then shown.

Nothing here asks or prints; the terminal and the page in the browser do.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pandas as pd

from cxprobe.constructions.construction import Construction
from cxprobe.files.reading import one_line
from cxprobe.people.labels import Judgement, Label, Said, Target, read_labels, with_label, write_labels
from cxprobe.people.mined import Candidate, Piece, PieceFinder, Surroundings
from cxprobe.people.ranking import FEWEST, most_uncertain, training_labels
from cxprobe.run.progress import duration
from cxprobe.seeding import generator_for

MOST_SHOWN = 5  # sentences of a group that are shown, and can be labelled by their number
ANSWERS: dict[str, Judgement] = {"p": "positive", "n": "negative", "u": "unclear"}
HELP = (
    "p positive, n negative, u unclear (2n: only the second sentence is negative), z undo, "
    "s next, b back, g 12 go to number 12, /word search (/ again: the next), q quit"
)
_ANSWER = re.compile(rf"([1-{MOST_SHOWN}]?)([{''.join(ANSWERS)}])")
_GO = re.compile(r"g ?([0-9]{1,9})")


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
        return self.sentences[:MOST_SHOWN]


class Step(NamedTuple):
    """A label of this session, for undo: the label that it replaced, where it was given, and how long it took."""

    label: Label
    replaced: Label | None
    position: int
    seconds: float | None


@dataclass(frozen=True)
class Session:
    """The state of one person's labelling.

    Attributes:
        groups: All groups, in the order in which they are shown.
        labels: Everybody's labels.
        who: The person, as labels.tsv has the name.
        today: The date that is written beside new labels.
        position: The number, from 0, of the group that is shown; None when all are labelled and none is shown.
        history: The labels of this session, the newest last.
        query: What was last searched for.
        by_uncertainty: Whether every second group is the one of which a probe on the labels so far is least sure.
    """

    groups: tuple[Group, ...]
    labels: tuple[Label, ...]
    who: str
    today: str
    position: int | None = None
    history: tuple[Step, ...] = ()
    query: str = ""
    by_uncertainty: bool = False

    @property
    def current(self) -> Group | None:
        """The group that is shown, or None."""
        return None if self.position is None else self.groups[self.position]

    @property
    def own(self) -> Mapping[Target, Judgement]:
        """The person's labels: (kind, target) -> label."""
        return {(label.kind, label.target): label.label for label in self.labels if label.who == self.who}

    @property
    def unlabelled(self) -> list[int]:
        """The positions of the groups that the person has not labelled."""
        own = self.own
        return [position for position, group in enumerate(self.groups) if (group.kind, group.target) not in own]


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
    """Group mined sentences (columns tags and those of `Candidate`) by their tags, in an order that the seed decides.

    The order depends neither on the order of the sentences nor on which other sequences there are, so a corpus that
    grows leaves the known sequences in their order.
    """
    groups = []
    for tags, rows in sentences.sort_values("id").groupby("tags", sort=True):
        slots = [tuple((slot["start"], slot["end"], slot["slot"]) for slot in filled) for filled in rows["slots"]]
        columns = [slots if name == "slots" else rows[name].tolist() for name in Candidate._fields]
        candidates = tuple(Candidate(*row) for row in zip(*columns, strict=True))
        groups.append(Group("sequence", str(tags), str(tags), candidates))
    return tuple(sorted(groups, key=lambda group: (generator_for(seed, "labelling", group.tags).random(), group.tags)))


def start_session(
    groups: Sequence[Group], labels: Sequence[Label], who: str, today: str, *, by_uncertainty: bool = False
) -> Session:
    """Begin a session with the first group that the person has not labelled, or the most uncertain: see `Session`."""
    start = Session(tuple(groups), tuple(labels), who, today, by_uncertainty=by_uncertainty)
    return _to_next_unlabelled(start, -1)


def answer(session: Session, text: str, seconds: float | None = None) -> Reply:
    """Do what a person asks for in the words that `HELP` describes.

    Args:
        session: The state before.
        text: What was typed.
        seconds: How long the person has looked at the group, for the pace; None if that is not known.
    """
    text = text.strip()
    if match := _ANSWER.fullmatch(text):
        return _label(session, int(match[1] or 0), ANSWERS[match[2]], seconds)
    if match := _GO.fullmatch(text):
        return _go_to(session, int(match[1]))
    if text.startswith("/"):
        return _search(session, text[1:].strip() or session.query)
    if text == "z":
        return _undo(session)
    if text in ("s", "b") and session.groups:  # after the last comes the first, and the other way round
        by = 1 if text == "s" else -1
        here = session.position if session.position is not None else min(0, -by)
        return _go_to(session, (here + by) % len(session.groups) + 1)
    return Reply(session, one_line(f"'{text}' is not an answer: {HELP}"), refused=True)


def _label(session: Session, number: int, label: Judgement, seconds: float | None) -> Reply:
    """Label the group that is shown and go to the next one, or label one of its sentences, by its number from 1."""
    group, position = session.current, session.position
    if group is None or position is None:
        return Reply(session, "all are labelled; z takes the last label back, g 12 shows number 12", refused=True)
    if number and group.kind == "sentence":
        return Reply(session, f"there is one sentence only; answer {label[0]}", refused=True)
    if number > len(group.shown):
        return Reply(session, f"there is no sentence {number}", refused=True)
    kind, target = ("sentence", group.shown[number - 1].id) if number else (group.kind, group.target)
    new = Label(kind, target, label, session.who, session.today)
    replaced = next((known for known in session.labels if known.key == new.key), None)
    step = Step(new, replaced, position, None if number else seconds)
    after = replace(session, labels=tuple(with_label(session.labels, new)), history=(*session.history, step))
    if number:
        return Reply(after, f"sentence {number} is {label}; now label the others")
    return Reply(_to_next_unlabelled(after, position), f"number {position + 1} is {label}")


def _undo(session: Session) -> Reply:
    """Remove the last label of this session, restore the label that it replaced, and go back to where it was given."""
    if not session.history:
        return Reply(session, "nothing to undo: this session has no label", refused=True)
    last = session.history[-1]
    labels = [label for label in session.labels if label != last.label]
    if last.replaced is not None:
        labels = with_label(labels, last.replaced)
    after = replace(session, labels=tuple(labels), history=session.history[:-1], position=last.position)
    return Reply(after, f"undone: number {last.position + 1} is no longer {last.label.label}")


def _go_to(session: Session, number: int) -> Reply:
    """Show the group of that number, which counts from 1; it may be labelled already."""
    if not 1 <= number <= len(session.groups):
        return Reply(session, f"there is no number {number}; they go from 1 to {len(session.groups)}", refused=True)
    return Reply(replace(session, position=number - 1), "")


def _search(session: Session, query: str) -> Reply:
    """Show the next group with a text in its sentences, tags or sources; capital letters do not matter."""
    if not query:
        return Reply(session, "what is searched for? Write /word", refused=True)
    matches = []
    for position, group in enumerate(session.groups):
        texts = [text for sentence in group.sentences for text in (sentence.text, sentence.url, sentence.id)]
        if any(query.lower() in text.lower() for text in (group.tags, *texts)):
            matches.append(position)
    after = replace(session, query=query)
    if not matches:
        return Reply(after, f"'{query}' is nowhere", refused=True)
    shown = -1 if session.position is None else session.position
    position = next((position for position in matches if position > shown), matches[0])
    said = f"'{query}' is in {len(matches)} of {len(session.groups)}; this is match {matches.index(position) + 1}"
    return Reply(replace(after, position=position), said)


def _to_next_unlabelled(session: Session, position: int) -> Session:
    """Show the first group after a position, or else from the beginning, that the person has not labelled.

    By uncertainty it is the first of all or, where the person has labelled an odd number, the most uncertain. The
    labels alone decide that, so a session that was interrupted goes on as it would have gone.
    """
    left, by_uncertainty = session.unlabelled, session.by_uncertainty
    if not left:
        return replace(session, position=None)
    if by_uncertainty and (len(session.groups) - len(left)) % 2:
        positive = training_labels(session.groups, session.labels)
        if positive is not None:
            return replace(session, position=most_uncertain(session.groups, positive, left))
    return replace(session, position=min(left, key=lambda other: (not by_uncertainty and other <= position, other)))


class SavedSession:
    """A session and its file.

    The file is read again before each answer, so that what another person or `git pull` has written meanwhile stays.

    Args:
        session: Where to begin.
        path: The labels.tsv.
        clock: Seconds that only grow.
    """

    def __init__(self, session: Session, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.session = session
        self._path, self._clock, self._since = path, clock, clock()

    def say(self, text: str, shown: int | None = None) -> Reply:
        """Do what a person asks for, and write the labels if they have changed.

        Args:
            text: What was typed.
            shown: The number of the group that the person sees, if it could be another than the session's: then nothing
                is done. 0 where all is labelled and none is shown.

        Raises:
            ConstructionError: labels.tsv has a fault that somebody else has made meanwhile; nothing is done.
            DiskFullError: The labels cannot be written; nothing is done.
        """
        before = replace(self.session, labels=tuple(read_labels(self._path)))
        if shown is not None and shown != (0 if before.position is None else before.position + 1):
            said = "nothing was done: the session has moved on, perhaps in another window; look again"
            return Reply(self.session, said, refused=True)
        reply = answer(before, text, self._clock() - self._since)
        if set(reply.session.labels) != set(before.labels):
            write_labels(reply.session.labels, self._path)
        if reply.session.position != before.position:
            self._since = self._clock()
        self.session = reply.session
        return reply


class Desk(NamedTuple):
    """What is shown beside the sentences themselves.

    Attributes:
        construction: What is labelled, with what counts as positive.
        find_pieces: Marks the parts of the construction in a sentence.
        surroundings: The id of a sentence -> the text around it, for the sentences where it is known.
        disputes: (kind, target) -> the labels that somebody decides about; empty where people label independently of
            each other, so that nobody sees the labels of others.
    """

    construction: Construction
    find_pieces: PieceFinder
    surroundings: Mapping[str, Surroundings]
    disputes: Mapping[Target, Said]


@dataclass(frozen=True)
class ShownSentence:
    """A sentence as it is shown.

    Attributes:
        number: Its number in the group, from 1.
        pieces: Its text.
        before: The text before it, or "".
        after: The text after it, or "".
        source: Where it is from.
        label: The person's label of this sentence alone, if there is one.
    """

    number: int
    pieces: tuple[Piece, ...]
    before: str
    after: str
    source: str
    label: Judgement | None


@dataclass(frozen=True)
class Card:
    """A group as it is shown.

    Attributes:
        kind: "sequence" or "sentence".
        tags: The sequence of tags.
        size: How many sentences have it; not all of them may be shown.
        label: The person's label of the group, if there is one.
        said: The labels that the person decides about.
        sentences: The sentences.
    """

    kind: str
    tags: str
    size: int
    label: Judgement | None
    said: Said
    sentences: tuple[ShownSentence, ...]


@dataclass(frozen=True)
class View:
    """All that a person sees, on the terminal or on the page.

    Attributes:
        construction: Its name.
        gloss: What it is.
        positive: What counts as positive.
        who: Who labels.
        total: How many groups there are.
        left: How many of them the person has not labelled.
        progress: How much is done, how fast, and how long the rest takes.
        said: What the last answer did.
        refused: Whether it did nothing.
        undo: Whether there is a label to take back.
        shown: The number of the group that is shown, from 1; 0 for none.
        card: The group, or None when all are labelled.
    """

    construction: str
    gloss: str
    positive: str
    who: str
    total: int
    left: int
    progress: str
    said: str
    refused: bool
    undo: bool
    shown: int
    card: Card | None


def view_of(reply: Reply, desk: Desk) -> View:
    """Return what a person sees after an answer."""
    session, content = reply.session, desk.construction
    card = None
    if group := session.current:
        own, target = session.own, (group.kind, group.target)
        sentences = shown_sentences(group, desk, own if group.kind == "sequence" else {})
        said = desk.disputes.get(target, {})
        card = Card(group.kind, group.tags, len(group.sentences), own.get(target), said, sentences)
    return View(
        construction=content.name,
        gloss=content.gloss,
        positive=content.positive,
        who=session.who,
        total=len(session.groups),
        left=len(session.unlabelled),
        progress=progress_of(session),
        said=reply.said,
        refused=reply.refused,
        undo=bool(session.history),
        shown=0 if session.position is None else session.position + 1,
        card=card,
    )


def shown_sentences(group: Group, desk: Desk, labels: Mapping[Target, Judgement]) -> tuple[ShownSentence, ...]:
    """Return the sentences of a group as they are shown, with the labels of single sentences."""
    shown = []
    for number, candidate in enumerate(group.shown, start=1):
        around = desk.surroundings.get(candidate.id, Surroundings("", ""))
        pieces, label = desk.find_pieces(candidate, group.tags), labels.get(("sentence", candidate.id))
        shown.append(ShownSentence(number, pieces, around.before, around.after, candidate.url, label))
    return tuple(shown)


def progress_of(session: Session) -> str:
    """Return in words how much is done, how fast, and how long the rest takes at this pace.

    The pace is the median of the seconds from one group to the next in this session.
    """
    total, left = len(session.groups), len(session.unlabelled)
    text = f"{total - left} of {total} labelled" + (f", {left} left" if left else "")
    if session.by_uncertainty and left and training_labels(session.groups, session.labels) is None:
        text += f" (all at random: too few labels for a probe, which needs {FEWEST} positive and {FEWEST} other)"
    seconds = [step.seconds for step in session.history if step.seconds is not None]
    if not seconds:
        return text
    pace = median(seconds)
    text += f"; {pace:.{int(pace < 10)}f} s each (median of {len(seconds)})"
    return f"{text}, about {duration(pace * left)} to go" if left else text
