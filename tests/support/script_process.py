"""What a process of a test does: it runs a script as Python would, and sends itself a signal where the test wants.

It imports nothing that takes time: a new process begins with it.
"""

import gc
import multiprocessing.process
import os
import runpy
import signal
import sys
import traceback
from ctypes import c_int
from pathlib import Path
from typing import NamedTuple, NoReturn

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
) -> NoReturn:
    """Run a script and end this process, as `python script arguments` would.

    Args:
        folder: In which it runs.
        arguments: The script and what it is given.
        environment: All of it; its PYTHONPATH comes before what this process can import.
        said: The file that gets standard output and error.
        kill: The signal, or `NONE`.
        changes: Gets how often the process changed a file below the folder.
    """
    gc.freeze()  # else each collection copies the pages of all packages
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        output = os.open(said, os.O_WRONLY | os.O_APPEND)
        for number in (1, 2):
            os.dup2(output, number)
        os.chdir(folder)
        multiprocessing.process.ORIGINAL_DIR = str(folder)  # where processes that the script starts look for it
        os.environ.clear()
        os.environ.update(environment)
        sys.path[0:1] = [str(Path(arguments[0]).resolve().parent), *environment["PYTHONPATH"].split(os.pathsep)]
        sys.argv = arguments
        seen = _Changes(folder, kill, changes)
        sys.addaudithook(seen.see)
        code = _exit_code(arguments[0], seen)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # nothing may go back to the process that this one was forked from
        traceback.print_exc()
    finally:
        os._exit(code)


def _exit_code(script: str, seen: "_Changes") -> int:
    try:
        seen.count_calls()
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:  # it ends by its signal, as in Python
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


class _Changes:
    """Counts the changes of files below a folder, and sends this process its signal."""

    def __init__(self, folder: Path, kill: Kill, changes: c_int) -> None:
        self._folder, self._kill, self._changes, self._returned = folder, kill, changes, 0

    def see(self, event: str, arguments: tuple) -> None:
        """See an event of Python's; it is about to happen."""
        if event in _CHANGES or (event == "open" and self._writes(*arguments)):
            path = Path() if isinstance(arguments[0], int) else Path(os.fsdecode(arguments[0]))
            if (Path.cwd() / path).is_relative_to(self._folder):
                self._changes.value += 1
                self.count_calls()

    def count_calls(self) -> None:
        """Count from now on the functions that return, if this is the change of the signal."""
        if self._changes.value == self._kill.change:
            sys.setprofile(self._see_return)
            self._see_return(None, "return", None)

    def _see_return(self, _frame: object, event: str, _value: object) -> None:
        if event in ("return", "c_return"):
            self._returned += 1
            if self._returned > self._kill.calls:
                sys.setprofile(None)
                os.kill(os.getpid(), self._kill.signum)

    def _writes(self, path: object, mode: str | None, flags: int) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and bool(flags & (os.O_WRONLY | os.O_RDWR))
