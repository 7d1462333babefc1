"""Reading sentences and pairs from .txt, .tsv, .csv, .jsonl and .parquet, or from standard input."""

import io
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import decode, read_text
from cxprobe.files.rows import LINE_END, parse_rows
from cxprobe.files.schema import suggest
from cxprobe.files.writing import replacing

FORMATS = ("txt", "tsv", "csv", "jsonl", "parquet")
STANDARD = "-"
"""The name that stands for standard input or output."""
_NAMES = ("text", "sentence")


def read_sentence_file(path: str, given: str | None = None, column: str | None = None) -> pd.DataFrame:
    """Return the sentences of a file.

    Args:
        path: The file, or "-" for standard input. A .txt has one sentence a line; empty lines are left out.
        given: The format, one of `FORMATS`; None to tell it by the ending of the name.
        column: The column with the sentences; None for the only one that is called text or sentence.

    Returns:
        The columns of the file, and the sentences as the column ``text``.

    Raises:
        DataError: The file cannot be read, has no such column or no sentence, or a sentence is empty; with its row.
    """
    table = read_texts(path, given, [] if column is None else [column])
    if column is None:
        usual = [name for name in _NAMES if name in table]
        if len(usual) != 1:
            raise DataError(
                f"{path}: the columns are {', '.join(table.columns)}; give --column with the one that has the sentences"
            )
        column = usual[0]
    _require(path, table, [column])
    return table if column == "text" else table.rename(columns={"text": "text_before", column: "text"})


def read_texts(path: str, given: str | None = None, required: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table of texts: every cell is a string, and stays as it is in the file.

    Args:
        path: The file, or "-" for standard input.
        given: The format, one of `FORMATS`; None to tell it by the ending of the name.
        required: Columns that must be there and have no empty cell.

    Raises:
        DataError: There is no such format; the file cannot be read, is empty, or lacks a column; a line has more or
            fewer cells than the header; a cell of a required column is empty.
    """
    kind = given or ("txt" if path == STANDARD else Path(path).suffix.removeprefix("."))
    if kind not in FORMATS:
        raise DataError(f"{path}: the format is '{kind}'; give --format with one of {', '.join(FORMATS)}")
    try:
        table = _parsed(kind, path, (*_NAMES, *required))
    except (ValueError, OSError) as fault:  # pandas and pyarrow derive theirs from ValueError
        reason = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
        raise DataError(f"{path}: cannot be read as {kind}: {reason}") from fault
    if table.empty:
        below = " line below the header, which names the columns" if kind in ("tsv", "csv") else ""
        raise DataError(f"{path}: there is no text in this {kind} file; write at least one{below}")
    _require(path, table, required)
    return table


def _parsed(kind: str, path: str, texts: Collection[str]) -> pd.DataFrame:
    given = io.BytesIO(sys.stdin.buffer.read()) if path == STANDARD else None
    if kind == "parquet":
        return pd.DataFrame(pd.read_parquet(given or path))
    text = decode(given.getvalue(), Path(path), DataError) if given else read_text(Path(path), DataError)
    if kind == "txt":
        lines = re.split(LINE_END, text)
        return pd.DataFrame({"text": [line for line in lines if line.strip()]}, dtype="object")
    return pd.DataFrame([row for _, row in parse_rows(text, kind, path, texts=texts)], dtype="object")


def _require(path: str, table: pd.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in table:
            raise DataError(f"{path}: there is no column '{column}'{suggest(column, list(map(str, table.columns)))}")
        for row, text in enumerate(table[column], start=1):
            if not isinstance(text, str) or not text.strip():
                raise DataError(f"{path}, row {row}: {column} is {text!r}; it must be a text that is not empty")


TABLES = ("tsv", "csv", "jsonl", "parquet")


def write_table_as(table: pd.DataFrame, path: str, given: str | None = None) -> None:
    """Write a table; a file is there as a whole or not at all.

    Args:
        table: The table.
        path: The file, or "-" for standard output, where the table is tab-separated unless ``given`` says otherwise.
        given: The format: tsv, csv, jsonl or parquet; None to tell it by the ending of the name.

    Raises:
        DataError: The format is none of these, or the file cannot be written.
        DiskFullError: The disk is full.
    """
    kind = refuse_unwritable(path, given)
    if path == STANDARD:
        sys.stdout.write(_text(table, kind))
        return
    try:
        with replacing(Path(path)) as partial:
            if kind == "parquet":
                table.to_parquet(partial, index=False)
            else:
                partial.write_text(_text(table, kind), encoding="utf-8")
    except OSError as fault:
        raise DataError(f"{path}: cannot be written: {fault.strerror or fault}") from fault


def refuse_unwritable(path: str, given: str | None) -> str:
    """Return the format in which a table is written, before anything is computed.

    Raises:
        DataError: A table cannot be written in this format, or the folder does not exist.
    """
    kind = given or ("tsv" if path == STANDARD else Path(path).suffix.removeprefix("."))
    if kind not in TABLES:
        raise DataError(
            f"{path}: a table cannot be written as '{kind}'; give --output-format with one of {', '.join(TABLES)}"
        )
    if kind == "parquet" and path == STANDARD:
        raise DataError(f"{path}: parquet cannot be written to standard output; name a file with --output")
    if path != STANDARD and not Path(path).absolute().parent.is_dir():
        raise DataError(f"{path}: the folder does not exist; create it first")
    return kind


def _text(table: pd.DataFrame, kind: str) -> str:
    if kind == "jsonl":
        text = table.to_json(orient="records", lines=True, force_ascii=False)
    else:
        text = table.to_csv(index=False, sep="\t" if kind == "tsv" else ",", lineterminator="\n")
    return text if text.endswith("\n") else text + "\n"
