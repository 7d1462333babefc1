"""make_<task>: the files of a task -> its items, as cxprobe/tasks/<task>/make.py makes them."""

from types import ModuleType
from typing import Any

from cxprobe.run.running import Outcome, Stage, run_step


def make(task: ModuleType, stage: Stage[Any]) -> Outcome:
    outcome: Outcome = task.make(stage)
    return outcome


if __name__ == "__main__":
    run_step(make)
