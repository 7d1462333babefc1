"""What a process of a test does: it runs a script as Python would, and sends itself a signal where the test wants.

It imports nothing that takes time: a new process begins with it.
"""

import gc
import multiprocessing.process
import os
import runpy
import sys
from ctypes import c_int
from pathlib import Path
from typing import NamedTuple

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink")


class Kill(NamedTuple):
    """A signal that a process sends to itself.

    Attributes:
        signum: The signal.
        change: How many changes of files have begun, this one included; 0 is the beginning.
        calls: How many functions have returned since this one began.
    """

    signum: int
    change: int
    calls: int


NONE = Kill(0, -1, 0)


def run_script(
    folder: Path, arguments: list[str], environment: dict[str, str], said: str, kill: Kill, changes: c_int
) -> None:
    """Run a script, as `python script arguments` would.

    Args:
        folder: In which it runs.
        arguments: The script and what it is given.
        environment: All of it; its PYTHONPATH comes before what this process can import.
        said: The file that gets standard output and error.
        kill: The signal, or `NONE`.
        changes: Gets how often the process changed a file below the folder.
    """
    gc.freeze()  # else each collection copies the pages of all packages
    output = os.open(said, os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(output, number)
    os.chdir(folder)
    multiprocessing.process.ORIGINAL_DIR = str(folder)  # where processes that the script starts look for it
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0:1] = [str(Path(arguments[0]).resolve().parent), *environment["PYTHONPATH"].split(os.pathsep)]
    sys.argv = arguments

    def see(event: str, happens: tuple) -> None:
        """See an event of Python's; it is about to happen."""
        if event in _CHANGES or (event == "open" and _writes(*happens)):
            path = Path() if isinstance(happens[0], int) else Path(os.fsdecode(happens[0]))
            if (Path.cwd() / path).is_relative_to(folder):
                changes.value += 1
                kill_after_calls()

    def kill_after_calls() -> None:
        """Send the signal once enough functions have returned, if this is its change."""
        returned = 0

        def count(_frame: object, event: str, _value: object) -> None:
            nonlocal returned
            returned += event in ("return", "c_return")
            if returned > kill.calls:
                sys.setprofile(None)
                os.kill(os.getpid(), kill.signum)

        if changes.value == kill.change:
            sys.setprofile(count)

    sys.addaudithook(see)
    kill_after_calls()
    runpy.run_path(arguments[0], run_name="__main__")


def _writes(path: object, mode: str | None, flags: int) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and bool(flags & (os.O_WRONLY | os.O_RDWR))
