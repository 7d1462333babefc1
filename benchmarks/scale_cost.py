"""What a command costs: processor time of it and of its children, and the most memory that it had."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """What a command has cost.

    Attributes:
        processor: Seconds of processor time, children included.
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
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with {process.returncode}:\n{output}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss * 1024, output)
