"""The list of tasks. No other module names them; it is one of its own, so that a task's stage imports no other task."""

from collections.abc import Mapping

from cxprobe.results.task import Task
from cxprobe.run.record import Experiments
from cxprobe.tasks.contrasts.task import ContrastsTask
from cxprobe.tasks.interventions.task import InterventionsTask
from cxprobe.tasks.pairs.task import PairsTask
from cxprobe.tasks.prompts.task import PromptsTask
from cxprobe.tasks.recognition.task import RecognitionTask
from cxprobe.tasks.scenarios.task import ScenariosTask

TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        ContrastsTask(),
        PairsTask(),
        RecognitionTask(),
        ScenariosTask(),
        PromptsTask(),
        InterventionsTask(),
    )
}
"""Name of a task, of its section of params.yaml, and of its package -> the task.

Of several rates that answer the same question, the report's first page has that of the first task.
"""


def all_experiments() -> Experiments:
    """Return the experiments of MLflow of all tasks."""
    return {name: experiment for task in TASKS.values() for name, experiment in task.experiments.items()}
