"""What a command costs: processor time, with all processes that it starts, and the most memory of one of them."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

import psutil

_LOOK = 0.5  # seconds between two looks at the processes


class Cost(NamedTuple):
    """What a command has cost.

    Attributes:
        processor: Seconds of processor time, with all processes that it started; of one that nobody waited
            for, up to the last look at it.
        wall: Seconds that went by; on a shared machine they say little.
        memory: Bytes at most of the largest of its processes.
        output: What it printed.
    """

    processor: float
    wall: float
    memory: int
    output: str


def cost_of(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command in a folder and return what it has cost.

    Raises:
        RuntimeError: It failed; the message has what it printed.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    seen, ended = dict[tuple[int, float], float](), Event()
    watcher = Thread(target=_watch, args=(process.pid, seen, ended), daemon=True)
    watcher.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    ended.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with {process.returncode}:\n{output}")
    waited_for = usage.ru_utime + usage.ru_stime
    return Cost(max(waited_for, sum(seen.values())), time.perf_counter() - start, usage.ru_maxrss * 1024, output)


def _watch(pid: int, seen: dict[tuple[int, float], float], ended: Event) -> None:
    """Note the processor time of a process and of all below it, by number and beginning, until it has ended.

    Its own usage lacks those whose parent it is not, such as the workers of multiprocessing's fork server.
    """
    while not ended.wait(_LOOK):
        try:
            every = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        for one in every:
            try:
                times = one.cpu_times()
                seen[one.pid, one.create_time()] = times.user + times.system
            except psutil.NoSuchProcess:
                continue
