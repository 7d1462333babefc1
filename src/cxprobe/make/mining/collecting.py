"""The finds of all shards as one table of sentences: sorted, without repetitions, with their features."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet

from cxprobe.constructions import Construction
from cxprobe.errors import DataError
from cxprobe.make.mining.duplicates import find_duplicates
from cxprobe.make.mining.shards import SCHEMAS, Job, table_path
from cxprobe.params import Duplicates
from cxprobe.seeding import text_id
from cxprobe.storage import join_tables, read_json

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
