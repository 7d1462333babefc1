"""Sentences that a corpus has more than once, exactly or nearly: the first of them is kept."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet
from datasketch import MinHash
from numpy.typing import NDArray

from cxprobe.constructions.construction import Construction
from cxprobe.corpora.engine import SCHEMAS, Job, table_path
from cxprobe.corpora.params import Duplicates
from cxprobe.errors import DataError
from cxprobe.files.tables import join_tables
from cxprobe.files.writing import read_json
from cxprobe.seeding import text_id

_WORD = re.compile(r"\w+")


class Twin(NamedTuple):
    """A sentence that is removed, and the one that is kept instead; both are positions in the list."""

    position: int
    stays: int
    exact: bool


def find_duplicates(texts: Sequence[str], *, shingle: int, permutations: int, threshold: float) -> list[Twin]:
    """Find the sentences that repeat an earlier one.

    Exact means the same words, whatever their case and punctuation. Near means an estimated Jaccard similarity of
    the sets of ``shingle`` words in a row of ``threshold`` or more with a sentence that is kept; all such pairs are
    found. The first of the list is kept, so the order of the texts must not change.

    With 128 permutations it takes 1 to 2 kB of memory for each text.

    Source:
        Broder 1997 (MinHash), as datasketch has it; its permutations are seeded.
    """
    rows: dict[str, int] = {}
    row_of = [rows.setdefault(" ".join(_WORD.findall(text.lower())), len(rows)) for text in texts]
    firsts = np.unique(row_of, return_index=True)[1].tolist()
    stays = _stays(_minhashes(list(rows), shingle, permutations), threshold)
    return [
        Twin(position, firsts[stays[row]], exact=position != firsts[row])
        for position, row in enumerate(row_of)
        if position != firsts[stays[row]]
    ]


def _minhashes(sentences: Sequence[str], shingle: int, permutations: int) -> NDArray[np.uint32]:
    hashes = np.empty((len(sentences), permutations), np.uint32)
    shingles = (_shingles(words.split(" "), shingle) for words in sentences)
    for row, minhash in enumerate(MinHash.generator(shingles, num_perm=permutations, seed=1)):
        hashes[row] = minhash.hashvalues
    return hashes


def _shingles(words: Sequence[str], size: int) -> list[bytes]:
    last = max(1, len(words) - size + 1)
    return [" ".join(words[start : start + size]).encode() for start in range(last)]


def _stays(hashes: NDArray[np.uint32], threshold: float) -> list[int]:
    """Return, for each sentence, the first similar one that is kept, or the sentence itself.

    Sentences are compared if all their values of some band are equal. There is one band more than two similar
    sentences may have unequal values, so they have at least one band in common.

    Args:
        hashes: Shape (n, permutations).
        threshold: The least part of equal values.

    Source:
        Manku, Jain & Das Sarma 2007, §3, for bands as pigeonholes.
    """
    count, permutations = hashes.shape
    alike = int(np.searchsorted(np.arange(permutations + 1) / permutations, threshold))  # so many values are equal
    rows, bands = _shared_bands(hashes, permutations - alike + 1)
    starts = np.searchsorted(rows, np.arange(count + 1))  # (n + 1,)
    last = np.full(bands.max(initial=-1) + 1, -1, np.int32)  # for each band, the place of the last that stays
    before = np.empty_like(rows)  # for each place, that of the one before it in its band
    stays = list(range(count))
    for row in np.unique(rows):
        own = slice(starts[row], starts[row + 1])
        others = np.unique(rows[_chained(last[bands[own]], before)])
        found = others[np.count_nonzero(hashes[others] == hashes[row], axis=1) >= alike]
        if len(found):
            stays[row] = int(found[0])
        else:
            before[own] = last[bands[own]]
            last[bands[own]] = np.arange(own.start, own.stop)
    return stays


def _shared_bands(hashes: NDArray[np.uint32], number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return which sentences have equal values in which bands.

    Args:
        hashes: Shape (n, permutations).
        number: Of bands.

    Returns:
        Two arrays of shape (places,), one place for each band that a sentence has in common with others: the
        sentence's row, in order, and a name for the band with its values.
    """
    factors = np.random.default_rng(1).integers(1 << 63, size=hashes.shape[1:], dtype=np.uint64)  # (permutations,)
    rows, bands = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    named = 0
    for columns in np.array_split(np.arange(hashes.shape[1]), number):
        keys = hashes[:, columns] @ factors[columns]  # (n,); if two fall together by chance, their values are compared
        _, band, members = np.unique(keys, return_inverse=True, return_counts=True)
        shared = np.flatnonzero(members[band] > 1)
        rows.append(shared.astype(np.int32))
        bands.append((band[shared] + named).astype(np.int32))
        named += len(members)
    by_row = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[by_row], np.concatenate(bands)[by_row]


