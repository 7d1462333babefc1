"""``constructions/<name>/labels.tsv``: who gave which label to a sequence of tags, or to one sentence, and when."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from cxprobe.people.tables import read_judgements, write_judgements

if TYPE_CHECKING:
    import pandas as pd

Judgement = Literal["positive", "negative", "unclear"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
KINDS = ("sequence", "sentence")
DECIDES = " (decides)"  # what follows the name of a person who decides what others have labelled differently
LABELS_FILE = "labels.tsv"

Target = tuple[str, str]  # "sequence" and tags, or "sentence" and its id
Said = Mapping[str, Judgement]  # who -> the label that this person gave


class PersonLabel(NamedTuple):
    """A label that a person gave; the attributes are the columns of the file.

    Attributes:
        kind: "sequence" for all sentences with these tags, "sentence" for one of them, which then counts more.
        target: The tags, joined by spaces, or the sentence's id.
        label: What it is.
        who: Who said so.
        when: The day, as 2026-01-31.
    """

    kind: str
    target: str
    label: Judgement
    who: str
    when: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one label of: the kind, the target and the person."""
        return self.kind, self.target, self.who


def read_labels(path: Path) -> list[PersonLabel]:
    """Read a file of labels; if there is none, there are no labels.

    Raises:
        ConstructionError: See `read_judgements`; also for an unknown kind or label, something that is not a day,
            and two labels of one person for one thing.
    """
    known = set()

    def fault_of(label: PersonLabel) -> str | None:
        if label.kind not in KINDS:
            return f"kind '{label.kind}' is unknown (allowed: {', '.join(KINDS)})"
        if label.label not in JUDGEMENTS:
            return f"label '{label.label}' is unknown (allowed: {', '.join(JUDGEMENTS)})"
        if not _is_day(label.when):
            return f"when '{label.when}' is not a day; write it as 2026-01-31"
        if label.key in known:
            return f"{label.who} has labelled '{label.target}' twice; keep one of the lines"
        known.add(label.key)
        return None

    return read_judgements(path, PersonLabel, fault_of)


def write_labels(labels: Iterable[PersonLabel], path: Path) -> None:
    """Write labels, sorted, one a line."""
    write_judgements(labels, PersonLabel._fields, path)


def with_label(labels: Iterable[PersonLabel], new: PersonLabel) -> list[PersonLabel]:
    """Return the labels with one more, which replaces what the same person said of the same thing before."""
    return [*(label for label in labels if label.key != new.key), new]


def is_decision(who: str) -> bool:
    """Return whether a name in labels.tsv is that of a person who decides between others."""
    return who.endswith(DECIDES)


def in_force(labels: Sequence[PersonLabel]) -> dict[Target, dict[str, Judgement]]:
    """Return the labels that count: (kind, target) -> who, sorted -> label.

    Where somebody has decided about a sequence or a sentence, the decisions alone count, and no other label of it.
    """
    judged: dict[Target, dict[str, Judgement]] = {}
    for label in sorted(labels, key=lambda label: label.who):
        judged.setdefault((label.kind, label.target), {})[label.who] = label.label
    return {target: _decisions(said) or said for target, said in judged.items()}


def judgements_on(sentence: str, tags: str, judged: Mapping[Target, Said]) -> dict[str, Judgement]:
    """Return what counts for one sentence: who -> label.

    A decision about the sentence counts alone. Else each person's label of the sentence replaces the label that this
    person gave to its sequence, and all of these count.

    Args:
        sentence: Its id.
        tags: Its sequence of tags.
        judged: The labels that count, of `in_force`.
    """
    of_sequence, of_sentence = judged.get(("sequence", tags), {}), judged.get(("sentence", sentence), {})
    return dict(of_sentence) if _decisions(of_sentence) else {**of_sequence, **of_sentence}


def without_negatives(sentences: "pd.DataFrame", labels: Sequence[PersonLabel]) -> "pd.DataFrame":
    """Return mined sentences (columns id and tags) without those that anybody whose label counts calls negative."""
    judged = in_force(labels)
    said = [judgements_on(id_, tags, judged).values() for id_, tags in sentences[["id", "tags"]].to_numpy()]
    return sentences[["negative" not in judgements for judgements in said]]


def _decisions(said: Said) -> dict[str, Judgement]:
    return {who: label for who, label in said.items() if is_decision(who)}


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text  # the standard has other forms, as 2026-W05-6
    except ValueError:
        return False
