"""Tables of texts in .txt, .tsv, .csv, .jsonl and .parquet; what is written is read back equal.

A .tsv has no quoting, so that a quotation mark is a character like others; a cell with a tab or a line break is refused
when it is written, and a table whose quotation marks are those of a spreadsheet when its texts are used. In a .csv
texts stand between double quotes. An empty line is no row. The index of a table says the line of each row.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import check_separator, decode, kind_of, read_text, shown
from cxprobe.files.schema import suggest
from cxprobe.files.writing import write_bytes

FORMATS = ("txt", "tsv", "csv", "jsonl", "parquet")
TABLES = FORMATS[1:]
_WITH_HEADER = ("tsv", "csv")
STANDARD = "-"
"""The name that stands for standard input or output."""


def read_sentence_file(path: str, column: str | None = None) -> pd.DataFrame:
    """Return the sentences of a file.

    Args:
        path: As for `read_texts`. A .txt has one sentence a line; empty lines are left out.
        column: The column with the sentences; None for the only one that is called text or sentence.

    Returns:
        The columns of the file, and the sentences as the column ``text``.

    Raises:
        DataError: The file cannot be read, has no such column or no sentence, or a sentence is empty; with its row.
    """
    table = read_texts(path)
    names = [column] if column else [name for name in ("text", "sentence") if name in table]
    if len(names) != 1:
        raise DataError(f"{path}: the columns are {', '.join(table.columns)}; give --column with that of the sentences")
    require_texts(table, names, path)
    return table.rename(columns={"text": "text_before"} | {names[0]: "text"}).reset_index(drop=True)


def read_pair_table(path: str | Path) -> pd.DataFrame:
    """Return the minimal pairs of a file: its columns, of which good and bad may be called as in BLiMP.

    Raises:
        DataError: See `read_texts`; or a text, an id, an item or a cluster is empty, with its line.
    """
    table = read_texts(path)
    if "good" not in table:
        table = table.rename(columns={"sentence_good": "good", "sentence_bad": "bad"})
    named = [name for name in map(str, table) if name in ("id", "item") or name.startswith("cluster_")]
    require_texts(table, ["good", "bad", *named], path)
    return table.reset_index(drop=True)


def read_texts(path: str | Path, required: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table of texts: every cell is a string, and stays as it is in the file; only a .parquet has others.

    Args:
        path: The file, whose name ends in one of `FORMATS`, compressed (.gz) or not; or "-" for standard input, which
            is read as a .txt.
        required: Columns that must be there and have no empty cell.

    Raises:
        DataError: There is no such format; the file cannot be read, is empty, or lacks a column; a row has more or
            fewer cells than the header; a column, or a key of JSON, is there twice; a cell of a required column is
            empty.
    """
    kind = "txt" if path == STANDARD else kind_of(path)
    if kind not in FORMATS:
        raise DataError(f"{path}: '{kind}' is no format of texts (.{', .'.join(FORMATS)}); save a table as CSV UTF-8")
    try:
        table = _parsed(kind, path)
    except (ValueError, OSError, RecursionError, csv.Error) as fault:  # pyarrow's errors are ValueErrors
        reason = " ".join(str(fault).split()) or type(fault).__name__
        raise DataError(f"{path}: cannot be read as {kind}: {reason}") from fault
    if twice := table.columns[table.columns.duplicated()].tolist():
        raise DataError(f"{path}: the column {shown(twice[0])} is there twice; keep one, or rename the other")
    if table.empty:
        raise DataError(f"{path}: there is no text in this {kind} file; in a table they stand below its header")
    require_texts(table, required, path)
    return table


def require_columns(table: pd.DataFrame, columns: Iterable[str], path: str | Path) -> None:
    """Refuse a table that lacks a column; the message begins with ``path``, the file or what else the table is."""
    for column in columns:
        if column not in table:
            raise DataError(f"{path}: there is no column '{column}'{suggest(column, table.columns)}")


def require_texts(table: pd.DataFrame, columns: Sequence[str], path: str | Path) -> None:
    """Refuse a table that lacks a column, or has a cell in one that is no text or is empty.

    Raises:
        DataError: With the line, or the row, from 1, of what is no file of lines. Or a .tsv has quotation marks as
            spreadsheets write them: around whole cells, doubled inside.
    """
    kind = kind_of(path)
    first, what = 1 + (kind in _WITH_HEADER), "line" if kind in (*_WITH_HEADER, "jsonl", "txt") else "row"
    for column in columns:
        require_columns(table, [column], path)
        for row, text in zip(table.index.tolist(), table[column], strict=True):
            if not isinstance(text, str) or not text.strip():
                place = f"{path}, {what} {row + first}"
                raise DataError(f"{place}: {column} is {text!r}; it must be a text that is not empty")
    if kind == "tsv" and len(columns):
        marked = [cell for cell in table.to_numpy().flat if '"' in cell]
        if marked and all(re.fullmatch(r'"(?:[^"]|"")*"', cell) for cell in marked):
            what = f"{path}: {shown(marked[0])} and others stand in double quotes, as spreadsheets write them"
            raise DataError(f"{what}; in a .tsv these are part of the texts, so save it as a .csv")


