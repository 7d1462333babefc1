"""A stage in a process of its own that begins at once, since it is forked, and ends where a test wants.

A kill comes some calls of functions after the n-th time that the process changes a file of its project, so it can be
repeated.
"""

import os
from pathlib import Path
from typing import NamedTuple

from quick_python import fork

from conftest import ROOT, project_environment

_PATHS = [str(ROOT / path) for path in ("src", "tests", "tests/support")]


class Ended(NamedTuple):
    """How a process ended.

    Attributes:
        code: Its exit code, or minus the number of the signal that ended it.
        changes: How often it changed a file; 0 if it did not come to its end.
        said: What it printed.
    """

    code: int
    changes: int
    said: str


class Kill(NamedTuple):
    """A signal that a process sends to itself.

    Attributes:
        signum: The signal.
        change: How many changes of files have begun, this one included.
        calls: How many functions have returned since this one began.
    """

    signum: int
    change: int
    calls: int


class StageProcess:
    """A script that runs in a folder.

    Attributes:
        number: Of the process.
    """

    def __init__(
        self, folder: Path, script: Path, *arguments: str, kill: Kill | None = None, **environment: str
    ) -> None:
        self._said, self._counted = os.memfd_create("said"), os.memfd_create("counted")
        own = project_environment(ROOT) | {"PYTHONPATH": os.pathsep.join(_PATHS)} | environment
        with Path(os.devnull).open() as nothing:
            files = [nothing.fileno(), self._said, self._said, self._counted]
            self._server, self.number = fork(str(folder), [str(script), *arguments], own, files, kill or Kill(0, 0, 0))

    def wait(self) -> Ended:
        """Wait for its end."""
        with self._server:
            code = os.waitstatus_to_exitcode(int.from_bytes(self._server.recv(8), "big"))
        return Ended(code, int(_read(self._counted) or 0), _read(self._said))


def _read(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(file, errors="replace") as opened:
        return opened.read()
