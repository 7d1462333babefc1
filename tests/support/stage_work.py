"""The work of a stage, done in this process as its script does it, without DVC."""

import runpy
from importlib.util import find_spec

from conftest import ROOT
from cxprobe.project.params import Params
from cxprobe.run.results import write_results
from cxprobe.run.running import task_step
from cxprobe.run.stage import Outcome, Stage

# Step -> the part of a task's section that has its items.
MEASURING = {"embed": "models", "measure": "models", "ask": "llms"}


def script(name: str):
    """Return the function of a script of pipelines/."""
    return runpy.run_path(str(ROOT / "pipelines" / f"{name}.py"))[name]


def do_work(step: str, task: str, params, item: str = "") -> Outcome | None:
    """Do the work of the stage ``<step>_<task>`` in the working directory, with the parameters that it reads."""
    read = params.params_of(task) if isinstance(params, Params) else params
    return script(step)(task_step(task, step)[0], Stage(f"{step}_{task}", item, read))


def has_step(task: str, step: str) -> bool:
    """Return whether a task has a step, as recognition alone has embed."""
    return find_spec(f"cxprobe.tasks.{task}.{step}") is not None


def measure(task: str, params, item: str) -> Outcome | None:
    """Do the work of the stages that ask a model, but for prompts."""
    if has_step(task, "embed"):
        do_work("embed", task, params, item)
    return do_work("measure", task, params, item)


def run(step: str, task: str, params: Params, item: str = "") -> None:
    """Do the work of a stage, and write its results."""
    outcome = do_work(step, task, params, item)
    assert outcome is not None
    assert not outcome.faults, (step, task, item, outcome.faults)
    write_results(Stage(f"{step}_{task}", item, params), outcome)


def measure_and_evaluate(params: Params, task: str) -> None:
    """Run all stages of a task but the first."""
    for step, part in MEASURING.items():
        for item in getattr(getattr(params, task), part, ()) if has_step(task, step) else ():
            run(step, task, params, item)
    run("evaluate", task, params)


def write_report(params: Params) -> None:
    """Write the report of all tasks that ran."""
    stage = Stage("report", "", params)
    write_results(stage, script("report")(stage))
