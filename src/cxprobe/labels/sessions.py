"""One person's labelling at a terminal: the order of the sentences, the display, and the effect of an answer."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import typer

from cxprobe.constructions.construction import Construction
from cxprobe.labels.labels import Judgement, PersonLabel, Target, read_labels, write_labels
from cxprobe.labels.mined import MOST_SHOWN, MinedSentence, SentenceGroup
from cxprobe.labels.tables import changing

_LABELS: Mapping[str, Judgement] = {"p": "positive", "n": "negative", "u": "unclear"}
HELP = "p positive, n negative, u unclear (2n: only the second sentence is negative), s next, b back, q quit"
_ANSWER = re.compile(rf"([1-{MOST_SHOWN}]?)([pnu])")
_STEPS = {"s": 1, "b": -1}
# From a sentence to where the words of the construction are: the first character, and the one after the last.
Places = Callable[[MinedSentence], Sequence[tuple[int, int]]]
Hint = Callable[[Sequence[PersonLabel]], str]


class Session:
    """The state of one person's labelling.

    The file is read again before each change, so that what another person or `git pull` has written meanwhile stays.

    Args:
        groups: All groups, in the order in which they are shown; one at least.
        path: The labels.tsv.
        who: The person, as labels.tsv has the name.
        today: The date that is written beside new labels.

    Attributes:
        groups: All groups.
        labels: Everybody's labels.
        who: The person.
        position: The number, from 0, of the group that is shown.
    """

    def __init__(self, groups: Sequence[SentenceGroup], path: Path, who: str, today: str) -> None:
        self.groups, self.who = tuple(groups), who
        self.labels = read_labels(path)
        self._path, self._today = path, today
        self.position = min(self.left, default=0)

    @property
    def given(self) -> dict[Target, PersonLabel]:
        """The person's labels: (kind, target) -> label."""
        return {(label.kind, label.target): label for label in self.labels if label.who == self.who}

    @property
    def left(self) -> list[int]:
        """The positions of the groups that the person has not labelled."""
        given = self.given
        return [position for position, group in enumerate(self.groups) if (group.kind, group.target) not in given]

    def say(self, text: str) -> str:
        """Carry out an answer that `HELP` describes, and return a message about it.

        Raises:
            ConstructionError: labels.tsv has a fault that somebody else has made meanwhile; nothing is done.
            DiskFullError: The labels cannot be written; nothing is done.
        """
        if answer := _ANSWER.fullmatch(text):
            return self._label(int(answer[1] or 0), _LABELS[answer[2]])
        if text not in _STEPS:
            return f"{text[:20]!r} is not an answer: {HELP}"
        self.position = (self.position + _STEPS[text]) % len(self.groups)
        return ""

    def _label(self, number: int, label: Judgement) -> str:
        """Label the group that is shown and go to the next one, or label one of its sentences, by its number from 1."""
        group, position = self.groups[self.position], self.position
        if number > len(group.sentences):
            return f"there is no sentence {number}"
        target = ("sentence", group.sentences[number - 1].id) if number else (group.kind, group.target)
        with changing(self._path):
            others = [one for one in read_labels(self._path) if one.key != (*target, self.who)]
            self.labels = [*others, PersonLabel(*target, label, self.who, self._today)]
            write_labels(self.labels, self._path)
        if target != (group.kind, group.target):
            return f"sentence {number} is {label}; now label the others"
        left = self.left
        behind = [other for other in left if other > position]
        self.position = [*behind, *left, position][0]
        return f"number {position + 1} is {label}" + ("" if left else "; all are labelled, q ends")


def label_here(session: Session, about: Construction, places_of: Places, hint: Hint) -> None:
    """Ask the person at the terminal, or read answers from the input, a line each, until that ends or has a "q".

    Args:
        session: The session.
        about: The construction, with its definition of a positive sentence.
        places_of: Returns the marked words of a sentence.
        hint: Returns a summary of the person's labels.
    """
    message = ""
    while True:
        shown = [
            message,
            f"{about.name}: {about.gloss}",
            f"Positive: {about.positive}",
            hint([*session.given.values()]),
        ]
        typer.echo("\n".join([*shown, *lines_of(session, places_of), f"{HELP}: "]), nl=False)
        try:
            text = input().strip()
        except (EOFError, KeyboardInterrupt):
            return
        if text == "q":
            return
        message = session.say(text)


def lines_of(session: Session, places_of: Places) -> Iterator[str]:
    """Yield the lines of the group that is shown; words that are marked stand in asterisks."""
    group, given = session.groups[session.position], session.given
    target, total = (group.kind, group.target), len(session.groups)
    yield f"\n{session.position + 1} of {total}, {total - len(session.left)} labelled"
    if target in given:
        yield f"You have labelled it {given[target].label}; a new answer replaces that."
    yield from (f"{who}: {label}" for who, label in group.others.items())
    yield f"{len(group.sentences)} sentences of {group.tags}"
    for number, sentence in enumerate(group.sentences[:MOST_SHOWN], start=1):
        text, alone = sentence.text, given.get(("sentence", sentence.id))
        for start, end in sorted(places_of(sentence), reverse=True):
            text = f"{text[:start]}{typer.style(f'**{text[start:end]}**', bold=True)}{text[end:]}"
        yield f"  {number}  {text}" + (f"   ({alone.label})" if alone else "")
        yield f"     {sentence.url}"
