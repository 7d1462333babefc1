"""A corpus shard by shard, on this machine, on Slurm or on Ray: datatrove runs them, and runs none twice."""

import shutil
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

from datatrove.executor import LocalPipelineExecutor, RayPipelineExecutor, SlurmPipelineExecutor
from datatrove.executor.base import PipelineExecutor

from cxprobe.errors import DataError
from cxprobe.mining.shards import Job, mine_shard
from cxprobe.mining_params import Engine, LocalEngine, RayEngine

_POLL = 30  # seconds between two looks at a cluster's jobs
_SETTLE = 5  # looks after the last job has gone, since a network file system may lag behind


def run_shards(job: Job, engine: Engine) -> int:
    """Mine every shard that no earlier run has finished, and return how many those were.

    The markers of finished shards lie beside their results in ``job.output``. A shard is a task of its own, so
    neither the number of workers nor their order can change a result.

    Raises:
        DataError: A shard's storage failed, or a cluster's jobs have ended and left shards unfinished.
    """
    executor = _executor(job, engine)
    left = list(executor.get_incomplete_ranks())
    executor.run()
    _wait(executor, job)
    return len(left)


def _executor(job: Job, engine: Engine) -> PipelineExecutor:
    shared: dict[str, Any] = {
        "pipeline": [partial(mine_shard, job=job)],
        "tasks": len(job.shards),
        "logging_dir": str(Path(job.output) / "datatrove"),
    }
    if isinstance(engine, LocalEngine):
        return LocalPipelineExecutor(**shared, workers=min(engine.workers, len(job.shards)))
    if isinstance(engine, RayEngine):
        return RayPipelineExecutor(**shared, workers=engine.workers, mem_per_cpu_gb=engine.memory_gb)
    return SlurmPipelineExecutor(
        **shared,
        workers=engine.workers,
        partition=engine.partition,
        qos=engine.qos,
        time=engine.time,
        mem_per_cpu_gb=engine.memory_gb,
        env_command=engine.environment,
        sbatch_args=dict(engine.options),
        job_name="cxprobe-mining",
        # Each array job waits for the one before, so the last one's end is the end of all.
        max_array_launch_parallel=False,
    )


def _wait(executor: PipelineExecutor, job: Job) -> None:
    """Wait until every shard is finished; on this machine and on Ray they are when the executor comes back."""
    looks = 0
    while left := executor.get_incomplete_ranks(skip_completed=True):
        running = isinstance(executor, SlurmPipelineExecutor) and _is_queued(str(executor.job_id))
        looks = 0 if running else looks + 1
        if looks > _SETTLE or not isinstance(executor, SlurmPipelineExecutor):
            names = ", ".join(job.shards[rank] for rank in left[:5])
            raise DataError(
                f"{len(left)} of {len(job.shards)} shards were not finished ({names} ...); their logs are in "
                f"{job.output}/datatrove/logs. Run the stage again: it goes on with what is left"
            )
        time.sleep(_POLL)


def _is_queued(job: str) -> bool:
    squeue = shutil.which("squeue")
    if squeue is None:
        return False
    done = subprocess.run([squeue, "-h", "-j", job], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip())
