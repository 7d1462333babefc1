"""Vectors as memory-mapped arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.storage.files import replacing
from cxprobe.storage.tables import read_table, write_table


@dataclass(frozen=True)
class Features:
    """The vectors of a set of sentences, layer by layer.

    Attributes:
        ids: The sentence that each row belongs to.
        vectors: Shape (layers, sentences, dimensions), float32, memory-mapped; layer 0 is the embeddings.
    """

    ids: Sequence[str]
    vectors: NDArray[np.float32]


def write_array(array: NDArray[np.float32], path: Path, ids: Sequence[str]) -> None:
    """Write the vectors of a batch, shape (layers, len(ids), dimensions), as .npy.

    Raises:
        DataError: The array does not hold one column a sentence, or a number is not finite; the message names
            the sentences.
    """
    if array.ndim != 3 or array.shape[1] != len(ids):
        raise DataError(f"{path}: expected (layers, {len(ids)}, dimensions), got {array.shape}")
    finite = np.isfinite(array).all(axis=2).all(axis=0)  # (sentences,)
    if not finite.all():
        broken = [ids[int(row)] for row in np.flatnonzero(~finite)]
        raise DataError(
            f"{path}: the model gave numbers that are not finite for {', '.join(broken[:5])} ({len(broken)} in all); "
            "try dtype: float32, or look at these sentences"
        )
    with replacing(path) as partial, partial.open("wb") as file:
        np.save(file, array, allow_pickle=False)


def read_array(path: Path) -> NDArray[np.float32]:
    """Map the vectors of a .npy file into memory, read-only; nothing that holds pickled objects is opened."""
    array: NDArray[np.float32] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def is_array_of(path: Path, ids: Sequence[str]) -> bool:
    """Return whether a file exists, is complete and holds the vectors of these sentences."""
    try:
        array = read_array(path)
    except (OSError, ValueError):  # missing, or truncated
        return False
    return array.ndim == 3 and array.shape[1] == len(ids)


def merge_features(parts: Sequence[tuple[Path, Sequence[str]]], folder: Path) -> None:
    """Join the vectors of all batches into one layer-major file that never has to fit in memory.

    Writes ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``, its rows' sentences.

    Args:
        parts: Each batch's .npy file and the ids of its sentences, in the order of the merged rows.
        folder: Where the two files go.

    Raises:
        DataError: There is no sentence, one is in two batches, or two batches differ in layers or dimensions.
    """
    ids = [id_ for _, batch_ids in parts for id_ in batch_ids]
    if not ids or len(set(ids)) != len(ids):
        raise DataError(f"{folder}: {len(ids)} rows for {len(set(ids))} sentences; each must have exactly one row")
    layers, _, dimensions = read_array(parts[0][0]).shape
    with replacing(folder / "features.npy") as partial:
        merged = np.lib.format.open_memmap(partial, mode="w+", dtype=np.float32, shape=(layers, len(ids), dimensions))
        start = 0
        for path, batch_ids in parts:
            batch = read_array(path)
            if batch.shape != (layers, len(batch_ids), dimensions):
                raise DataError(
                    f"{path}: shape {batch.shape}, expected ({layers}, {len(batch_ids)}, {dimensions}); delete it"
                )
            merged[:, start : start + len(batch_ids)] = batch
            start += len(batch_ids)
        merged.flush()
    write_table(pd.DataFrame({"id": ids}), folder / "ids.parquet")


def read_features(folder: Path) -> Features:
    """Map the features of a folder into memory.

    Raises:
        DataError: The ids and the rows do not match.
    """
    ids = read_table(folder / "ids.parquet")["id"].tolist()
    vectors = read_array(folder / "features.npy")
    if vectors.shape[1] != len(ids):
        raise DataError(f"{folder}: {vectors.shape[1]} rows, {len(ids)} ids; run extract_features again")
    return Features(ids, vectors)
