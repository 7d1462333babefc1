"""Tables of people's judgements, separated by tabs: in a construction's folder, and as a spreadsheet saves them."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from cxprobe.errors import ConstructionError
from cxprobe.files.reading import check_separator, one_line, read_text
from cxprobe.files.writing import SCRATCH, write_bytes

Cells = Mapping[str, str]  # column -> its cell in a line
Key = tuple[str, str, str]  # the kind, the item and the person
Judged = TypeVar("Judged", bound=Any)  # a tuple of texts that has a ``key``
_FORMULA = ("=", "+", "-", "@")


def read_judgements(path: Path, columns: Sequence[str], row_of: Callable[[Cells], Judged | None]) -> list[Judged]:
    """Read a table of judgements; its columns may stand in any order, and others beside them. Empty lines are left out.

    Args:
        path: The file.
        columns: Those that it must have.
        row_of: Makes a judgement of a line's cells, by their columns; None for a line that has none yet. It raises
            ValueError for a fault.

    Raises:
        ConstructionError: The file is no such table; or one line for each fault of a row: also a part of a judgement
            that is empty or has a character that cannot be seen, and a second one with the same key.
    """
    text = read_text(path, ConstructionError)
    check_separator(text, "\t", ConstructionError, path)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    rows: dict[Key, Judged] = {}
    faults = []
    try:
        header = next(lines, [])
        if not set(columns) <= set(header):
            raise ConstructionError(f"{path}, line 1: expected the columns {' '.join(columns)}, separated by tabs")
        for cells in lines:
            if not any(map(str.strip, cells)):
                continue
            try:
                if len(cells) != len(header):
                    raise ValueError(f"expected {len(header)} cells ({' '.join(header)}), separated by tabs")
                row = row_of({name: cell.strip() for name, cell in zip(header, cells, strict=True)})
                if row is None:
                    continue
                if not all(row):
                    raise ValueError(f"a cell of {' '.join(columns)} is empty")
                if odd := [one for one in "".join(row) if not one.isprintable()]:
                    raise ValueError(f"U+{ord(odd[0]):04X} in {[*row]} cannot be seen; write a space, or nothing")
                if row.key in rows:
                    raise ValueError(f"{' '.join(row.key)} is there twice; keep one of the lines")
                rows[row.key] = row
            except ValueError as fault:
                faults.append(one_line(f"{path}, line {lines.line_num}: {fault}"))
    except csv.Error as fault:
        raise ConstructionError(f"{path}, line {lines.line_num}: is no row of a table: {fault}") from None
    if faults:
        raise ConstructionError("\n".join(faults))
    return list(rows.values())


def write_judgements(columns: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Write a table; it appears whole or not at all."""
    table = pd.DataFrame(rows, columns=list(columns), dtype=object)
    write_bytes(table.to_csv(sep="\t", index=False, lineterminator="\n").encode(), path)


def as_text(cell: str) -> str:
    """Return a text for a spreadsheet, which would run one that begins as a formula does."""
    return f"'{cell}" if cell.lstrip("'").startswith(_FORMULA) else cell


def from_text(cell: str) -> str:
    """Return the text that `as_text` was given."""
    return cell.removeprefix("'") if cell.lstrip("'").startswith(_FORMULA) else cell


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Let one process after the other read such a table, change it and write it, all of it within the block.

    Without that, one process would write over what another one has added since the first has read the table.
    """
    from filelock import FileLock  # of the extra pipeline

    lock = SCRATCH / "locks" / path.parent.name / f"{path.name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        yield
