"""Mining: the shards of a corpus, each a task -> tables of candidates, rejects and faults; all of it or nothing."""

import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache, partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
from datatrove.executor import LocalPipelineExecutor
from datatrove.utils.logging import logger
from datatrove.utils.stats import PipelineStats
from threadpoolctl import threadpool_limits

from cxprobe import segmentation
from cxprobe.corpora import conllu, readers, trees
from cxprobe.corpora import pattern as pattern_module
from cxprobe.corpora import search as search_module
from cxprobe.corpora.clusters import SlurmExecutor
from cxprobe.corpora.params import Engine, LocalEngine, Mining
from cxprobe.corpora.pattern import Pattern
from cxprobe.corpora.readers import read_blocks
from cxprobe.corpora.search import Matchers, load_matchers, pipeline_of, search
from cxprobe.corpora.sources import CorpusFiles
from cxprobe.errors import DataError
from cxprobe.files.tables import growing_table
from cxprobe.files.writing import digest, digest_of_files, scratch_folder, write_json

_LOOK = 2.0  # seconds between two counts of finished shards
# What a shard finds follows from these modules alone: a change of another one must not mine everything again.
_MODULES = (segmentation, pattern_module, conllu, readers, search_module, trees)
SHARD_MODULES = tuple(Path(str(module.__file__)) for module in _MODULES)
_TEXT, _NUMBER = pa.string(), pa.int64()
_PLACE = {"url": _TEXT, "start": _NUMBER, "end": _NUMBER}
SLOTS = pa.list_(pa.struct({"slot": _TEXT, "start": _NUMBER, "end": _NUMBER, "word": _TEXT, "tag": _TEXT}))
SCHEMAS = {
    "candidates": pa.schema(
        {"text": _TEXT, **_PLACE, "tags": _TEXT, "words": _NUMBER, "marks": pa.list_(_NUMBER), "slots": SLOTS}
    ),
    "rejects": pa.schema({**_PLACE, "reason": _TEXT}),
    "faults": pa.schema({"shard": _TEXT, "line": _NUMBER, "offset": _NUMBER, "fault": _TEXT}),
}


@dataclass(frozen=True)
class MiningJob:
    """What every shard's task is given; it is sent to other processes and machines.

    Attributes:
        source: The corpus; each of its files is a task.
        longest_line: Bytes; a longer record is recorded as a fault.
        patterns: Construction -> what is looked for.
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
    code = [digest(path) for path in SHARD_MODULES]
    output = scratch_folder(scratch, astuple(job), contents, code)
    # Workers of a cluster run in folders of their own, where a relative path may lead to another pipeline.
    where = {one: str(Path(name).resolve()) if Path(name).is_dir() else name for one, name in names.items()}
    return replace(job, output=str(output.resolve()), pipelines=where)


def count_finished(job: MiningJob, engine: Engine) -> int:
    """Return how many shards an earlier run has finished."""
    return len(job.source.shards) - len(_executor(job, engine).get_incomplete_ranks())


def run_shards(job: MiningJob, engine: Engine, progress: Callable[[int], object] = lambda _: None) -> int:
    """Mine every shard that no earlier run has finished, and return how many those were.

    The markers of finished shards are beside their results in ``job.output``. Every shard is a task of its own, so
    neither the number of workers nor their order can change a result.

    Args:
        job: What is mined.
        engine: Where.
        progress: Called every few seconds with the number of shards that have been finished since the last call, on
            this machine or by a cluster.

    Raises:
        DataError: A shard's storage failed, or a cluster's jobs have ended and left shards unfinished.
    """
    executor = _executor(job, engine)
    left = len(executor.get_incomplete_ranks())
    with _counted(executor, left, progress):
        executor.mine()
    return left


@contextmanager
def _counted(executor: Any, left: int, progress: Callable[[int], object]) -> Iterator[None]:
    """Report finished shards while the block runs; a thread counts them, since no executor reports any."""
    ended = Event()

    def count(before: int) -> None:
        last = False
        while not last:
            last = ended.wait(_LOOK)
            now = len(executor.get_incomplete_ranks(skip_completed=True))
            progress(before - now)
            before = now

    counter = Thread(target=count, args=(left,), daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join()


def _executor(job: MiningJob, engine: Engine) -> "_LocalExecutor | SlurmExecutor":
    tasks = len(job.source.shards)
    shared: dict[str, Any] = {
        "pipeline": [partial(mine_shard, job=job)],
        "logging_dir": str(Path(job.output) / "datatrove"),
    }
    if isinstance(engine, LocalEngine):
        return _LocalExecutor(**shared, tasks=tasks, workers=min(engine.workers, tasks))
    return SlurmExecutor(
        **shared,
        shards=job.source.shards,
        workers=engine.workers,
        mem_per_cpu_gb=engine.memory_gb,
        partition=engine.partition,
        qos=engine.qos,
        time=engine.time,
        env_command=engine.environment,
        sbatch_args=dict(engine.options),
    )


class _LocalExecutor(LocalPipelineExecutor):  # type: ignore[misc]
    """Mines shards in processes of this machine.

    datatrove's own pool waits forever if the system ends one of its processes, as it does where memory is short.
    """

    def mine(self) -> None:
        """Mine the shards that are left.

        Raises:
            DataError: A process was ended from outside.
        """
        left = self.get_incomplete_ranks()
        if self.workers == 1:
            for rank in left:
                self._run_for_rank(rank)
            return
        pool = ProcessPoolExecutor(self.workers, get_context("forkserver"), _start_process)
        try:
            deque(pool.map(self._run_for_rank, left), maxlen=0)
        except BrokenProcessPool as fault:
            raise DataError(
                f"the system ended a process that mined, most often because memory is short. Run the stage again with "
                f"fewer engine.workers than {self.workers}: it goes on with the shards that are left"
            ) from fault
        finally:
            for process in active_children():
                process.terminate()
            pool.shutdown(cancel_futures=True)

    def _run_for_rank(self, rank: int, local_rank: int = 0, node_rank: int = -1) -> PipelineStats:
        """Mine a shard without datatrove's log, whose tracebacks would hide what the stage says of a fault."""
        logger.disable("datatrove")  # in the process that mines the shard
        return super()._run_for_rank(rank, local_rank, node_rank)


