"""A stage in a process of its own that begins at once, since it is forked from one that has imported the packages.

A kill comes some calls of functions after the n-th time that the process changes a file of its project, so it can be
repeated.
"""

import multiprocessing
import os
import pkgutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from script_process import NONE, Kill, run_script

import cxprobe
from conftest import ROOT, project_environment

_PATHS = [str(ROOT / path) for path in ("src", "tests", "tests/support")]
# What stages import only where they need it.
_LATE = ("mlflow.store.tracking.sqlalchemy_workspace_store", "scipy.stats", "sqlalchemy.dialects.sqlite")
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([*(one.name for one in pkgutil.walk_packages(cxprobe.__path__, "cxprobe.")), *_LATE])


class Ended(NamedTuple):
    """How a process ended.

    Attributes:
        code: Its exit code, or minus the number of the signal that ended it.
        changes: How often it changed a file of its folder.
        said: What it printed.
    """

    code: int
    changes: int
    said: str


class StageProcess:
    """A script that runs in a folder.

    Attributes:
        number: Of the process.
    """

    def __init__(self, folder: Path, script: Path, *arguments: str, kill: Kill = NONE, **environment: str) -> None:
        own = project_environment(ROOT) | {"PYTHONPATH": os.pathsep.join(_PATHS)} | environment
        self._said = tempfile.NamedTemporaryFile()  # noqa: SIM115  # `wait` closes it
        self._changes = _FORKS.Value("i", 0, lock=False)
        given = (folder, [str(script), *arguments], own, self._said.name, kill, self._changes)
        self._process = _FORKS.Process(target=run_script, args=given)
        self._process.start()
        self.number = self._process.pid

    def wait(self) -> Ended:
        """Wait for its end."""
        self._process.join()
        with self._said:
            return Ended(self._process.exitcode, self._changes.value, self._said.read().decode(errors="replace"))