def _chained(places: NDArray[np.int32], before: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return some places and all that come before them in their bands; -1 is none."""
    found = []
    while len(places := places[places >= 0]):
        found.append(places)
        places = before[places]
    return np.concatenate([*found, places])


FAULTS_SHOWN = 1000  # rows of the table for readers; faults.parquet has all of them


class Collected(NamedTuple):
    """The outcome of mining.

    Attributes:
        sentences: Columns id, text, url, start, end, tags, and one for each feature.
        counts: How many documents and sentences each step has seen and has let through.
        rejects: Reason -> how many sentences, the most frequent reason first.
        faults: Columns shard, line, offset, fault: what could not be read.
    """

    sentences: pd.DataFrame
    counts: Counter[str]
    rejects: pd.DataFrame
    faults: pd.DataFrame


def collect(job: Job, construction: Construction, settings: Duplicates, output: Path) -> Collected:
    """Join the shards' tables. The result depends neither on their order nor on the machines that mined them.

    In the folder ``output``, ``rejects.parquet`` (every sentence that was rejected, with its place and the reason) and
    ``faults.parquet`` (every broken line, with its bytes) are written.

    Only the candidates are kept in memory: about 3 kB each with 128 permutations, so 300 MB for a hundred thousand.
    """
    ranks = range(len(job.shards))
    counts: Counter[str] = Counter()
    for rank in ranks:
        counts.update(read_json(table_path(job, rank, "counts")))
    for name in ("rejects", "faults"):
        parts = [table_path(job, rank, name) for rank in ranks]
        join_tables(parts, output / f"{name}.parquet", SCHEMAS[name])
    found = [pyarrow.parquet.read_table(table_path(job, rank, "candidates")).to_pandas() for rank in ranks]
    candidates = pd.concat(found, ignore_index=True).sort_values(["url", "start", "text"], ignore_index=True)
    kept = _each_once(candidates, settings, counts)
    reasons = {name.removeprefix("rejected: "): n for name, n in counts.items() if name.startswith("rejected")}
    return Collected(
        sentences=_with_features(kept, construction),
        counts=Counter({name: n for name, n in counts.items() if not name.startswith("rejected")}),
        rejects=pd.DataFrame(_most_frequent_first(reasons), columns=["reason", "sentences"]),
        faults=_faults(output / "faults.parquet"),
    )


def refuse_unreadable(found: Collected, corpus: str, most_faults: float) -> None:
    """Refuse the outcome of mining where little or nothing of the corpus could be read: its settings are wrong.

    Args:
        found: The outcome.
        corpus: The corpus's key in params.yaml, for messages.
        most_faults: The largest share of faults among documents and faults that is accepted, in [0, 1].

    Raises:
        DataError: No document could be read, or the share of faults is larger. The message shows the first fault.
    """
    documents, faults = found.counts["documents"], found.counts["faults"]
    first = ""
    for shard, line, _, fault in found.faults.head(1).itertuples(index=False, name=None):
        first = f"; the first fault: {shard}, line {line}: {fault}"
    if not documents:
        raise DataError(
            f"corpora.{corpus}: none of its {found.counts['shards']} files has a document that can be read{first}; "
            "compare format, text and glob with the files, mend them, and run the stage again"
        )
    if faults > most_faults * (documents + faults):
        raise DataError(
            f"corpora.{corpus}: {faults:,} faults beside {documents:,} documents are more than "
            f"mine_sentences.most_faults ({most_faults:g}) allows{first}; mend the corpus or its settings, or raise "
            "the limit if so much may be missing"
        )


def _each_once(candidates: pd.DataFrame, settings: Duplicates, counts: Counter[str]) -> pd.DataFrame:
    twins = find_duplicates(
        candidates["text"].tolist(),
        shingle=settings.shingle,
        permutations=settings.permutations,
        threshold=settings.threshold,
    )
    counts["rejected: exact duplicate"] = sum(twin.exact for twin in twins)
    counts["rejected: near-duplicate"] = sum(not twin.exact for twin in twins)
    return candidates.drop(index=[twin.position for twin in twins]).reset_index(drop=True)


def _most_frequent_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _with_features(candidates: pd.DataFrame, construction: Construction) -> pd.DataFrame:
    measured = {
        name: [feature.of(words, tuple(marks)) for words, marks in candidates[["words", "marks"]].to_numpy()]
        for name, feature in construction.features.items()
    }
    columns = {"id": [text_id("mined", text) for text in candidates["text"]]}
    columns |= {name: candidates[name].tolist() for name in ("text", "url", "start", "end", "tags")}
    table = pd.DataFrame(columns | measured)
    return table.astype(dict.fromkeys(("start", "end", *measured), "int64"))


def _faults(path: Path) -> pd.DataFrame:
    """Return the first faults without their bytes; a corpus may have millions."""
    columns = ["shard", "line", "offset", "fault"]
    with pyarrow.parquet.ParquetFile(path) as file:
        batch = next(file.iter_batches(FAULTS_SHOWN, columns=columns), None)
    return pd.DataFrame(batch.to_pydict() if batch is not None else None, columns=columns)
