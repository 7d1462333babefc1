"""Evaluate all models of a task; a model that cannot be judged does not stop the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import pandas as pd

from cxprobe.errors import CxprobeError, DataError
from cxprobe.files.writing import DATA
from cxprobe.models.language_models import read_model_facts
from cxprobe.models.params import Member, members_of
from cxprobe.results.comparisons import BEST_BASELINE, best_baseline
from cxprobe.results.params import TaskParams
from cxprobe.results.words import in_full
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import EvaluatedRun, Stage
from cxprobe.stats import Estimate

T = TypeVar("T")


@dataclass
class Judging(Generic[T]):
    """The judged answers of all models of a task.

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

    def run(self, slug: str, settings: Mapping[str, str], **fields: Any) -> EvaluatedRun:
        """Return a run of a model; settings have what params.yaml says about it, fields are of `EvaluatedRun`."""
        member = self.members[slug]
        about = (
            getattr(member.spec, "about", "") if member.state == "trained" else ""
        )  # a random-weights control has that of its model
        said = {**settings, "model_about": about or "unknown"}
        return EvaluatedRun(model=slug, facts=self.facts[slug], settings=said, **fields)

    def show(self, rates: pd.DataFrame) -> None:
        """Print the rates of all models and of the best baseline, so that they are known before the report is made.

        Args:
            rates: Columns model (a slug), part (what the rate is about), accuracy, low, high and n. Models are the rows
                of what is printed, or its columns if there are more parts than models.
        """
        labels = {slug: member.label for slug, member in self.members.items() if not member.is_baseline}
        best = best_baseline(rates, ["part"], [*self.members.values()])
        seeing = rates[rates["model"].isin(labels)].replace({"model": labels}).assign(added="")
        shown = pd.concat([seeing, best.assign(added=" (" + best["model"] + ")", model=BEST_BASELINE)])
        shown = shown.dropna(subset="accuracy")
        shown["rate"] = [
            in_full(Estimate(row["accuracy"], row["low"], row["high"], int(row["n"]))) + row["added"]
            for row in shown.to_dict("records")
        ]
        table = shown.pivot(index="model", columns="part", values="rate").fillna("-")
        table = table.loc[shown["model"].unique(), shown["part"].unique()].rename_axis(index=None, columns=None)
        wide = len(table.columns) > len(table)
        print((table.T if wide else table).to_string().replace("\u00a0", " "), flush=True)


def task_members(params: TaskParams) -> list[Member]:
    """Return all models of a task: those of its list ``models``, then those that are asked in words."""
    section = params.of_task
    return members_of(params.models, section.models, params.llms, getattr(section, "llms", ()))


def evaluate_members(stage: Stage[Any], judge: Callable[[Member, Path], T | None], inside: Path = Path()) -> Judging[T]:
    """Evaluate the answers of all models of a task.

    Args:
        stage: The judging stage.
        judge: Judges a model, given the folder of its answers; returns None if the model has no answers here.
        inside: The subfolder of a model's folder that has the answers, such as that of a benchmark.
    """
    judging = Judging[T]()
    for member in task_members(stage.params):
        step = "ask" if member.is_asked else "measure"
        entry = DATA / f"{step}_{stage.task}" / member.entry
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
