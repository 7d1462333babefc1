"""Vectors of sentences: a model's vectors are memory-mapped arrays, counts are sparse matrices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import replacing

if TYPE_CHECKING:  # scipy is slow to import, and `cxprobe check` does without it
    from scipy.sparse import csr_array

DenseVectors = NDArray[np.float32]
Vectors = Union[DenseVectors, Sequence["csr_array"]]  # noqa: UP007
"""One matrix per layer, of shape (sentences, dimensions); `vectors[layer][rows]` selects rows of either kind."""

_FILE = "features.npy"


@dataclass(frozen=True)
class Features:
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
