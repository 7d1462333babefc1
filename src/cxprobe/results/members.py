"""The models of a task, and the evaluation of each: one that cannot be evaluated does not stop the others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import CxprobeError, DataError
from cxprobe.files.writing import DATA
from cxprobe.models.language_models import read_model_facts
from cxprobe.models.params import Member, members_of
from cxprobe.results.params import TaskParams
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Stage


@dataclass
class EvaluatedModels:
    """The evaluated models of a task.

    Attributes:
        members: Slug -> a model that could be evaluated.
        facts: Slug -> the facts about it.
        responses: Slug -> its responses.
        faults: Slug -> why a model could not be evaluated. Such a model is in no other mapping.
    """

    members: dict[str, Member] = field(default_factory=dict)
    facts: dict[str, ModelFacts] = field(default_factory=dict)
    responses: dict[str, pd.DataFrame] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


def task_members(params: TaskParams) -> list[Member]:
    """Return all models of a task: those of its list ``models``, then those that are prompted."""
    section = params.of_task
    return members_of(params.models, section.models, params.llms, getattr(section, "llms", ()))


def evaluate_members(
    stage: Stage[Any], responses_of: Callable[[Member, Path], pd.DataFrame | None], inside: Path = Path()
) -> EvaluatedModels:
    """Evaluate the answers of all models of a task.

    Args:
        stage: The evaluating stage.
        responses_of: Returns the responses of a model, given the folder of its answers; None if it has no answers here.
        inside: The subfolder of a model's folder that has the answers, such as that of a benchmark.
    """
    evaluated = EvaluatedModels()
    for member in task_members(stage.params):
        step = "ask" if member.is_asked else "measure"
        entry = DATA / f"{step}_{stage.task}" / member.entry
        folder = entry / member.inside / inside
        try:
            stage.use(entry)
            responses = responses_of(member, folder)
            if responses is None:
                continue
            facts = read_model_facts(folder)
            if facts.state != member.state:
                raise DataError(
                    f"{folder}: model.json says that the weights of {member.slug} are '{facts.state}', and params.yaml "
                    f"that they are '{member.state}'; run `dvc repro`"
                )
        except CxprobeError as fault:
            evaluated.faults[member.slug] = str(fault)
            continue
        evaluated.members[member.slug] = member
        evaluated.facts[member.slug] = facts
        evaluated.responses[member.slug] = responses
    return evaluated
