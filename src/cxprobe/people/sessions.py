"""One person's labelling: which sentences come next, what an answer does, how it is saved, and what is then shown.

Nothing here asks or prints; the terminal and the page in the browser do.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import NamedTuple

from cxprobe.constructions.construction import Construction
from cxprobe.files.reading import one_line
from cxprobe.people.labels import Judgement, PersonLabel, Said, Target, read_labels, with_label, write_labels
from cxprobe.people.mined import MOST_SHOWN, Piece, PieceFinder, SentenceGroup
from cxprobe.people.ranking import WANTED, sentences_for
from cxprobe.people.tables import changing

_LABEL_OF_KEY: dict[str, Judgement] = {"p": "positive", "n": "negative", "u": "unclear"}
HELP = (
    "p positive, n negative, u unclear (2n: only the second sentence is negative), z undo, "
    "s next, b back, g 12 go to number 12, q quit"
)
_ANSWER = re.compile(rf"([1-{MOST_SHOWN}]?)([{''.join(_LABEL_OF_KEY)}])")
_GO = re.compile(r"g ?([0-9]{1,9})")


class Step(NamedTuple):
    """A label of this session, for undo: the label that it replaced, and where it was given."""

    label: PersonLabel
    replaced: PersonLabel | None
    position: int


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
        said: What the last answer did, or why nothing was done; empty where what is shown says it.
        refused: Whether the last answer was none, or could not be carried out.
    """

    groups: tuple[SentenceGroup, ...]
    labels: tuple[PersonLabel, ...]
    who: str
    today: str
    position: int | None = None
    history: tuple[Step, ...] = ()
    said: str = field(default="", compare=False)
    refused: bool = field(default=False, compare=False)

    @property
    def current(self) -> SentenceGroup | None:
        """The group that is shown, or None."""
        return None if self.position is None else self.groups[self.position]

    @property
    def given(self) -> Mapping[Target, Judgement]:
        """The person's labels: (kind, target) -> label."""
        return {(label.kind, label.target): label.label for label in self.labels if label.who == self.who}

    @property
    def unlabelled(self) -> list[int]:
        """The positions of the groups that the person has not labelled."""
        given = self.given
        return [position for position, group in enumerate(self.groups) if (group.kind, group.target) not in given]


def start_session(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel], who: str, today: str) -> Session:
    """Begin a session with the first group that the person has not labelled."""
    return _to_next_unlabelled(Session(tuple(groups), tuple(labels), who, today), -1)


def apply_answer(session: Session, text: str) -> Session:
    """Do what a person asks for in the words that `HELP` describes.

    Args:
        session: The state before.
        text: What was typed.
    """
    text, session = text.strip(), replace(session, said="", refused=False)
    if match := _ANSWER.fullmatch(text):
        return _label(session, int(match[1] or 0), _LABEL_OF_KEY[match[2]])
    if match := _GO.fullmatch(text):
        return _go_to(session, int(match[1]))
    if text == "z":
        return _undo(session)
    if text in ("s", "b") and session.groups:  # after the last comes the first, and the other way round
        by = 1 if text == "s" else -1
        here = session.position if session.position is not None else min(0, -by)
        return _go_to(session, (here + by) % len(session.groups) + 1)
    return _refuse(session, one_line(f"'{text}' is not an answer: {HELP}"))


def _refuse(session: Session, why: str) -> Session:
    return replace(session, said=why, refused=True)


def _label(session: Session, number: int, label: Judgement) -> Session:
    """Label the group that is shown and go to the next one, or label one of its sentences, by its number from 1."""
    group, position = session.current, session.position
    if group is None or position is None:
        return _refuse(session, "all are labelled; z takes the last label back, g 12 shows number 12")
    if number and group.kind == "sentence":
        return _refuse(session, f"there is one sentence only; answer {label[0]}")
    if number > len(group.shown):
        return _refuse(session, f"there is no sentence {number}")
    kind, target = ("sentence", group.shown[number - 1].id) if number else (group.kind, group.target)
    new = PersonLabel(kind, target, label, session.who, session.today)
    replaced = next((known for known in session.labels if known.key == new.key), None)
    step = Step(new, replaced, position)
    after = replace(session, labels=tuple(with_label(session.labels, new)), history=(*session.history, step))
    if number:
        return replace(after, said=f"sentence {number} is {label}; now label the others")
    return replace(_to_next_unlabelled(after, position), said=f"number {position + 1} is {label}")


def _undo(session: Session) -> Session:
    """Remove the last label of this session, restore the label that it replaced, and go back to where it was given."""
    if not session.history:
        return _refuse(session, "nothing to undo: this session has no label")
    last = session.history[-1]
    labels = [label for label in session.labels if label != last.label]
    if last.replaced is not None:
        labels = with_label(labels, last.replaced)
    said = f"undone: number {last.position + 1} is no longer {last.label.label}"
    return replace(session, labels=tuple(labels), history=session.history[:-1], position=last.position, said=said)