def _parsed(kind: str, path: str | Path) -> pd.DataFrame:
    if kind == "parquet":
        return pd.read_parquet(path)
    is_given = path == STANDARD
    text = decode(sys.stdin.buffer.read(), path, DataError) if is_given else read_text(Path(path), DataError)
    if kind == "txt":
        of_text = {number: line for number, line in enumerate(re.split(r"\r\n|\r|\n", text)) if line.strip()}
        return pd.DataFrame({"text": of_text}, dtype="str")
    if kind == "jsonl":
        lines = {number: line for number, line in enumerate(text.split("\n")) if line.strip()}
        objects = [_object(line, number + 1) for number, line in lines.items()]
        return pd.DataFrame(objects, [*lines], dtype="str").fillna("")
    check_separator(text, "\t" if kind == "tsv" else ",", DataError, path)
    content = io.StringIO(text, newline="")
    how: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if kind == "tsv" else {"strict": True}
    reader = csv.reader(content, **how)
    header = next(reader, [])
    rows: dict[int, list[str]] = {}
    last = reader.line_num
    for cells in reader:
        begins, last = last + 1, reader.line_num
        if cells and len(cells) != len(header):
            what = f"line {reader.line_num} has {len(cells)} cells, and the header has {len(header)}"
            raise ValueError(f"{what}; in a .csv a cell such as 3,5 needs double quotes around it")
        if cells:
            rows[begins - 2] = cells
    return pd.DataFrame([*rows.values()], [*rows], columns=header, dtype="str")


def _object(line: str, number: int) -> dict[str, str]:
    """Return an object of JSON with all its values as texts: numbers as they are written, null as an empty one."""
    try:
        row = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
    except ValueError as fault:
        raise ValueError(f"line {number}: {fault}") from fault
    if not isinstance(row, dict) or any(isinstance(value, dict | list) for value in row.values()):
        raise ValueError(f"line {number}: expected an object of texts, numbers, true, false and null")
    plain = {None: "", True: "true", False: "false"}
    return {name: value if isinstance(value, str) else plain[value] for name, value in row.items()}


def write_table_as(table: pd.DataFrame, path: str) -> None:
    """Write a table; a file is there as a whole or not at all.

    Args:
        table: The table.
        path: The file, or "-" for standard output, where the table is tab-separated.

    Raises:
        DataError: The format of the name is not one of `TABLES`, the file cannot be written, or a cell cannot stand in
            the format.
        DiskFullError: The disk is full.
    """
    kind = refuse_unwritable(path, table)
    if path == STANDARD:
        sys.stdout.write(_text(table, kind))
        return
    try:
        write_bytes(table.to_parquet(index=False) if kind == "parquet" else _text(table, kind).encode(), Path(path))
    except OSError as fault:
        raise DataError(f"{path}: cannot be written: {fault.strerror or fault}") from fault


def refuse_unwritable(path: str, table: pd.DataFrame | None = None) -> str:
    """Return the format in which a table is written, before anything is computed.

    Args:
        path: As for `write_table_as`.
        table: What is known of the table already.

    Raises:
        DataError: A table cannot be written in this format, the folder does not exist, or a cell of a .tsv would not be
            read back as it is.
    """
    kind = "tsv" if path == STANDARD else Path(path).suffix.removeprefix(".")
    if kind not in TABLES:
        raise DataError(f"{path}: a table cannot be written as '{kind}'; name it .{', .'.join(TABLES)}")
    if path != STANDARD and not Path(path).absolute().parent.is_dir():
        raise DataError(f"{path}: the folder does not exist; create it first")
    for name, cells in table.items() if table is not None and kind == "tsv" else ():
        if odd := [cell for cell in (name, *cells) if re.search(r"[\0\t\r\n]", str(cell))]:
            raise DataError(
                f"{path}: a cell of {shown(name)} is {shown(odd[0])}; a .tsv has no tab or line break in a cell; "
                "write a .csv or a .jsonl"
            )
    return kind


def _text(table: pd.DataFrame, kind: str) -> str:
    if kind == "jsonl":
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if kind == "csv":
        return table.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return table.to_csv(sep="\t", index=False, quoting=csv.QUOTE_NONE, lineterminator="\n")
