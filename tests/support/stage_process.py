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


def run_process(folder: Path, script: Path, *arguments: str, kill: Kill = NONE, **environment: str) -> Ended:
    """Run a script in a folder, and wait for its end."""
    own = project_environment(ROOT) | {"PYTHONPATH": os.pathsep.join(_PATHS)} | environment
    changes = _FORKS.Value("i", 0, lock=False)
    with tempfile.NamedTemporaryFile() as said:
        given = (folder, [str(script), *arguments], own, said.name, kill, changes)
        process = _FORKS.Process(target=run_script, args=given)
        process.start()
        process.join()
        return Ended(process.exitcode, changes.value, said.read().decode(errors="replace"))
