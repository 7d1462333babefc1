"""The work of a stage, done in this process as its script does it, without DVC."""

import runpy

from conftest import ROOT
from cxprobe.project.params import Params
from cxprobe.run.running import task_step
from cxprobe.run.stage import Outcome, Stage


def do_work(step: str, task: str, params, item: str = "") -> Outcome | None:
    """Do the work of the stage ``<step>_<task>`` in the working directory, with the parameters that it reads."""
    work = runpy.run_path(str(ROOT / "pipelines" / f"{step}.py"))[step]
    read = params.params_of(task) if isinstance(params, Params) else params
    return work(task_step(task, step)[0], Stage(f"{step}_{task}", item, read))
