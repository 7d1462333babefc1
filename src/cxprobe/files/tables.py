"""Tables: .parquet for data, .csv for results."""

import warnings
from collections.abc import Collection
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.writing import damaged, significant, write_bytes


def write_table(table: pd.DataFrame, path: Path, optional: Collection[str] = ()) -> None:
    """Write a table as .parquet (data, exact) or .csv (results, floating-point numbers rounded by `significant`).

    Args:
        table: The table.
        path: The file.
        optional: Columns that may have empty cells in .parquet.

    Raises:
        DataError: A cell is empty, or a number is not finite.
    """
    allowed = [] if path.suffix == ".csv" else [*optional]
    empty = table.isna().any() & ~table.columns.isin(allowed)
    infinite = table.select_dtypes("number").abs().eq(np.inf).any()
    if empty.any() or infinite.any():
        columns = f"empty cells in {[*table.columns[empty]]}, infinite numbers in {[*infinite.index[infinite]]}"
        raise DataError(f"{path}: {columns}; nothing was written")
    if path.suffix == ".csv":
        rounded = table.map(lambda cell: significant(float(cell)) if isinstance(cell, float | np.floating) else cell)
        write_bytes(rounded.to_csv(index=False, lineterminator="\n").encode(), path)
    else:
        written = BytesIO()  # as it is compressed, it is much smaller than the table
        table.to_parquet(written, index=False, write_page_checksum=True)
        write_bytes(written.getvalue(), path)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `write_table` wrote.

    Raises:
        DataError: The file is damaged: a checksum of .parquet is wrong, or no table can be read from it. A bit that
            has changed in the description of the columns, or in .csv, can pass.
    """
    try:
        if path.suffix == ".csv":
            return pd.read_csv(path, keep_default_na=False, na_values=[""])  # "NA" and "null" are words
        return pd.read_parquet(path, page_checksum_verification=True)
    except (FileNotFoundError, PermissionError, MemoryError):
        raise
    except Exception as fault:  # Arrow and pandas have many kinds for a damaged file
        reason = (str(fault).splitlines() or [type(fault).__name__])[0]
        raise damaged(path, reason) from fault


def read_made_table(path: Path) -> pd.DataFrame:
    """Read a table of the project's data.

    Raises:
        DataError: It is missing.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing; run `dvc repro`, or `dvc pull`, in the project's folder, and try again")
    return read_table(path)


def kept_table(path: Path) -> pd.DataFrame | None:
    """Return a table from which a run goes on; None if there is none, or a damaged one, of which a warning tells."""
    if not path.is_file():
        return None
    try:
        return read_table(path)
    except DataError as fault:
        warnings.warn(f"{fault}; what it kept is computed again", stacklevel=2)
        return None
