"""The only reader and writer of data/ and results/. Files appear whole or not at all, and hold what they should."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from cxprobe.errors import DataError

DATA = Path("data")
RESULTS = Path("results")
SCRATCH = DATA / ".scratch"


@dataclass(frozen=True)
class Features:
    """The vectors of a set of sentences, layer by layer.

    Attributes:
        ids: The sentence that each row belongs to.
        vectors: Shape (layers, sentences, dimensions), float32, memory-mapped; layer 0 is the embeddings.
    """

    ids: Sequence[str]
    vectors: NDArray[np.float32]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` to write to, and rename it to ``path`` once the block ends well.

    Whoever is killed inside the block leaves a ``.partial`` file and never half an output.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    yield partial
    with partial.open("rb") as written:
        os.fsync(written.fileno())  # a name must not outlive a power cut without its content
    partial.replace(path)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as .parquet (data) or .csv (results).

    Raises:
        DataError: A cell is empty, or a number is not finite.
    """
    empty = [str(column) for column in table.columns if table[column].isna().any()]
    numbers = table.select_dtypes("number")
    infinite = [str(column) for column in numbers if not np.isfinite(numbers[column]).all()]
    if empty or infinite:
        raise DataError(f"{path}: empty cells in {empty}, infinite numbers in {infinite}; nothing was written")
    with replacing(path) as partial:
        if path.suffix == ".csv":
            table.to_csv(partial, index=False, lineterminator="\n")
        else:
            table.to_parquet(partial, index=False)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `write_table` wrote."""
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@contextmanager
def growing_table(path: Path, schema: pa.Schema) -> Iterator[pa.parquet.ParquetWriter]:
    """Give a writer of a .parquet file that takes its rows bit by bit, for tables that memory cannot hold."""
    with replacing(path) as partial, pa.parquet.ParquetWriter(partial, schema) as writer:
        yield writer


def join_tables(parts: Sequence[Path], path: Path, schema: pa.Schema) -> int:
    """Write the rows of .parquet files, one after the other, as one file, and return how many they are."""
    rows = 0
    with growing_table(path, schema) as writer:
        for part in parts:
            with pa.parquet.ParquetFile(part) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)
                    rows += len(batch)
    return rows


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write a mapping as JSON, keys in their order; NaN and infinity are refused."""
    with replacing(path) as partial:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        partial.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a mapping that `write_json` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


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
    """Return whether a file holds the vectors of these sentences, whole."""
    try:
        array = read_array(path)
    except (OSError, ValueError):  # not there, or cut off
        return False
    return array.ndim == 3 and array.shape[1] == len(ids)


def scratch_folder(parent: Path, *parts: object) -> Path:
    """Return the folder in which a piece of a stage's work lies until it is whole.

    It is named by all that the work follows from, so a killed run goes on where it stopped, and one with anything
    else begins anew.

    Args:
        parent: The folder of the stage whose work it is.
        parts: All that the work follows from; their ``repr`` tells them apart.
    """
    return parent / hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def digest(path: Path, algorithm: str = "sha256") -> str:
    """Return a file's digest, as `hashlib` names the algorithm."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def merge_features(parts: Sequence[tuple[Path, Sequence[str]]], folder: Path) -> None:
    """Join the vectors of all batches into one layer-major file that never has to fit in memory.

    Writes ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``, its rows' sentences.

    Args:
        parts: Each batch's .npy file and the ids of its sentences, in the order of the merged rows.
        folder: Where the two files go.

    Raises:
        DataError: A sentence is in no batch or in two, or two batches differ in layers or dimensions.
    """
    ids = [id_ for _, batch_ids in parts for id_ in batch_ids]
    if not ids or len(set(ids)) != len(ids):
        raise DataError(f"{folder}: {len(ids)} rows for {len(set(ids))} sentences; each must be there exactly once")
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
