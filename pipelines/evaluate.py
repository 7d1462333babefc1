"""evaluate_<task>: the raw answers of all models -> responses, rates, comparisons, verdicts, and the runs of MLflow.

A subclass of `cxprobe.results.evaluate.Evaluation` in cxprobe/tasks/<task>/evaluate.py has the particulars of the task.
"""

from types import ModuleType
from typing import Any

from cxprobe.results.evaluate import evaluate_task
from cxprobe.run.running import Outcome, Stage, run_step


def evaluate(task: ModuleType, stage: Stage[Any]) -> Outcome:
    return evaluate_task(getattr(task, f"{stage.task.capitalize()}Evaluation")(stage))


if __name__ == "__main__":
    run_step(evaluate)
