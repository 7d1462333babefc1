"""What a person who labels sees of a session, whether in a terminal or in a browser."""

from collections.abc import Mapping
from typing import NamedTuple

from cxprobe.constructions import Construction, Judgement
from cxprobe.labelling.agreement import Conflict
from cxprobe.labelling.hits import Finder, Hit
from cxprobe.labelling.sessions import Candidate, Group, Pace, Session
from cxprobe.labelling.surroundings import Surroundings


class Desk(NamedTuple):
    """What is shown beside the sentences themselves.

    Attributes:
        construction: What is labelled, with what counts as positive.
        find_hits: Finds the hits of a sentence.
        surroundings: The id of a sentence -> the text around it, for the sentences where it is known.
        disputes: (kind, target) -> the labels that somebody decides about; empty where people label independently of
            each other, so that nobody sees the labels of others.
    """

    construction: Construction
    find_hits: Finder
    surroundings: Mapping[str, Surroundings]
    disputes: Mapping[tuple[str, str], Conflict]


class Line(NamedTuple):
    """A sentence as it is shown.

    Attributes:
        number: Its number in the group, from 1.
        text: The sentence.
        hits: Where the pattern matched.
        around: The text around it, or None if it is not known.
        source: Where it is from.
        label: The person's label of this sentence alone, if there is one.
    """

    number: int
    text: str
    hits: tuple[Hit, ...]
    around: Surroundings | None
    source: str
    label: Judgement | None


class Card(NamedTuple):
    """A group as it is shown.

    Attributes:
        number: Its number, from 1.
        kind: "sequence" or "sentence".
        tags: The sequence of tags.
        size: How many sentences have it; not all of them may be shown.
        label: The person's label of the group, if there is one.
        said: The labels that the person decides about: who, label.
        lines: The sentences.
    """

    number: int
    kind: str
    tags: str
    size: int
    label: Judgement | None
    said: tuple[tuple[str, Judgement], ...]
    lines: tuple[Line, ...]


def card_of(session: Session, desk: Desk) -> Card | None:
    """Return what is shown of a session, or None when all is labelled."""
    group = session.current
    if group is None or session.place is None:
        return None
    own, dispute = session.own, desk.disputes.get((group.kind, group.target))
    return Card(
        number=session.place + 1,
        kind=group.kind,
        tags=group.tags,
        size=len(group.sentences),
        label=own.get((group.kind, group.target)),
        said=dispute.labels if dispute else (),
        lines=tuple(_line(number, one, group, own, desk) for number, one in enumerate(group.shown, start=1)),
    )


def progress_of(session: Session) -> str:
    """Return in words how much is done, how fast, and how long the rest takes at this pace."""
    total, left = len(session.groups), session.left
    text = f"{total - left} of {total} labelled"
    pace = session.pace
    return f"{text}, {left} left{_at(pace, left)}" if left else f"{text}{_at(pace, left)}"


def _at(pace: Pace | None, left: int) -> str:
    if pace is None:
        return ""
    text = f"; {pace.seconds:.{int(pace.seconds < 10)}f} s each (median of {pace.n})"
    return f"{text}, about {_duration(pace.seconds * left)} to go" if left else text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _line(number: int, one: Candidate, group: Group, own: Mapping[tuple[str, str], Judgement], desk: Desk) -> Line:
    return Line(
        number=number,
        text=one.text,
        hits=desk.find_hits(one.text, group.tags),
        around=desk.surroundings.get(one.id),
        source=one.url,
        label=own.get(("sentence", one.id)) if group.kind == "sequence" else None,
    )
