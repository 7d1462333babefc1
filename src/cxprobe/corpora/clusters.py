"""Mining on a Slurm cluster: datatrove's executor, with what was found missing when parts of it failed."""

import hashlib
import math
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from datatrove.executor import SlurmPipelineExecutor

from cxprobe.errors import DataError

_POLLS = (1.0, 30.0)  # seconds between two looks at a cluster's jobs: the first, and the most
_SILENT = 1800.0  # seconds without an answer of Slurm's controller after which the stage ends
_SETTLE = 75.0  # seconds for markers to arrive after the last job has ended: a shared disk may show them a minute late
# States of a job of Slurm that are not an end, as squeue writes them.
_ACTIVE = {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "STAGE_OUT", "SIGNALING"}
_ACTIVE |= {"RESIZING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
# Why a pending job will never begin, unless somebody changes it.
_FOR_EVER = {"AccountNotAllowed", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount", "InvalidQOS"}
_FOR_EVER |= {"JobHeldAdmin", "JobHoldMaxRequeue", "launch_failed_requeued_held", "PartitionTimeLimit"}
_FOR_EVER |= {"AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"}


class _Task(NamedTuple):
    """A task of an array of jobs: the array's id and its number in it, its state, and why it waits."""

    array: str
    number: str
    state: str
    reason: str


class SlurmExecutor(SlurmPipelineExecutor):  # type: ignore[misc]
    """Mines on a Slurm cluster by arrays of jobs, whose name is that of what is mined and where it is put.

    datatrove submits a further job that merges statistics: nobody reads them, the job writes into a folder that the
    stage removes, and it stays in the queue forever where a task failed. That job is left out.
    """

    def __init__(self, *, shards: Sequence[str], **settings: Any) -> None:
        super().__init__(tasks=len(shards), **settings)
        self.shards = tuple(shards)
        self.job_name = f"cxprobe-{hashlib.sha256(self.logging_dir.path.encode()).hexdigest()[:12]}"

    def mine(self) -> None:
        """Submit the shards that are left and wait until the last job has ended.

        Jobs of an earlier run, one that was killed, work on: they are waited for first, so that no shard is mined by
        two jobs at once.

        Raises:
            DataError: Slurm is not there, does not take or never begins the jobs, or they left shards unfinished.
        """
        try:
            subprocess.run(["squeue", "--noheader", "--me"], stdout=subprocess.DEVNULL, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as fault:
            raise DataError(
                f"mining.engine: Slurm does not answer ({fault}); run the stage on a machine from which jobs are "
                "submitted, or set engine.kind to local"
            ) from None
        self._wait(set())
        if not self.get_incomplete_ranks():
            return
        before = {(task.array, task.number) for task in self._tasks() or ()}
        self._submit()
        ended = self._wait(before)
        # A shared disk shows markers late, except those of tasks that failed, which never come.
        end = time.monotonic() + _SETTLE
        while len(self.get_incomplete_ranks()) > sum(ended.values()) and time.monotonic() < end:
            time.sleep(_POLLS[0])
        states = ", ".join(f"{number} {state}" for state, number in sorted(ended.items()))
        limits = f"engine.time is {self.time}, engine.memory_gb {self.mem_per_cpu_gb}"
        why = f"; Slurm ended tasks as {states}{self._fault_in_log()}; {limits}" if ended else ""
        if left := self.get_incomplete_ranks():
            names = ", ".join(self.shards[rank] for rank in left[:5]) + (" ..." if len(left) > 5 else "")
            folder = self.logging_dir.path
            raise DataError(
                f"{len(left)} of {len(self.shards)} shards were not finished ({names}){why}. Logs are in {folder}/logs "
                f"and {folder}/slurm_logs. Run the stage again: it goes on with what is left"
            )

    def launch_merge_stats(self) -> None:
        """Submit no further job."""

    def _submit(self) -> None:
        # Slurm's own default of the most tasks of an array is 1001; with 0 there are no arrays, as sbatch says.
        said = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True, check=False).stdout
        limit = re.search(r"^MaxArraySize\s*=\s*(\d+)", said, re.MULTILINE)
        most = (int(limit[1]) if limit else 0) or 1001
        # datatrove gives each array as many tasks as the first, so they share the shards evenly.
        left = len(self.get_incomplete_ranks())
        self.max_array_size = math.ceil(left / math.ceil(left / most))
        try:
            with _outside_of_a_job():
                self.launch_job()
        except subprocess.CalledProcessError as fault:
            raise DataError(
                f"mining.engine: sbatch does not take the jobs (its reason is above; partition "
                f"{self.partition!r}, qos {self.qos!r}, time {self.time!r}, {self.mem_per_cpu_gb} GB, "
                f"{self._sbatch_args}). Correct the engine and run the stage again"
            ) from fault

    def _wait(self, before: set[tuple[str, str]]) -> Counter[str]:
        """Wait for the last job of this name, and return how often tasks that are not in ``before`` failed how."""
        seen: dict[tuple[str, str], str] = {}
        pause, answered = _POLLS[0], time.monotonic()
        while True:
            tasks, now = self._tasks(), time.monotonic()
            if tasks is not None:
                answered = now
                seen |= {(task.array, task.number): task.state for task in tasks}
                active = [task for task in tasks if task.state in _ACTIVE]
                self._check_that_they_can_begin(active)
                if not active:
                    failed = (state for task, state in seen.items() if task not in before and state != "COMPLETED")
                    return Counter(state for state in failed if state not in _ACTIVE)
            elif now - answered > _SILENT:
                raise DataError(
                    f"Slurm's controller has not answered for {(now - answered) / 60:.0f} minutes. Its jobs work on. "
                    "Run the stage again when squeue answers: it waits for them and goes on with what is left"
                )
            time.sleep(pause)
            pause = min(1.5 * pause, _POLLS[1])

    def _tasks(self) -> list[_Task] | None:
        """Return the tasks of this name that Slurm remembers, those that ended minutes ago too; None without answer."""
        command = ["squeue", "--me", "--noheader", "--array", "--states=all", f"--name={self.job_name}"]
        done = subprocess.run([*command, "--format=%F|%K|%T|%r"], capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        return [_Task(*line.split("|", 3)) for line in done.stdout.splitlines() if line.count("|") >= 3]

    def _check_that_they_can_begin(self, active: Sequence[_Task]) -> None:
        """Raise a DataError where jobs wait for what will not come by itself."""
        reasons = {task.reason.strip("()") for task in active} - {"Dependency"}  # on the array before
        if reasons and reasons <= _FOR_EVER:
            arrays = " ".join(sorted({task.array for task in active}, key=int))
            raise DataError(
                f"the jobs {arrays} of Slurm will never begin: {', '.join(sorted(reasons))} (mining.engine has "
                f"partition {self.partition!r}, qos {self.qos!r}, time {self.time!r}). End them by `scancel {arrays}`, "
                "correct the engine, and run the stage again"
            )

    def _fault_in_log(self) -> str:
        """Return what the first unfinished task wrote last of a fault that the user can mend, if one did."""
        for rank in self.get_incomplete_ranks():
            name = f"logs/task_{rank:05d}.log"
            if self.logging_dir.isfile(name):
                with self.logging_dir.open(name) as file:
                    if messages := re.findall(r"errors\.\w+: (.+)", file.read()):
                        return f": {messages[-1]}"
        return ""


@contextmanager
def _outside_of_a_job() -> Iterator[None]:
    """Let what is submitted in the block know nothing of the job in which this stage itself may run.

    Jobs get the variables of the process that submits them; srun would obey those of another job, and reject some.
    """
    about_a_job = re.compile(r"SLURMD?_(?!CONF$)")
    inside = "SLURM_JOB_ID" in os.environ
    hidden = {name: value for name, value in os.environ.items() if inside and about_a_job.match(name)}
    for name in hidden:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(hidden)
