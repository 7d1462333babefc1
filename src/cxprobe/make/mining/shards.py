"""One shard of a corpus -> three tables (candidates, rejects, faults) and its counts; all of it or nothing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
from datatrove.io import get_datafolder
from threadpoolctl import threadpool_limits

from cxprobe.constructions import Pattern
from cxprobe.errors import DataError
from cxprobe.make.mining.blocks import Block, Fault
from cxprobe.make.mining.matching import Matchers
from cxprobe.make.mining.readers import READERS, Keys
from cxprobe.make.mining.search import Candidate, Reject, Searcher, search
from cxprobe.make.mining.tagging import load_tagger
from cxprobe.storage import growing_table, write_json

_FLUSH = 8 << 20  # bytes of broken lines that are kept in memory before they are written

SCHEMAS = {
    "candidates": pa.schema(
        {
            "text": pa.string(),
            "url": pa.string(),
            "start": pa.int64(),
            "end": pa.int64(),
            "tags": pa.string(),
            "words": pa.int64(),
            "marks": pa.list_(pa.int64()),
        }
    ),
    "rejects": pa.schema({"url": pa.string(), "start": pa.int64(), "end": pa.int64(), "reason": pa.string()}),
    "faults": pa.schema(
        {"shard": pa.string(), "line": pa.int64(), "offset": pa.int64(), "fault": pa.string(), "raw": pa.binary()}
    ),
}


@dataclass(frozen=True)
class Job:
    """What every shard's task is given; it is sent to other processes and machines.

    Attributes:
        folder: The corpus: a local folder, or any that fsspec knows (s3://, hf://datasets/...).
        shards: The files in it, each a task.
        format: How they are read: a key of `READERS`.
        keys: Where a record has its text and the name of its source.
        longest_line: Bytes; a longer record is recorded as a fault.
        pattern: What is looked for.
        tagger: The spaCy pipeline.
        most_words: A longer sentence is not a candidate.
        output: The folder of the shards' tables.
    """

    folder: str
    shards: tuple[str, ...] = field(repr=False)
    format: str
    keys: Keys
    longest_line: int
    pattern: Pattern = field(repr=False)
    tagger: str
    most_words: int
    output: str


def mine_shard(_data: object, rank: int, _world_size: int, job: Job) -> Iterator[Any]:
    """Mine one shard; datatrove calls this with the number of the task."""
    # One process per shard: more threads would only take the other shards' cores.
    pa.set_cpu_count(1)
    with threadpool_limits(1):
        counts = _mine(job, rank)
    write_json(counts, table_path(job, rank, "counts"))
    return iter(())


def table_path(job: Job, rank: int, table: str) -> Path:
    """Return the path of a shard's table."""
    return Path(job.output) / f"{rank:05d}.{table}.{'json' if table == 'counts' else 'parquet'}"


def _mine(job: Job, rank: int) -> Counter[str]:
    counts: Counter[str] = Counter(shards=1)
    searcher = _searcher(job.tagger, job.pattern.model_dump_json(), job.most_words)
    broken: list[Fault] = []
    paths = {name: table_path(job, rank, name) for name in SCHEMAS}
    with (
        growing_table(paths["candidates"], SCHEMAS["candidates"]) as candidates,
        growing_table(paths["rejects"], SCHEMAS["rejects"]) as rejects,
        growing_table(paths["faults"], SCHEMAS["faults"]) as faults,
    ):
        for block in _read(job, job.shards[rank]):
            if isinstance(block, Fault):
                broken.append(block)
                counts["faults"] += 1
                if sum(len(fault.raw) for fault in broken) > _FLUSH:
                    faults.write_batch(_rows(broken, "faults"))
                    broken = []
            elif block.urls:
                findings = search(block, searcher)
                counts.update(findings.counts)
                counts["candidates"] += len(findings.candidates)
                counts.update(f"rejected: {reject.reason}" for reject in findings.rejects)
                candidates.write_batch(_rows(findings.candidates, "candidates"))
                rejects.write_batch(_rows(findings.rejects, "rejects"))
        faults.write_batch(_rows(broken, "faults"))
    return counts


def _read(job: Job, shard: str) -> Iterator[Block | Fault]:
    """Yield a shard's blocks; a file that does not exist is a fault like any other."""
    try:
        file = get_datafolder(job.folder).open(shard, "rb")
    except FileNotFoundError as fault:
        yield Fault(shard, 0, -1, f"cannot be opened: {' '.join(str(fault).split())}", b"")
        return
    except Exception as fault:  # each storage raises what its own library does
        raise _out_of_reach(shard, fault) from fault
    with file:
        stored = cast(IO[bytes], _Stored(file, shard))
        yield from READERS[job.format](stored, shard, job.keys, job.longest_line)


class _Stored:
    """A file whose errors of storage are distinguished from errors of content.

    Decompressors and parsers raise OSError for corrupt data: that is recorded as a fault, and the shard counts as
    finished. If a connection is lost, the shard must fail instead, so that the next run reads it again.
    """

    def __init__(self, file: IO[bytes], shard: str) -> None:
        self._file = file
        self._shard = shard

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except Exception as fault:
            raise _out_of_reach(self._shard, fault) from fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _out_of_reach(shard: str, fault: Exception) -> DataError:
    said = " ".join(str(fault).split()) or type(fault).__name__
    return DataError(
        f"{shard} was not read to its end: {said}. Run the stage again: it goes on with the shards that are left"
    )


def _rows(rows: Sequence[Candidate | Reject | Fault], table: str) -> pa.RecordBatch:
    schema = SCHEMAS[table]
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


@lru_cache(maxsize=2)
def _searcher(tagger: str, pattern: str, most_words: int) -> Searcher:
    """Load the tagger once per process, not once per shard."""
    parsed = Pattern.model_validate_json(pattern)
    nlp = load_tagger(tagger, parsed)
    return Searcher(parsed, Matchers(parsed, nlp), nlp, most_words)
