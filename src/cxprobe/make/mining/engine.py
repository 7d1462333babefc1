"""A corpus shard by shard, on this machine, on Slurm or on Ray: datatrove runs them, and runs none twice."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Event, Thread
from typing import Any

from datatrove.executor import LocalPipelineExecutor
from datatrove.executor.base import PipelineExecutor
from datatrove.utils.logging import logger
from datatrove.utils.stats import PipelineStats

from cxprobe.errors import DataError
from cxprobe.make.mining.clusters import RayExecutor, SlurmExecutor
from cxprobe.make.mining.shards import Job, mine_shard
from cxprobe.params import Engine, LocalEngine, RayEngine

_LOOK = 2.0  # seconds between two counts of finished shards


class _LocalExecutor(LocalPipelineExecutor):  # type: ignore[misc]
    """Mines shards in processes of this machine.

    datatrove's own pool waits for ever if the system ends one of its processes, as it does where memory is short.
    """

    def run(self) -> None:
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
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def count_finished(job: Job, engine: Engine) -> int:
    """Return how many shards an earlier run has finished."""
    return len(job.shards) - len(_executor(job, engine).get_incomplete_ranks())


def run_shards(job: Job, engine: Engine, progress: Callable[[int], object] | None = None) -> int:
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
        if isinstance(executor, _LocalExecutor):
            executor.run()
        else:
            executor.mine()
    return left


@contextmanager
def _counted(executor: PipelineExecutor, left: int, progress: Callable[[int], object] | None) -> Iterator[None]:
    """Report finished shards while the block runs; a thread counts them, since no executor reports any."""
    if progress is None:
        yield
        return
    ended = Event()

    def count(before: int) -> None:
        while True:
            last = ended.wait(_LOOK)
            now = len(executor.get_incomplete_ranks(skip_completed=True))
            progress(before - now)
            before = now
            if last:
                return

    counter = Thread(target=count, args=(left,), daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join()


def _executor(job: Job, engine: Engine) -> _LocalExecutor | RayExecutor | SlurmExecutor:
    shared: dict[str, Any] = {
        "pipeline": [partial(mine_shard, job=job)],
        "logging_dir": str(Path(job.output) / "datatrove"),
    }
    if isinstance(engine, LocalEngine):
        return _LocalExecutor(**shared, tasks=len(job.shards), workers=min(engine.workers, len(job.shards)))
    if isinstance(engine, RayEngine):
        return RayExecutor(**shared, shards=job.shards, workers=engine.workers, mem_per_cpu_gb=engine.memory_gb)
    return SlurmExecutor(
        **shared,
        shards=job.shards,
        workers=engine.workers,
        partition=engine.partition,
        qos=engine.qos,
        time=engine.time,
        mem_per_cpu_gb=engine.memory_gb,
        env_command=engine.environment,
        sbatch_args=dict(engine.options),
    )
