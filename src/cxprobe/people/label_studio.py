"""Labelling in Label Studio: tasks and a labelling configuration to import there, and its annotations as labels.

A task is a sequence of tags with its sentences, as in the project's own labelling. Single sentences that are not like
the others of their sequence are named by a second question.

Source:
    Label Studio's documentation: "Import tasks", "Export annotations" (JSON), tags HyperText and Choices.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line
from cxprobe.people.cards import Desk, Hit
from cxprobe.people.labels import JUDGEMENTS, Judgement, Label
from cxprobe.people.sessions import Candidate, Group

_LABEL, _EXCEPTIONS = "label", "exceptions"  # the names of the two questions
_FAULTS_SHOWN = 20
_ASIDE = 'style="color: #767676; margin: 0.3em 0"'

CONFIG = f"""\
<View>
  <Style>
    .cx-positive {{ white-space: pre-line; }}
  </Style>
  <Header value="$construction" size="4"/>
  <Text name="positive" value="$positive"/>
  <HyperText name="sentences" value="$html"/>
  <Choices name="{_LABEL}" toName="sentences" choice="single" required="true" showInline="true"
    requiredMessage="Choose positive, negative or unclear">
    <Choice value="positive" hotkey="p"/>
    <Choice value="negative" hotkey="n"/>
    <Choice value="unclear" hotkey="u"/>
  </Choices>
  <Header value="If there are several sentences: which are not like the others?" size="5"/>
  <Choices name="{_EXCEPTIONS}" toName="sentences" choice="multiple" value="$exceptions" layout="inline"/>
</View>
"""


class _Read(BaseModel):
    """A part of an export; Label Studio adds keys with every version, so what is not needed is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Data(_Read):
    cxprobe: str
    tags: str
    ids: tuple[str, ...]


class _Choices(_Read):
    choices: tuple[str, ...]


class _Result(_Read):
    from_name: str
    type: Literal["choices"]
    value: _Choices


class _OtherResult(_Read):
    type: str


class _Person(_Read):
    id: int


class _Annotation(_Read):
    completed_by: int | _Person
    created_at: datetime
    was_cancelled: bool = False
    result: tuple[Annotated[_Result | _OtherResult, Field(union_mode="left_to_right")], ...]

    @property
    def person(self) -> int:
        return self.completed_by if isinstance(self.completed_by, int) else self.completed_by.id

    def chosen(self, question: str) -> tuple[str, ...]:
        found = (one.value.choices for one in self.result if isinstance(one, _Result) and one.from_name == question)
        return next(found, ())


class _Task(_Read):
    id: int
    data: _Data
    annotations: tuple[_Annotation, ...]


_TASKS = TypeAdapter(tuple[_Task, ...])
T = TypeVar("T")


class Imported(NamedTuple):
    """What an export of Label Studio has.

    Attributes:
        labels: The labels, each person's last one of a thing.
        skipped: How many annotations were cancelled.
        unlabelled: How many tasks nobody has labelled.
    """

    labels: tuple[Label, ...]
    skipped: int
    unlabelled: int


def tasks_of(name: str, groups: Sequence[Group], desk: Desk) -> list[dict[str, Any]]:
    """Return the tasks, in the order of the groups, as Label Studio imports them from JSON.

    Args:
        name: The construction's folder.
        groups: The sequences with their sentences.
        desk: What is shown beside them.
    """
    return [{"data": _data(name, group, desk)} for group in groups]


def read_annotations(
    content: object, name: str, groups: Sequence[Group], people: Mapping[int, str], place: str
) -> Imported:
    """Return the labels of an export in Label Studio's format JSON.

    Args:
        content: The parsed file.
        name: The construction's folder.
        groups: The sequences that were mined.
        people: The number of an annotator in Label Studio -> the name in labels.tsv. A single annotator may have the
            number 0, whatever the number in Label Studio is.
        place: The file, for messages.

    Raises:
        DataError: One line for every fault: it is no such export; a task is of another construction, or of sentences
            that are not those mined here; an answer is none; an annotator has no name.
    """
    try:
        tasks = _TASKS.validate_python(content)
    except ValidationError as fault:
        raise DataError(_not_an_export(fault, place)) from None
    annotators = {one.person for task in tasks for one in task.annotations if not one.was_cancelled}
    names = {next(iter(annotators)): people[0]} if len(annotators) == 1 and 0 in people else people
    if nameless := sorted(annotators - names.keys()):
        shown = ", ".join(map(str, nameless))
        raise DataError(
            f"{place}: annotators {shown} have no name; Label Studio knows people by these numbers: give each one, "
            f"--annotator {nameless[0]}=NAME"
        )
    known = {group.tags: {one.id for one in group.sentences} for group in groups}
    found: dict[tuple[str, str, str], tuple[datetime, Label]] = {}
    faults: list[str] = []
    for task in tasks:
        try:
            _check(task, name, known)
            for made, label in _labels_of(task, names):
                key = label.kind, label.target, label.who
                if key not in found or found[key][0] <= made:
                    found[key] = made, label
        except ValueError as fault:
            faults.append(one_line(f"{place}, task {task.id}: {fault}"))
    if faults:
        more = [f"{place}: and {len(faults) - _FAULTS_SHOWN} more"] if len(faults) > _FAULTS_SHOWN else []
        raise DataError("\n".join(faults[:_FAULTS_SHOWN] + more))
    return Imported(
        labels=tuple(sorted(label for _, label in found.values())),
        skipped=sum(one.was_cancelled for task in tasks for one in task.annotations),
        unlabelled=sum(all(one.was_cancelled for one in task.annotations) for task in tasks),
    )


