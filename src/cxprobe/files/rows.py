"""Rows of .tsv, .csv and .jsonl files, compressed (.gz) or not, as texts.

A .tsv has no quoting. What could mean two things is refused with its line, and never read as one of them: a column or a
key that is there twice, a text that is no string, an empty cell where there must be something.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from cxprobe.errors import DataError
from cxprobe.files.letters import odd_characters
from cxprobe.files.reading import read_text, shown

_LONGEST = 131_072  # characters of a cell: csv's own limit, which a quote that is left open soon passes
LINE_END = r"\r\n|\r|\n"
_LINE = re.compile(rf"[^\r\n]*(?:{LINE_END})|[^\r\n]+")
_REMEDY = {
    "tsv": "put one tab between two cells, and none inside a text",
    "csv": "put texts with commas between double quotes, or use .tsv",
}
_UNSOUND = re.compile("[\0\ud800-\udfff]")


def read_rows(
    path: Path, required: Collection[str], texts: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a file, each with the line that it ends on, from 1.

    Args:
        path: The file.
        required: Columns that every row has, with something in each of them.
        texts: Columns that must be strings in JSON. Other required ones may be whole numbers, and all others anything.

    Raises:
        DataError: It is no file of these formats, or not such rows; with its line.
    """
    kind = path.with_name(path.name.removesuffix(".gz")).suffix
    if kind.removeprefix(".") not in (*_REMEDY, "jsonl"):
        raise DataError(f"{path}: '{kind}' is not a format of rows (allowed: .tsv, .csv, .jsonl, each also .gz)")
    for line, row in parse_rows(read_text(path, DataError), kind.removeprefix("."), path, required, texts):
        check_filled(row, required, f"{path}, line {line}")
        yield line, row


def parse_rows(
    text: str, kind: str, path: str | Path, required: Collection[str] = (), texts: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a text that was read, as `read_rows` does; cells of required columns may be empty.

    Args:
        text: All of the file.
        kind: "tsv", "csv" or "jsonl".
        path: Where it comes from, for messages.
        required: Columns that every row has.
        texts: Columns that must be strings in JSON.
    """
    return _objects(text, path, required, texts) if kind == "jsonl" else _cells(text, kind, path, required)


def check_filled(row: Mapping[str, str], columns: Iterable[str], place: str) -> None:
    """Refuse a row with nothing in some columns.

    Raises:
        DataError: One of them is empty.
    """
    if empty := [column for column in columns if not row[column].strip()]:
        raise DataError(f"{place}: {', '.join(empty)} is empty; give it a value, or take the row out")


def _objects(
    text: str, path: str | Path, required: Collection[str], texts: Collection[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=_without_repetition, parse_float=_Written, parse_constant=_Written)
        except RecursionError as fault:
            raise DataError(f"{place}: is nested too deeply; write a flat object a line") from fault
        except ValueError as fault:  # JSONDecodeError, a number with too many digits, a key twice
            what = str(fault).partition("; use sys.")[0]  # not how to allow longer numbers
            raise DataError(f"{place}: not valid JSON: {what}") from fault
        if not isinstance(row, dict):
            raise DataError(f"{place}: expected a JSON object, found {type(row).__name__}")
        _check_columns(row, required, place)
        yield number, {_sound(name, name, place): _as_text(row[name], name, required, texts, place) for name in row}


def _without_repetition(members: list[tuple[str, object]]) -> dict[str, object]:
    if twice := _repeated([name for name, _ in members]):
        raise ValueError(f"the key {shown(twice)} is there twice; keep one")
    return dict(members)


def _repeated(names: Iterable[str]) -> str | None:
    """Return a name that is there twice, or None."""
    return next((name for name, times in Counter(list(names)).items() if times > 1), None)


class _Written(float):
    """A number of JSON that knows how it is written, since 1.10 may be the name of a version."""

    text: str

    def __new__(cls, text: str) -> "_Written":
        """Return a number; Python also reads NaN and Infinity, and makes infinity of what is too large."""
        number = super().__new__(cls, text)
        if not math.isfinite(number):
            raise ValueError(f"{shown(text)} is not a number of JSON that is finite; write one, or null")
        number.text = text
        return number


def _as_text(value: object, name: str, required: Collection[str], texts: Collection[str], place: str) -> str:
    """Return a value of JSON as text; null is empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _sound(value, name, place)
    is_name = isinstance(value, int) and not isinstance(value, bool)
    if name in texts or (name in required and not is_name):
        wanted = "a string" if name in texts else "a string or a whole number"
        raise DataError(f"{place}: {name} is {shown(value)}; write {wanted}")
    return _sound(value.text if isinstance(value, _Written) else json.dumps(value), name, place)


def _sound(text: str, name: str, place: str) -> str:
    """Return a text as it is, if it can be written as UTF-8, is not absurdly long, and has no NUL."""
    if len(text) > _LONGEST:
        raise DataError(f"{place}: {shown(name)} has {len(text):,} characters; at most {_LONGEST:,} are allowed")
    if unsound := _UNSOUND.search(text):
        what = "a NUL" if unsound[0] == "\0" else "half a surrogate pair"
        raise DataError(f"{place}: {shown(name)} is {shown(text)}, which has {what}; write text that is valid UTF-8")
    return text


def _cells(text: str, kind: str, path: str | Path, required: Collection[str]) -> Iterator[tuple[int, dict[str, str]]]:
    lines = (line[0] for line in _LINE.finditer(text))  # io.StringIO takes four bytes a character
    is_quoted = kind == "csv"
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE
    table = csv.reader(lines, delimiter="," if is_quoted else "\t", quoting=quoting, strict=True)
    header: list[str] | None = None
    try:
        for cells in table:
            place = f"{path}, line {table.line_num}"
            if header is None:
                header = cells
                _check_columns(header, required, place)
            elif len(cells) > 1 or "".join(cells).strip():
                if len(cells) != len(header):
                    expected = f"expected {len(header)} cells ({', '.join(header)}), found {len(cells)}"
                    raise DataError(f"{place}: {expected}; {_REMEDY[kind]}")
                yield table.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as fault:
        what = f"{fault}; is a quote left open, or an end of line missing? Else {_REMEDY[kind]}"
        raise DataError(f"{path}, line {table.line_num}: {what}") from fault


def _check_columns(names: Collection[str], required: Collection[str], place: str) -> None:
    if twice := _repeated(names):
        raise DataError(f"{place}: the column {shown(twice)} is there twice; keep one, or rename the other")
    if odd := [what for name in names for _, what in odd_characters(name, latin=False)]:
        raise DataError(f"{place}: in the name of a column, {odd[0]}")
    if lacking := [name for name in required if name not in names]:
        raise DataError(f"{place}: {', '.join(lacking)} is missing; the columns there are {', '.join(names)}")
