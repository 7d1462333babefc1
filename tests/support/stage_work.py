"""The work of a stage, done in this process as its script does it, without DVC."""

import runpy

from conftest import ROOT
from cxprobe.run.stage import Outcome, Stage


def do_work(step: str, task: str, params, item: str = "") -> Outcome | None:
    """Do the work of the stage ``<step>_<task>`` in the working directory, with the parameters that it reads."""
    name = f"{step}_{task}"
    return runpy.run_path(str(ROOT / "pipelines" / step / f"{task}.py"))[name](Stage(name, item, params))
