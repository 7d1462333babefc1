"""Tables: .parquet for data, .csv for results."""

import hashlib
import warnings
from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa

from cxprobe.errors import DataError
from cxprobe.files.writing import significant, write_bytes

_DIGEST = hashlib.sha256().digest_size


def write_table(
    table: pd.DataFrame,
    path: Path,
    types: Mapping[str, pa.DataType] = MappingProxyType({}),
    optional: Collection[str] = (),
) -> None:
    """Write a table as .parquet (data, exact) or .csv (results, floating-point numbers rounded by `significant`).

    Args:
        table: The table.
        path: The file.
        types: Column -> its type in .parquet, where its cells, such as empty lists, do not tell.
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
        schema = pa.Schema.from_pandas(table, preserve_index=False)
        for name, of_cells in types.items():
            schema = schema.set(schema.get_field_index(name), pa.field(name, of_cells))
        table.to_parquet(written, index=False, schema=schema, write_page_checksum=True)
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
        raise DataError(
            f"{path} is damaged ({reason}); docs/howto/team.md says how to find what else is, and how to mend it"
        ) from fault


def read_made_table(path: Path) -> pd.DataFrame:
    """Read a table of the project's data.

    Raises:
        DataError: It is missing.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing; run `dvc repro`, or `dvc pull`, in the project's folder, and try again")
    return read_table(path)


def keep_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table below data/.scratch that a later run goes on from, with its digest before it."""
    content = BytesIO()
    table.to_parquet(content, index=False)
    write_bytes(hashlib.sha256(content.getbuffer()).digest() + content.getvalue(), path)


def kept_table(path: Path) -> pd.DataFrame | None:
    """Return a table that `keep_table` wrote, or None if there is none, or it is damaged, of which a warning tells."""
    if not path.is_file():
        return None
    content = path.read_bytes()
    if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        warnings.warn(f"{path} is damaged; what it kept is computed again", stacklevel=2)
        return None
    return pd.read_parquet(BytesIO(content[_DIGEST:]))