def _go_to(session: Session, number: int) -> Session:
    """Show the group of that number, which counts from 1; it may be labelled already."""
    if not 1 <= number <= len(session.groups):
        return _refuse(session, f"there is no number {number}; they go from 1 to {len(session.groups)}")
    return replace(session, position=number - 1)


def _to_next_unlabelled(session: Session, position: int) -> Session:
    """Show the first group after a position, or else from the beginning, that the person has not labelled."""
    left = session.unlabelled
    following = [other for other in left if other > position]
    return replace(session, position=next(iter(following or left), None))


class SavedSession:
    """A session and its file.

    The file is read again before each answer, so that what another person or `git pull` has written meanwhile stays.

    Args:
        session: Where to begin.
        path: The labels.tsv.
    """

    def __init__(self, session: Session, path: Path) -> None:
        self.session = session
        self._path = path

    def say(self, text: str, shown: int | None = None) -> Session:
        """Do what a person asks for, and write the labels if they have changed.

        Args:
            text: What was typed.
            shown: The number of the group that the person sees, if it could be another than the session's: then nothing
                is done. 0 where all is labelled and none is shown.

        Raises:
            ConstructionError: labels.tsv has a fault that somebody else has made meanwhile; nothing is done.
            DiskFullError: The labels cannot be written; nothing is done.
        """
        if shown is not None and shown != (0 if self.session.position is None else self.session.position + 1):
            return _refuse(
                self.session, "nothing was done: the session has moved on, perhaps in another window; look again"
            )
        with changing(self._path):
            before = replace(self.session, labels=tuple(read_labels(self._path)))
            after = apply_answer(before, text)
            if set(after.labels) != set(before.labels):
                write_labels(after.labels, self._path)
        self.session = after
        return after


class Desk(NamedTuple):
    """What is shown beside the sentences themselves.

    Attributes:
        construction: What is labelled, with what counts as positive.
        find_pieces: Marks the parts of the construction in a sentence.
        disputes: (kind, target) -> the labels that somebody decides about; empty where people label independently of
            each other, so that nobody sees the labels of others.
        needed: How many sentences of each label a probe needs at least; 0 where nothing is said of it.
        tested: Returns how many sentences would test a probe with some labels; 0 where they do not suffice for one.
    """

    construction: Construction
    find_pieces: PieceFinder
    disputes: Mapping[Target, Said]
    needed: int = 0
    tested: Callable[[Sequence[PersonLabel]], int] = lambda _: 0


@dataclass(frozen=True)
class ShownSentence:
    """A sentence as it is shown.

    Attributes:
        number: Its number in the group, from 1.
        pieces: Its text.
        source: Where it is from.
        label: The person's label of this sentence alone, if there is one.
    """

    number: int
    pieces: tuple[Piece, ...]
    source: str
    label: Judgement | None


def shown_sentences(session: Session, desk: Desk) -> list[ShownSentence]:
    """Return the sentences of the group that is shown; none where all are labelled."""
    group, given = session.current, session.given
    if group is None:
        return []
    shown = []
    for number, sentence in enumerate(group.shown, start=1):
        label = given.get(("sentence", sentence.id)) if group.kind == "sequence" else None
        pieces = desk.find_pieces(sentence, group.tags)
        shown.append(ShownSentence(number, pieces, sentence.url, label))
    return shown


def progress_of(session: Session, desk: Desk) -> str:
    """Return in words how much is done, and what a probe lacks by the labels that this person gave."""
    total, left = len(session.groups), len(session.unlabelled)
    text = f"{total - left} of {total} labelled" + (f", {left} left" if left else "")
    return text + (_balance_of(session, desk) if desk.needed and left < total else "")


def _balance_of(session: Session, desk: Desk) -> str:
    """Return how many sentences have the rarer label, how many would test a probe, and how many labels are missing."""
    given, counts, needed = session.given, Counter[str](), desk.needed
    for group in session.groups:
        of_group = given.get((group.kind, group.target), "")
        counts.update(given.get(("sentence", sentence.id), of_group) for sentence in group.sentences)
    rarer, number = min(((name, counts[name]) for name in ("negative", "positive")), key=lambda one: one[1])
    said = f"; {number} {rarer} so far, "
    if number < needed:
        return f"{said}a probe with {needed} of each label needs {_more(session, number, needed)}"
    n = desk.tested([label for label in session.labels if label.who == session.who])
    if not n:
        return f"{said}enough for a probe, but not yet in both of its parts, which share no sequence of tags"
    said += f"{n} sentences would test a probe"
    if n >= (wanted := sentences_for(WANTED)):
        return said
    points = f"{100 * WANTED:.0f} points to each side"
    return f"{said}; for an interval of {points}, some {wanted}, it needs {_more(session, n, wanted)}"


def _more(session: Session, number: int, wanted: int) -> str:
    """Return how many labels more there should be, if the coming ones add as many sentences as those so far did."""
    done = len(session.groups) - len(session.unlabelled)
    if done == len(session.groups):
        return "a larger corpus"
    return f"about {ceil((wanted - number) * done / number):,} labels more" if number else "some"
