"""Writing tables of results to .tsv, .csv, .jsonl and .parquet, or to standard output."""

import sys
from pathlib import Path

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.storage import replacing
from cxprobe.texts.reading import STANDARD

TABLES = ("tsv", "csv", "jsonl", "parquet")


def write_results(table: pd.DataFrame, path: str, given: str | None = None) -> None:
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
            f"{path}: a table cannot be written as '{kind}'; give --output-format with one of {', '.join(TABLES)}, or "
            "a name that ends so"
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