def _start_process() -> None:
    """Let this process of a pool end with the one that started it, even by SIGKILL, and leave Ctrl-C to that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()


def table_path(job: MiningJob, rank: int, table: str, construction: str = "") -> Path:
    """Return the path of a shard's table: of a construction, or of the corpus (counts, faults)."""
    suffix = "json" if table == "counts" else "parquet"
    return Path(job.output) / ".".join(filter(None, (f"{rank:05d}", construction, table, suffix)))


def mine_shard(_data: object, rank: int, _world_size: int, job: MiningJob) -> Iterator[Any]:
    """Mine one shard; datatrove calls this with the number of the task."""
    # One process per shard: more threads would only take the other shards' cores.
    pa.set_cpu_count(1)
    with threadpool_limits(1):
        counts = _mine(job, rank)
    write_json(counts, table_path(job, rank, "counts"))
    return iter(())


def _mine(job: MiningJob, rank: int) -> dict[str, Counter[str]]:
    """Mine one shard; return the counts of each construction and, under the name "", those of the corpus."""
    counts = {"": Counter(shards=1), **{name: Counter() for name in job.patterns}}
    looking = _matchers(tuple((name, job.pipelines[name], one.model_dump_json()) for name, one in job.patterns.items()))
    with ExitStack() as stack:
        faults = stack.enter_context(growing_table(table_path(job, rank, "faults"), SCHEMAS["faults"]))
        tables = {
            (name, table): stack.enter_context(growing_table(table_path(job, rank, table, name), SCHEMAS[table]))
            for name in job.patterns
            for table in ("candidates", "rejects")
        }
        for records, unreadable in read_blocks(job.source, job.source.shards[rank], job.longest_line):
            faults.write_batch(_rows([one._asdict() for one in unreadable], "faults"))
            size = sum(len(record.text.encode()) for record in records)
            counts[""] += Counter(faults=len(unreadable), documents=len(records), bytes_of_text=size)
            for name, findings in search(records, looking, job.most_words).items():
                counts[name].update(findings.counts)
                tables[name, "candidates"].write_batch(_rows(findings.candidates, "candidates"))
                tables[name, "rejects"].write_batch(_rows(findings.rejects, "rejects"))
    return counts


def _rows(rows: list[dict[str, Any]], table: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMAS[table])


@lru_cache(maxsize=2)
def _matchers(wanted: tuple[tuple[str, str, str], ...]) -> dict[str, Matchers]:
    """Load the pipelines once per process, not once per shard.

    Args:
        wanted: Construction, pipeline, and pattern as JSON.
    """
    patterns = {name: Pattern.model_validate_json(pattern) for name, _, pattern in wanted}
    return load_matchers(patterns, {name: pipeline for name, pipeline, _ in wanted})
