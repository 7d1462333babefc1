"""Judging all models of a line of work: what one could not be judged by is its fault, and stops no other."""

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
    """What became of the answers of all models.

    Attributes:
        members: Slug -> a model that was judged.
        facts: Slug -> what the model is.
        judged: Slug -> its judged answers.
        faults: Slug -> why a model could not be judged; it is in nothing else.
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
        judge: Judges a model, given the folder of its answers; None where it was not asked about anything here.
        measured: The step that has measured the models; those that answer in words were asked by the step "ask".
        inside: The folder of the answers within that of a model, such as that of a benchmark.
    """
    judging = Judging[T]()
    for member in line_members(stage.params):
        entry = DATA / f"{'ask' if member.is_asked else measured}_{stage.line}" / member.entry
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
        judging.members[member.slug], judging.facts[member.slug] = member, facts
        judging.judged[member.slug] = judged
    return judging
