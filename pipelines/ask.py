"""ask_<task>: the items of a task, put to an instructed model -> its raw replies, see cxprobe/tasks/<task>/ask.py."""

from types import ModuleType
from typing import Any

from cxprobe.run.running import Outcome, Stage, run_step


def ask(task: ModuleType, stage: Stage[Any]) -> Outcome:
    outcome: Outcome = task.ask(stage)
    return outcome


if __name__ == "__main__":
    run_step(ask, "llms")