def _data(name: str, group: Group, desk: Desk) -> dict[str, Any]:
    several = len(group.shown) > 1
    return {
        "cxprobe": name,
        "construction": desk.construction.name,
        "positive": f"{desk.construction.gloss}\nPositive: {desk.construction.positive}",
        "tags": group.tags,
        "ids": [one.id for one in group.shown],
        "html": "".join(_html(number, one, group, desk) for number, one in enumerate(group.shown, start=1)),
        "exceptions": [
            {"value": f"{number} {label}"}
            for number in range(1, len(group.shown) + 1)
            for label in JUDGEMENTS
            if several
        ],
    }


def _html(number: int, one: Candidate, group: Group, desk: Desk) -> str:
    """Return a sentence between its surroundings; Label Studio shows it in a frame, where only its own style counts."""
    around = desk.surroundings.get(one.id)
    before, after = (f"<div {_ASIDE}>{escape(text)}</div>" for text in around) if around else ("", "")
    sentence = _with_marks(one.text, desk.find_hits(one.text, group.tags))
    return (
        f'<div style="font-family: sans-serif; margin: 0.8em 0">{before}<div style="font-size: 1.2em">'
        f"<b>{number}</b> {sentence}</div>{after}<div {_ASIDE}>{escape(one.url)}</div></div>"
    )


def _with_marks(text: str, hits: Sequence[Hit]) -> str:
    html, done = "", 0
    for hit in hits:
        html += f"{escape(text[done : hit.start])}<mark>{escape(text[hit.start : hit.end])}</mark>"
        done = hit.end
    return html + escape(text[done:])


def _not_an_export(fault: ValidationError, place: str) -> str:
    first = fault.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the top"
    return one_line(
        f"{place}: {where}: {first['msg']}; expected Label Studio's export in the format JSON (not JSON-MIN or CSV) of "
        "tasks that `cxprobe label --export` has written"
    )


def _check(task: _Task, name: str, known: Mapping[str, set[str]]) -> None:
    if task.data.cxprobe != name:
        raise ValueError(f"it is of the construction '{task.data.cxprobe}', not of '{name}'")
    if not set(task.data.ids) <= known.get(task.data.tags, set()):
        raise ValueError(
            "its sentences are not those that were mined here; import it where it was exported, or mine the same corpus"
        )


def _labels_of(task: _Task, names: Mapping[int, str]) -> Iterator[tuple[datetime, Label]]:
    for one in task.annotations:
        if one.was_cancelled:
            continue
        who, day = names[one.person], one.created_at.date().isoformat()
        chosen = one.chosen(_LABEL)
        if len(chosen) != 1:
            raise ValueError(
                f"annotator {one.person} has {len(chosen)} labels; one of {', '.join(JUDGEMENTS)} is needed"
            )
        yield one.created_at, Label("sequence", task.data.tags, _judgement(chosen[0]), who, day)
        apart: dict[str, Judgement] = {}
        for exception in one.chosen(_EXCEPTIONS):
            sentence, label = _exception(exception, task.data.ids)
            if sentence in apart:
                raise ValueError(
                    f"annotator {one.person} gives one sentence two labels: {exception} and {apart[sentence]}"
                )
            apart[sentence] = label
            yield one.created_at, Label("sentence", sentence, label, who, day)


def _judgement(text: str) -> Judgement:
    for label in JUDGEMENTS:
        if text == label:
            return label
    raise ValueError(f"the label '{text}' is unknown (allowed: {', '.join(JUDGEMENTS)})")


def _exception(text: str, ids: Sequence[str]) -> tuple[str, Judgement]:
    number, _, label = text.partition(" ")
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= len(ids)):
        raise ValueError(
            f"the exception '{text}' names no sentence; expected a number from 1 to {len(ids)} and a label"
        )
    return ids[int(number) - 1], _judgement(label)
