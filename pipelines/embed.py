"""embed_<task>: the items of a task and a model -> its vectors, as cxprobe/tasks/<task>/embed.py takes them.

They are an output of their own, so that whoever pulls them changes probes without reading a text again.
"""

from functools import partial
from types import ModuleType
from typing import Any

from cxprobe.models.measuring import measure_members
from cxprobe.run.running import Outcome, Stage, run_step


def embed(task: ModuleType, stage: Stage[Any]) -> Outcome | None:
    return measure_members(stage, partial(task.embed, stage))


if __name__ == "__main__":
    run_step(embed, "models")
