"""``constructions/<name>/labels.tsv``: who gave which label to a sequence of tags, or to a single sentence, and when.

One line for each thing and person, sorted, so that the work of two people merges in git line by line.
"""

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from cxprobe.errors import ConstructionError
from cxprobe.files.reading import one_line, read_text
from cxprobe.files.writing import replacing

Judgement = Literal["positive", "negative", "unclear"]
JUDGEMENTS: tuple[Judgement, ...] = get_args(Judgement)
COLUMNS = ("kind", "target", "label", "who", "when")
KINDS = ("sequence", "sentence")
LONGEST = 10_000  # characters of a cell; the tags of the longest sentences have some 1,000


class Label(NamedTuple):
    """A judgement.

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


def read_labels(path: Path) -> list[Label]:
    """Read a file of labels; if there is none, there are no labels.

    Raises:
        ConstructionError: The path exists but is not a file, or the file is not UTF-8 text; or one line for every
            fault: a conflict that git left, a line without its five columns, an unknown kind or label, something that
            is not a day, or two labels of one person for one thing.
    """
    if not (path.exists() or path.is_symlink()):
        return []
    rows = [line.removesuffix("\r").split("\t") for line in read_text(path, ConstructionError).split("\n")]
    if rows[-1] == [""]:  # after the end of the last line
        rows.pop()
    if not rows or tuple(rows[0]) != COLUMNS:
        raise ConstructionError(f"{path}, line 1: expected the columns {' '.join(COLUMNS)}, separated by tabs")
    labels: dict[tuple[str, str, str], Label] = {}
    faults: list[str] = []
    for number, row in enumerate(rows[1:], start=2):
        fault = _fault(row)
        if fault is None:
            label = Label(*row)  # type: ignore[arg-type]  # `_fault` has checked it
            if _key(label) in labels:
                fault = f"{label.who} has labelled '{label.target}' twice; keep one of the lines"
            labels[_key(label)] = label
        if fault is not None:
            faults.append(one_line(f"{path}, line {number}: {fault}"))
    if faults:
        raise ConstructionError("\n".join(faults))
    return list(labels.values())


def write_labels(labels: Iterable[Label], path: Path) -> None:
    """Write labels, sorted, one a line."""
    lines = ["\t".join(row) for row in (COLUMNS, *sorted(labels))]
    with replacing(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


def with_label(labels: Iterable[Label], label: Label) -> list[Label]:
    """Return the labels with one more, in place of what the same person said of the same thing before."""
    return [*(one for one in labels if _key(one) != _key(label)), label]


def without_label(labels: Iterable[Label], label: Label) -> list[Label]:
    """Return the labels without one of them."""
    return [one for one in labels if one != label]


def _key(label: Label) -> tuple[str, str, str]:
    return label.kind, label.target, label.who


def _fault(row: list[str]) -> str | None:
    if row and row[0].startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return "a conflict that git left here; keep the lines of both sides and delete its marks"
    if len(row) != len(COLUMNS) or not all(cell.strip() for cell in row):
        return f"expected {len(COLUMNS)} columns ({' '.join(COLUMNS)}), separated by tabs, none empty, found {row}"
    if (longest := max(map(len, row))) > LONGEST:
        return f"a cell of {longest} characters; at most {LONGEST} are allowed; is the end of a line missing?"
    kind, _, label, _, when = row
    if kind not in KINDS:
        return f"kind '{kind}' is unknown (allowed: {', '.join(KINDS)})"
    if label not in JUDGEMENTS:
        return f"label '{label}' is unknown (allowed: {', '.join(JUDGEMENTS)})"
    return None if _is_day(when) else f"when '{when}' is not a day; write it as 2026-01-31"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text  # the standard has other forms, as 2026-W05-6
    except ValueError:
        return False
