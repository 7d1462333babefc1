"""Vectors of sentences: those of a model as memory-mapped arrays, counts as sparse matrices."""

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
"""A matrix a layer, each of shape (sentences, dimensions): `vectors[layer][rows]` has the same rows of either kind."""

_FILE = "features.npy"


@dataclass(frozen=True)
class Features:
    """The vectors of a set of sentences, layer by layer.

    Attributes:
        ids: The sentence that each row belongs to.
        vectors: Of a model, shape (layers, sentences, dimensions), float32, memory-mapped; layer 0 is the embeddings.
            Of counts, one layer: a sparse matrix of shape (sentences, columns), float32.
    """

    ids: Sequence[str]
    vectors: Vectors


def write_features(blocks: Iterable[NDArray[np.float32]], ids: Sequence[str], folder: Path) -> None:
    """Write vectors into one layer-major file; they never have to fit into memory at once.

    Writes ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``, its rows' sentences.

    Args:
        blocks: The vectors of some sentences after the other, each of shape (layers, sentences, dimensions).
        ids: The sentence of each row.
        folder: Where the two files go.

    Raises:
        DataError: There is no sentence, one has two rows, or the blocks do not have as many rows as there are ids.
    """
    if not ids or len(set(ids)) != len(ids):
        raise DataError(f"{folder}: {len(ids)} rows for {len(set(ids))} sentences; each must have exactly one row")
    blocks = iter(blocks)
    first = next(blocks)
    layers, _, dimensions = first.shape
    described = {"descr": np.dtype(np.float32).str, "fortran_order": False, "shape": (layers, len(ids), dimensions)}
    # Not by a map into memory: where the disk is full, writing to one kills the process.
    with replacing(folder / _FILE) as partial, partial.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, described)
        begin, start = file.tell(), 0
        for block in chain([first], blocks):
            for layer, rows in enumerate(block):
                file.seek(begin + 4 * dimensions * (layer * len(ids) + start))
                file.write(np.ascontiguousarray(rows, np.float32).data)
            start += block.shape[1]
        if start != len(ids):
            raise DataError(f"{folder}: vectors of {start} sentences, expected {len(ids)}")
    write_table(pd.DataFrame({"id": ids}), folder / "ids.parquet")


def read_features(folder: Path) -> Features:
    """Map the vectors of a folder into memory; nothing that holds pickled objects is opened.

    Raises:
        DataError: The ids and the rows do not match.
    """
    ids = read_table(folder / "ids.parquet")["id"].tolist()
    vectors: NDArray[np.float32] = np.load(folder / _FILE, mmap_mode="r", allow_pickle=False)
    if vectors.shape[1] != len(ids):
        raise DataError(f"{folder}: {vectors.shape[1]} rows, {len(ids)} ids; run the measuring stage again")
    return Features(ids, vectors)
