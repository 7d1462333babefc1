"""Mining: the shards of a corpus, each a task -> tables of candidates and faults; all of it or nothing."""

import os

os.environ.setdefault("LOGURU_LEVEL", "ERROR")  # of datatrove's messages, which would print each task's pipeline

import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor
from threadpoolctl import threadpool_limits

from cxprobe.corpora.params import Engine, Mining
from cxprobe.corpora.pattern import Pattern
from cxprobe.corpora.readers import CorpusFiles, read_blocks
from cxprobe.corpora.search import Matchers, load_matchers, pipeline_of, search
from cxprobe.errors import DataError
from cxprobe.files.code import computing_code
from cxprobe.files.tables import growing_table
from cxprobe.files.writing import digest_of_files, scratch_folder, write_json

# The tables of a shard follow from these modules and those that they import: another one must not mine all again.
SHARD_MODULES = ("cxprobe.corpora.search", "cxprobe.segmentation")
_loaded: dict[str, dict[str, Matchers]] = {}  # the folder of the last job -> its matchers
_TEXT, _NUMBER = pa.string(), pa.int64()
_PLACE = {"url": _TEXT, "start": _NUMBER, "end": _NUMBER}
MATCHED = pa.list_(pa.list_(_NUMBER))
SLOTS = pa.list_(pa.struct({"slot": _TEXT, "start": _NUMBER, "end": _NUMBER, "word": _TEXT, "tag": _TEXT}))
SCHEMAS = {
    "candidates": pa.schema(
        {
            **{"text": _TEXT, **_PLACE, "tags": _TEXT, "words": _NUMBER},
            **{"marks": pa.list_(_NUMBER), "matched": MATCHED, "slots": SLOTS},
        }
    ),
    "faults": pa.schema({"shard": _TEXT, "line": _NUMBER, "offset": _NUMBER, "fault": _TEXT}),
}


class _QuietExecutor(LocalPipelineExecutor):  # type: ignore[misc]
    """datatrove's executor of this machine; its tasks print errors alone, as it has it for all but the first worker."""

    def _run_for_rank(self, rank: int, local_rank: int = 0, node_rank: int = -1) -> Any:
        return super()._run_for_rank(rank, local_rank + 1, node_rank)


EXECUTORS = {"local": _QuietExecutor, "slurm": SlurmPipelineExecutor}


@dataclass(frozen=True)
class MiningJob:
    """The job of mining a corpus, which is sent to other processes and machines.

    Attributes:
        source: The corpus; each of its files is a task.
        longest_line: Bytes; a longer record is recorded as a fault.
        patterns: Construction -> its pattern.
        pipelines: Construction -> the pipeline of spaCy that tags, or parses.
        most_words: A longer sentence is not a candidate.
        output: The folder of the shards' tables.
    """

    source: CorpusFiles
    longest_line: int
    patterns: Mapping[str, Pattern] = field(repr=False)
    pipelines: Mapping[str, str]
    most_words: int
    output: str


def make_job(source: CorpusFiles, settings: Mining, patterns: Mapping[str, Pattern], scratch: Path) -> MiningJob:
    """Return the job of mining a corpus; its folder in ``scratch`` is named by everything that its output depends on.

    So a run that was killed continues where it stopped, and one with another pattern, pipeline or corpus, or with
    another version of the code that a shard runs, starts from the beginning.
    """
    names = {construction: pipeline_of(pattern, settings) for construction, pattern in patterns.items()}
    job = MiningJob(source, settings.longest_line, patterns, names, settings.most_words, output="")
    contents = []
    for folder in map(Path, sorted(set(names.values()))):
        files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        contents.append(digest_of_files(folder, files))
    output = scratch_folder(scratch, astuple(job), contents, computing_code(*SHARD_MODULES))
    # Workers of a cluster run in folders of their own, where a relative path may lead to another pipeline.
    where = {one: str(Path(name).resolve()) if Path(name).is_dir() else name for one, name in names.items()}
    return replace(job, output=str(output.resolve()), pipelines=where)


def run_shards(job: MiningJob, engine: Engine) -> int:
    """Mine every shard that no earlier run has finished, and return their number.

    The markers of finished shards are beside their results in ``job.output``. Every shard is a task of its own, so
    neither the number of workers nor their order can change a result.

    Raises:
        DataError: A shard's storage failed, the engine cannot be used, or shards are not finished.
    """
    logs = str(Path(job.output) / "datatrove")
    pipeline, tasks = [partial(mine_shard, job=job)], len(job.source.shards)
    os.environ["SBATCH_WAIT"] = "1"  # sbatch then returns when its jobs have ended
    try:
        executor: Any = EXECUTORS[engine.kind](
            pipeline=pipeline, tasks=tasks, logging_dir=logs, skip_completed=True, **engine.arguments
        )
    except TypeError as fault:
        raise DataError(f"mining.engine.arguments: {fault}") from None
    left = executor.get_incomplete_ranks()
    try:
        executor.run()
    except (FileNotFoundError, subprocess.CalledProcessError) as fault:
        raise DataError(f"mining.engine: {engine.kind} failed: {fault}; mend it, and run the stage again") from fault
    if stays := executor.get_incomplete_ranks():
        names = ", ".join(job.source.shards[rank] for rank in stays[:5])
        raise DataError(
            f"{len(stays)} of {tasks} shards were not finished, the first: {names}. Logs are in {logs}. Run the stage "
            "again: it goes on with what is left"
        )
    return len(left)


def table_path(job: MiningJob, rank: int, table: str, construction: str = "") -> Path:
    """Return the path of a shard's table: of a construction, or of the corpus (counts, faults)."""
    suffix = "json" if table == "counts" else "parquet"
    return Path(job.output) / ".".join(filter(None, (f"{rank:05d}", construction, table, suffix)))


def mine_shard(_data: object, rank: int, _world_size: int, job: MiningJob) -> Iterator[Any]:
    """Mine one shard; datatrove calls this with the number of the task."""
    pa.set_cpu_count(1)  # one process per shard: more threads would only take the other shards' cores
    counts = {"": Counter(shards=1), **{name: Counter() for name in job.patterns}}  # "" is the corpus
    if job.output not in _loaded:  # once per process, not once per shard
        _loaded.clear()
        _loaded[job.output] = load_matchers(job.patterns, job.pipelines)
    names = [("", "faults"), *((name, "candidates") for name in job.patterns)]
    with threadpool_limits(1), ExitStack() as stack:
        tables = {
            (name, table): stack.enter_context(growing_table(table_path(job, rank, table, name), SCHEMAS[table]))
            for name, table in names
        }
        for records, unreadable in read_blocks(job.source, job.source.shards[rank], job.longest_line):
            size = sum(len(record.text.encode()) for record in records)
            counts[""] += Counter(faults=len(unreadable), documents=len(records), bytes_of_text=size)
            rows = {("", "faults"): [one._asdict() for one in unreadable]}
            for name, findings in search(records, _loaded[job.output], job.most_words).items():
                counts[name].update(findings.counts)
                rows[name, "candidates"] = findings.candidates
            for key, table in tables.items():
                table.write_batch(pa.RecordBatch.from_pylist(rows[key], schema=SCHEMAS[key[1]]))
    write_json(counts, table_path(job, rank, "counts"))
    return iter(())
