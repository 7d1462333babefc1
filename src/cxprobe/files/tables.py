"""Tables, .parquet for data and .csv for results; and vectors of sentences.

A model's vectors are memory-mapped arrays, counts are sparse matrices.
"""

import warnings
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.files.writing import damaged, replacing, significant, write_bytes

if TYPE_CHECKING:  # scipy is slow to import, and `cxprobe check` does without it
    from scipy.sparse import csr_array

DenseVectors = NDArray[np.float32]
Vectors = Union[DenseVectors, Sequence["csr_array"]]  # noqa: UP007
"""One matrix per layer, of shape (sentences, dimensions); `vectors[layer][rows]` selects rows of either kind."""

_FILE = "features.npy"


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
        write_bytes(table.to_parquet(index=False, write_page_checksum=True), path)


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


class Features(NamedTuple):
    """The vectors of a set of sentences, layer by layer.

    Attributes:
        ids: The sentence that each row belongs to.
        vectors: A model has an array of shape (layers, sentences, dimensions), float32, memory-mapped; layer 0 has the
            embeddings. Counts have one layer: a sparse matrix of shape (sentences, columns), float32.
    """

    ids: Sequence[str]
    vectors: Vectors

    def rows_of(self, sentences: Iterable[str]) -> NDArray[np.int64]:
        """Return the row of each sentence's vectors, found by its text and never by its position, (sentences,)."""
        row_of = {text: row for row, text in enumerate(self.ids)}
        return np.array([row_of[text] for text in sentences], dtype=np.int64)


def write_features(blocks: Iterable[NDArray[np.float32]], ids: Sequence[str], folder: Path) -> None:
    """Write vectors into one file, layer after layer; they need not fit into memory together.

    Writes ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``, the sentence of each row.

    Args:
        blocks: Blocks of sentences in the order of ``ids``, each of shape (layers, sentences, dimensions).
        ids: The sentence of each row.
        folder: The folder of the two files.

    Raises:
        DataError: There is no sentence, a sentence has two rows, or the numbers of rows and ids differ.
    """
    if not ids or len(set(ids)) != len(ids):
        raise DataError(f"{folder}: {len(ids)} rows for {len(set(ids))} sentences; each must have exactly one row")
    blocks = iter(blocks)
    first = next(blocks)
    layers, _, dimensions = first.shape
    header = {"descr": np.dtype(np.float32).str, "fortran_order": False, "shape": (layers, len(ids), dimensions)}
    # Without a memory map: on a full disk, a write to a memory map kills the process.
    with replacing(folder / _FILE) as partial, partial.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        begin, start = file.tell(), 0
        for block in chain([first], blocks):
            for layer, rows in enumerate(block):
                row = layer * len(ids) + start
                file.seek(begin + 4 * dimensions * row)  # 4 bytes a number
                file.write(np.ascontiguousarray(rows, np.float32).data)
            start += block.shape[1]
        if start != len(ids):
            raise DataError(f"{folder}: vectors of {start} sentences, expected {len(ids)}")
    write_table(pd.DataFrame({"id": ids}), folder / "ids.parquet")


def read_features(folder: Path) -> Features:
    """Map the vectors of a folder into memory; refuse files with pickled objects.

    Raises:
        DataError: The ids and the rows do not match.
    """
    ids = read_table(folder / "ids.parquet")["id"].tolist()
    vectors: NDArray[np.float32] = np.load(folder / _FILE, mmap_mode="r", allow_pickle=False)
    if vectors.shape[1] != len(ids):
        raise DataError(f"{folder}: {vectors.shape[1]} rows, {len(ids)} ids; run the measuring stage again")
    return Features(ids, vectors)
