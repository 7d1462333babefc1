"""Judge all models of a line of work; a model that cannot be judged does not stop the others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from cxprobe.errors import CxprobeError, DataError
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.report.params import LineParams
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import JudgedRun, Stage

T = TypeVar("T")


@dataclass
class Judging(Generic[T]):
    """The judged answers of all models of a line.

    Attributes:
        members: Slug -> the model, if it was judged.
        facts: Slug -> the facts about it.
        judged: Slug -> its judged answers.
        faults: Slug -> why a model could not be judged. Such a model is in no other mapping.
    """

    members: dict[str, Member] = field(default_factory=dict)
    facts: dict[str, ModelFacts] = field(default_factory=dict)
    judged: dict[str, T] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def run(self, slug: str, **fields: Any) -> JudgedRun:
        """Return a run of a model; the fields are those of `JudgedRun`."""
        return JudgedRun(model=slug, facts=self.facts[slug], **fields)


def line_members(params: LineParams) -> list[Member]:
    """Return all models of a line: those of its list ``models``, then those that are asked in words."""
    section = params.of_line
    return members_of(params.models, section.models, params.llms, getattr(section, "llms", ()))


def judge_members(
    stage: Stage[Any], judge: Callable[[Member, Path], T | None], measured: str = "score", inside: Path = Path()
) -> Judging[T]:
    """Judge the answers of all models of a line.

    Args:
        stage: The judging stage.
        judge: Judges a model, given the folder of its answers; returns None if the model has no answers here.
        measured: The step that measured the models. For models that are asked in words it is always "ask".
        inside: The subfolder of a model's folder that has the answers, such as that of a benchmark.
    """
    judging = Judging[T]()
    for member in line_members(stage.params):
        step = "ask" if member.is_asked else measured
        entry = DATA / f"{step}_{stage.line}" / member.entry
        folder = entry / member.inside / inside
        try:
            stage.use(entry)
            judged = judge(member, folder)
            if judged is None:
                continue
            facts = read_model_facts(folder)
            if facts.state != member.state:
                raise DataError(
                    f"{folder}: model.json says that the weights of {member.slug} are '{facts.state}', and params.yaml "
                    f"that they are '{member.state}'; run `dvc repro`"
                )
        except CxprobeError as fault:
            judging.faults[member.slug] = str(fault)
            continue
        judging.members[member.slug] = member
        judging.facts[member.slug] = facts
        judging.judged[member.slug] = judged
    return judging
