"""measure_<task>: the items of a task and a model -> its raw answers, as cxprobe/tasks/<task>/measure.py takes them.

An entry of models may stand for several: a series, or a set of baselines. Each is measured in turn.
"""

from functools import partial
from types import ModuleType
from typing import Any

from cxprobe.models.measuring import measure_members
from cxprobe.run.running import Outcome, Stage, run_step


def measure(task: ModuleType, stage: Stage[Any]) -> Outcome | None:
    return measure_members(stage, partial(task.measure, stage))


if __name__ == "__main__":
    run_step(measure, "models")
