"""Labelling in Label Studio: tasks and a labelling configuration to import there, and its annotations as labels.

A task is a sequence of tags with its sentences, as in the project's own labelling. Single sentences that are not like
the others of their sequence are named by a second question.

Source:
    Label Studio's documentation: "Import tasks", "Export annotations" (JSON), tags HyperText and Choices.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from typing import Annotated, Any, NamedTuple

from pydantic import AliasChoices, AliasPath, BaseModel, Field, TypeAdapter, ValidationError

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line
from cxprobe.people.labels import JUDGEMENTS, Label
from cxprobe.people.sessions import Desk, Group, ShownSentence, shown_sentences

_MOST_FAULTS = 20  # lines of a message


class _Data(BaseModel):
    cxprobe: str
    tags: str
    ids: tuple[str, ...]


class _Result(BaseModel):
    """An answer to one question of the configuration, or something else that somebody has noted."""

    from_name: str = ""
    type: str
    value: dict[str, Any] = {}


class _Annotation(BaseModel):
    # Older exports have the number alone, others a record of the person.
    person: Annotated[int, Field(validation_alias=AliasChoices(AliasPath("completed_by", "id"), "completed_by"))]
    created_at: datetime
    was_cancelled: bool = False
    result: tuple[_Result, ...]

    def chosen(self, question: str) -> list[str]:
        """Return what was chosen as the answer to a question."""
        answers = (result for result in self.result if result.from_name == question and result.type == "choices")
        return [str(choice) for result in answers for choice in result.value.get("choices", ())]


class _Task(BaseModel):
    """A task of an export; Label Studio adds keys with every version, and what is not needed is ignored."""

    id: int
    data: _Data
    annotations: tuple[_Annotation, ...]


class ImportedLabels(NamedTuple):
    """What an export of Label Studio has.

    Attributes:
        labels: The labels, each person's last one of a thing.
        skipped: How many annotations were cancelled.
        unlabelled: How many tasks nobody has labelled.
    """

    labels: tuple[Label, ...]
    skipped: int
    unlabelled: int


def labelling_config() -> str:
    """Return the labelling interface that belongs to `tasks_of`, as Label Studio takes it."""
    return files("cxprobe.people").joinpath("label_studio.xml").read_text(encoding="utf-8")


def tasks_of(name: str, groups: Sequence[Group], desk: Desk) -> list[dict[str, Any]]:
    """Return the tasks, in the order of the groups, as Label Studio imports them from JSON.

    Args:
        name: The construction's folder.
        groups: The sequences with their sentences.
        desk: What is shown beside them.
    """
    tasks = []
    for group in groups:
        numbers = range(1, len(group.shown) + 1) if len(group.shown) > 1 else ()
        data = {
            "cxprobe": name,
            "construction": desk.construction.name,
            "positive": f"{desk.construction.gloss}\nPositive: {desk.construction.positive}",
            "tags": group.tags,
            "ids": [candidate.id for candidate in group.shown],
            "html": "".join(_html(sentence) for sentence in shown_sentences(group, desk, {})),
            "exceptions": [{"value": f"{number} {label}"} for number in numbers for label in JUDGEMENTS],
        }
        tasks.append({"data": data})
    return tasks


def _html(sentence: ShownSentence) -> str:
    """Return a sentence between its surroundings; Label Studio shows it in a frame, where only its own style counts."""
    marked = "".join(
        f"<mark>{escape(piece.text)}</mark>" if piece.form else escape(piece.text) for piece in sentence.pieces
    )
    before, after, source = (
        f'<div style="color: #767676; margin: 0.3em 0">{escape(text)}</div>' if text else ""
        for text in (sentence.before, sentence.after, sentence.source)
    )
    return (
        f'<div style="font-family: sans-serif; margin: 0.8em 0">{before}<div style="font-size: 1.2em">'
        f"<b>{sentence.number}</b> {marked}</div>{after}{source}</div>"
    )


def read_annotations(
    content: object, name: str, groups: Sequence[Group], people: Mapping[int, str], path: str
) -> ImportedLabels:
    """Return the labels of an export in Label Studio's format JSON.

    Args:
        content: The parsed file.
        name: The construction's folder.
        groups: The sequences that were mined.
        people: The number of an annotator in Label Studio -> the name in labels.tsv. A single annotator may have the
            number 0, whatever the number in Label Studio is.
        path: The file, for messages.

    Raises:
        DataError: One line for every fault: it is no such export; a task is of another construction, or of sentences
            that are not those mined here; an answer is none; an annotator has no name.
    """
    try:
        tasks = TypeAdapter(tuple[_Task, ...]).validate_python(content)
    except ValidationError as fault:
        first = fault.errors()[0]
        key = ".".join(map(str, first["loc"])) or "the top"
        raise DataError(
            one_line(
                f"{path}: {key}: {first['msg']}; expected Label Studio's export in the format JSON (not JSON-MIN or "
                "CSV) of tasks that `cxprobe label --export` has written"
            )
        ) from None
    annotations = [annotation for task in tasks for annotation in task.annotations]
    annotators = {annotation.person for annotation in annotations if not annotation.was_cancelled}
    names = {next(iter(annotators)): people[0]} if len(annotators) == 1 and 0 in people else people
    if nameless := sorted(annotators - names.keys()):
        raise DataError(
            f"{path}: annotators {', '.join(map(str, nameless))} have no name; Label Studio knows people by these "
            f"numbers: give each one, --annotator {nameless[0]}=NAME"
        )
    mined = {group.tags: {candidate.id for candidate in group.sentences} for group in groups}
    last: dict[tuple[str, str, str], tuple[datetime, Label]] = {}
    faults: list[str] = []
    for task in tasks:
        try:
            if task.data.cxprobe != name:
                raise ValueError(f"it is of the construction '{task.data.cxprobe}', not of '{name}'")
            if not set(task.data.ids) <= mined.get(task.data.tags, set()):
                raise ValueError(
                    "its sentences are not those that were mined here; import it where it was exported, or mine the "
                    "same corpus"
                )
            for created, label in _labels_of(task, names):
                if label.key not in last or last[label.key][0] <= created:
                    last[label.key] = created, label
        except ValueError as fault:
            faults.append(one_line(f"{path}, task {task.id}: {fault}"))
    if faults:
        more = [f"{path}: and {len(faults) - _MOST_FAULTS} more"] if len(faults) > _MOST_FAULTS else []
        raise DataError("\n".join(faults[:_MOST_FAULTS] + more))
    return ImportedLabels(
        labels=tuple(sorted(label for _, label in last.values())),
        skipped=sum(annotation.was_cancelled for annotation in annotations),
        unlabelled=sum(all(annotation.was_cancelled for annotation in task.annotations) for task in tasks),
    )


def _labels_of(task: _Task, names: Mapping[int, str]) -> Iterator[tuple[datetime, Label]]:
    """Yield the labels of a task with when they were given.

    Raises:
        ValueError: An answer is none.
    """
    for annotation in task.annotations:
        if annotation.was_cancelled:
            continue
        person, created = annotation.person, annotation.created_at
        chosen = annotation.chosen("label")
        if len(chosen) != 1:
            raise ValueError(f"annotator {person} has {len(chosen)} labels; one of {', '.join(JUDGEMENTS)} is needed")
        given = [("sequence", task.data.tags, chosen[0])]
        for exception in annotation.chosen("exceptions"):
            number, _, label = exception.partition(" ")
            if not (number.isdecimal() and 1 <= int(number) <= len(task.data.ids)):
                raise ValueError(
                    f"the exception '{exception}' names no sentence; expected a number from 1 to "
                    f"{len(task.data.ids)} and a label"
                )
            given.append(("sentence", task.data.ids[int(number) - 1], label))
        labels: dict[str, str] = {}
        for kind, target, label in given:
            if label not in JUDGEMENTS:
                raise ValueError(f"the label '{label}' is unknown (allowed: {', '.join(JUDGEMENTS)})")
            if target in labels:
                raise ValueError(f"annotator {person} gives one sentence two labels: {labels[target]} and {label}")
            labels[target] = label
            yield created, Label(kind, target, label, names[person], created.date().isoformat())
