"""``constructions/<name>/labels.tsv``: labels of people for sequences of tags, or for single sentences."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from cxprobe.labels.tables import Cells, Key, from_text, read_judgements, write_judgements

Judgement = Literal["positive", "negative", "unclear"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
KINDS = ("sequence", "sentence")
DECIDES = " (decides)"  # what follows the name of a person who decides what others have labelled differently
LABELS_FILE = "labels.tsv"

Target = tuple[str, str]  # "sequence" and tags, or "sentence" and its id
ByPerson = Mapping[str, Judgement]  # person -> label


class PersonLabel(NamedTuple):
    """A label that a person gave; the attributes are the columns of the file.

    Attributes:
        kind: "sequence" for all sentences with these tags, "sentence" for one of them, which then counts more.
        target: The tags, joined by spaces, or the sentence's id.
        label: The label.
        who: The person.
        when: The day, as 2026-01-31.
    """

    kind: str
    target: str
    label: Judgement
    who: str
    when: str

    @property
    def key(self) -> Key:
        """What there is one label of: the kind, the target and the person."""
        return self.kind, self.target, self.who


def read_labels(path: Path) -> list[PersonLabel]:
    """Read a file of labels; if there is none, there are no labels.

    Raises:
        ConstructionError: See `read_judgements`; also for an unknown kind or label, and something that is not a day.
    """
    return read_judgements(path, PersonLabel._fields, _label_of) if path.exists() or path.is_symlink() else []


def read_label_sheet(path: Path, who: str, today: str) -> list[PersonLabel]:
    """Read the labels of a table that a person has filled in: kind, target and label, and perhaps who and when.

    Args:
        path: The file. A row without a label is left out.
        who: The person where the table names none.
        today: The day where the table names none.

    Raises:
        ConstructionError: See `read_labels`; also if the file is not there.
    """

    def row_of(cells: Cells) -> PersonLabel | None:
        if not cells["label"]:
            return None
        giver = {"who": cells.get("who") or who, "when": cells.get("when") or today}
        # Spreadsheets write capitals by themselves.
        return _label_of({**cells, **giver, "target": from_text(cells["target"]), "label": cells["label"].lower()})

    return read_judgements(path, ("kind", "target", "label"), row_of)


def _label_of(cells: Cells) -> PersonLabel:
    label = PersonLabel._make(cells[name] for name in PersonLabel._fields)
    if label.kind not in KINDS:
        raise ValueError(f"kind {label.kind!r} is unknown (allowed: {', '.join(KINDS)})")
    if label.label not in JUDGEMENTS:
        raise ValueError(f"label {label.label!r} is unknown (allowed: {', '.join(JUDGEMENTS)})")
    if date.fromisoformat(label.when).isoformat() != label.when:  # the standard has other forms, as 2026-W05-6
        raise ValueError(f"when '{label.when}' is not a day as 2026-01-31")
    return label


def write_labels(labels: Iterable[PersonLabel], path: Path) -> None:
    """Write labels, sorted, one a line, so that git merges the work of several people."""
    write_judgements(PersonLabel._fields, sorted(labels), path)


def merge_labels(known: Iterable[PersonLabel], new: Iterable[PersonLabel]) -> list[PersonLabel]:
    """Return the labels of two files, sorted; of two labels of one person the later one, or else the new.

    A label that says the same again keeps its day.
    """
    merged = {label.key: label for label in known}
    for label in new:
        before = merged.setdefault(label.key, label)
        if label.label != before.label and label.when >= before.when:
            merged[label.key] = label
    return sorted(merged.values())


def is_decision(who: str) -> bool:
    """Return whether a person in labels.tsv decides between others."""
    return who.endswith(DECIDES)


def in_force(labels: Sequence[PersonLabel]) -> dict[Target, dict[str, Judgement]]:
    """Return the valid labels: (kind, target) -> person, sorted -> label.

    Where somebody has decided about a sequence or a sentence, the decisions alone count, and no other label of it.
    """
    by_target: dict[Target, dict[str, Judgement]] = {}
    for label in sorted(labels, key=lambda label: label.who):
        by_target.setdefault((label.kind, label.target), {})[label.who] = label.label
    return {target: _decisions(by_person) or by_person for target, by_person in by_target.items()}


def judgements_on(sentence: str, tags: str, valid: Mapping[Target, ByPerson]) -> dict[str, Judgement]:
    """Return the valid labels of one sentence: person -> label.

    A decision about the sentence counts alone. Else each person's label of the sentence replaces the label that this
    person gave to its sequence, and all of these count.

    Args:
        sentence: Its id.
        tags: Its sequence of tags.
        valid: The labels that count, of `in_force`.
    """
    of_sequence, of_sentence = valid.get(("sequence", tags), {}), valid.get(("sentence", sentence), {})
    return dict(of_sentence) if _decisions(of_sentence) else {**of_sequence, **of_sentence}


def _decisions(by_person: ByPerson) -> dict[str, Judgement]:
    return {who: label for who, label in by_person.items() if is_decision(who)}
