"""Tables: .parquet for data, .csv for results."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from cxprobe.errors import DataError
from cxprobe.files.writing import replacing, significant, write_bytes


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as .parquet (data, exact) or .csv (results, floating-point numbers rounded by `significant`).

    Raises:
        DataError: A cell is empty, or a number is not finite.
    """
    empty = [str(column) for column in table.columns if table[column].isna().any()]
    numbers = table.select_dtypes("number")
    infinite = [str(column) for column in numbers if not np.isfinite(numbers[column]).all()]
    if empty or infinite:
        raise DataError(f"{path}: empty cells in {empty}, infinite numbers in {infinite}; nothing was written")
    if path.suffix == ".csv":
        write_bytes(_rounded(table).to_csv(index=False, lineterminator="\n").encode(), path)
    else:
        written = BytesIO()  # as it is compressed, it is much smaller than the table
        table.to_parquet(written, index=False)
        write_bytes(written.getvalue(), path)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `write_table` wrote."""
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@contextmanager
def growing_table(path: Path, schema: pa.Schema) -> Iterator[pa.parquet.ParquetWriter]:
    """Give a writer of a .parquet file that takes rows in batches, for tables that do not fit into memory."""
    with replacing(path) as partial, pa.parquet.ParquetWriter(partial, schema) as writer:
        yield writer


def join_tables(parts: Sequence[Path], path: Path, schema: pa.Schema) -> int:
    """Write the rows of several .parquet files into one, in order, and return the number of rows."""
    rows = 0
    with growing_table(path, schema) as writer:
        for part in parts:
            with pa.parquet.ParquetFile(part) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)
                    rows += len(batch)
    return rows


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose floating-point numbers are rounded, also those among other objects in a column."""
    rounded = table.copy()
    for name in rounded:
        match rounded[name].dtype.kind:
            case "f":
                rounded[name] = rounded[name].astype("float64").map(significant)
            case "O":
                cells = [significant(cell) if isinstance(cell, float) else cell for cell in rounded[name]]
                rounded[name] = pd.Series(cells, index=rounded.index, dtype=rounded[name].dtype)
    return rounded
