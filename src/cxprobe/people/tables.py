"""The files of people's judgements: one line for each, sorted, so that git merges the work of several people."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from cxprobe.errors import ConstructionError
from cxprobe.files.reading import one_line, read_text
from cxprobe.files.writing import SCRATCH, write_bytes

_Row = TypeVar("_Row", bound=NamedTuple)
_LONGEST = 10_000  # characters of a cell; the tags of the longest sentences have some 1,000
_CONFLICT_MARKS = ("<<<<<<<", "=======", ">>>>>>>")


def read_judgements(path: Path, row_type: type[_Row], fault_of: Callable[[_Row], str | None]) -> list[_Row]:
    """Read a table that is separated by tabs; if there is no file, there are no rows.

    Args:
        path: The file.
        row_type: What a row is; its fields are the columns. No cell may be empty.
        fault_of: Says what is wrong with a row, or None; it is called for each row in turn.

    Raises:
        ConstructionError: The path exists but is not a file, or the file is not UTF-8 text; or one line for each fault
            of a row.
    """
    if not (path.exists() or path.is_symlink()):
        return []
    columns = row_type._fields
    text = read_text(path, ConstructionError).removesuffix("\n")
    lines = [line.removesuffix("\r").split("\t") for line in text.split("\n")]
    if tuple(lines[0]) != columns:
        raise ConstructionError(f"{path}, line 1: expected the columns {' '.join(columns)}, separated by tabs")
    rows, faults = [], []
    for number, cells in enumerate(lines[1:], start=2):
        if cells[0].startswith(_CONFLICT_MARKS):
            fault: str | None = "a conflict that git left here; keep the lines of both sides and delete its marks"
        elif len(cells) != len(columns) or not all(cell.strip() for cell in cells):
            fault = (
                f"expected {len(columns)} columns ({' '.join(columns)}), separated by tabs, none empty, and not {cells}"
            )
        elif (length := max(map(len, cells))) > _LONGEST:
            fault = f"a cell of {length} characters; at most {_LONGEST} are allowed; is the end of a line missing?"
        else:
            rows.append(row_type._make(cells))
            fault = fault_of(rows[-1])
        if fault:
            faults.append(one_line(f"{path}, line {number}: {fault}"))
    if faults:
        raise ConstructionError("\n".join(faults))
    return rows


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


def write_judgements(rows: Iterable[tuple[str, ...]], columns: Sequence[str], path: Path) -> None:
    """Write a table that is separated by tabs, its rows sorted; it appears whole or not at all."""
    lines = ["\t".join(row) for row in (tuple(columns), *sorted(rows))]
    write_bytes(("\n".join(lines) + "\n").encode(), path)
