"""Findings: the rates that have a verdict, each beside its baseline, its control and its other conditions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from cxprobe.models.params import Member, earlier_checkpoints, series_of
from cxprobe.results.params import TaskParams, task_members
from cxprobe.results.rates import ALL
from cxprobe.results.schema import facet_columns
from cxprobe.results.verdict import CONDITION, EVERY_VERDICT, Verdict, effects_of, frames_needed
from cxprobe.stats import Estimate

if TYPE_CHECKING:
    from cxprobe.results.inputs import ConstructionFiles
    from cxprobe.results.task import Task

Question = Literal["form", "meaning", "words", "used"]
QUESTIONS: Mapping[Question, str] = {
    "form": "Does it recognise the form?",
    "meaning": "Does it expect the meaning?",
    "words": "Does it say so?",
    "used": "Does it use what can be read from it?",
}
PLACE = ["construction", "source", "measure"]  # the columns of facets and the model follow


class Baseline(NamedTuple):
    """What a finding is held against: the best baseline on the same items, or another condition of the same model."""

    name: str
    rate: Estimate


@dataclass(frozen=True)
class Finding:
    """The rate of one model on one kind of items of one construction.

    Attributes:
        task: The task.
        construction: Its folder.
        model: The slug.
        question: The question that it answers.
        way: The kind of items, such as "minimal pairs".
        rate: The share of right answers, or of frames whose contrast is above 0.
        chance: The rate of a guess, in [0, 1].
        baseline: None if none ran.
        control: The rate of the control; None where there is none.
        conditions: Of a contrast: condition -> its rate; else empty.
        needed: Of a contrast: how many frames would show that it is like the neutral condition; else None.
        key: The key of the verdict.
        table: The table that has the rate, relative to results/, without suffix.
        source: Where the items come from, as runs in MLflow name it.
        run: The name of the construction in runs of MLflow: pairs of form have a name of their own.
        headline: Whether it stands on the first page.
    """

    task: str
    construction: str
    model: str
    question: Question
    way: str
    rate: Estimate
    chance: float
    baseline: Baseline | None
    control: Estimate | None
    conditions: Mapping[str, Estimate]
    needed: int | None
    key: str
    table: str
    source: str
    run: str
    headline: bool

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return EVERY_VERDICT[self.key]

    @property
    def unit(self) -> str:
        """What is counted."""
        return "frames" if self.conditions else "items"


@dataclass
class ReportModels:
    """The models of a run, and which of them are shown.

    Attributes:
        members: Slug -> the model, in the order of params.yaml.
        earlier: Checkpoints of a training without the last, which stand in the curves alone.
        mocks: Models that answer without a model: they try the pipeline, and are shown beside no other.
        baseline: Models that cannot know a construction.
        random_controls: Models with the architecture of another and random weights.
        under_methods: Trained models that try the instruments, as ``report.under_methods`` names them.
        shown: The models that the report is about.
    """

    members: Mapping[str, Member]
    earlier: list[str] = field(default_factory=list)
    mocks: list[str] = field(default_factory=list)
    baseline: list[str] = field(default_factory=list)
    random_controls: list[str] = field(default_factory=list)
    under_methods: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, sections: Mapping[str, TaskParams]) -> "ReportModels":
        """Return the models of all tasks that run.

        Args:
            sections: Task -> what its stages read of params.yaml.
        """
        models = cls({member.slug: member for params in sections.values() for member in task_members(params)})
        earlier, under_methods = set[str](), set[str]()
        for params in sections.values():
            earlier |= earlier_checkpoints(series_of(params.models, params.of_task.models))
            under_methods |= {*params.report.under_methods}
        for slug, member in models.members.items():
            if slug in earlier:
                models.earlier.append(slug)
            elif member.is_mock:
                models.mocks.append(slug)
            elif member.is_baseline:
                models.baseline.append(slug)
            elif member.state != "trained":
                models.random_controls.append(slug)
            elif member.entry in under_methods:
                models.under_methods.append(slug)
            else:
                models.shown.append(slug)
        return models

    @property
    def with_pages(self) -> list[str]:
        """Models that have a page of their own."""
        return [*self.shown, *self.under_methods, *self.random_controls]

    def label(self, slug: str) -> str:
        """Return the name of a model for people."""
        return self.members[slug].label if slug in self.members else slug


def findings_of(
    rates: Mapping[str, pd.DataFrame], tasks: Mapping[str, "Task"], constructions: "Mapping[str, ConstructionFiles]"
) -> list[Finding]:
    """Return the findings of all tasks.

    Args:
        rates: Task -> its rates, with the columns of `cxprobe.results.schema.RATES`; tasks that did not run are absent.
        tasks: Name -> the task.
        constructions: Folder -> its files.
    """
    return [one for name, table in rates.items() for one in _findings(tasks[name], table, constructions)]


def _findings(task: "Task", rates: pd.DataFrame, constructions: "Mapping[str, ConstructionFiles]") -> Iterator[Finding]:
    rows = rates.to_dict("records")
    names = [*PLACE, *facet_columns(rates), "model"]
    every = {tuple(row[name] for name in names): row for row in rows}
    asked = {row["model"] for row in rows if row["measure"] == "unparsed"}
    levels = defaultdict[tuple[str, ...], dict[str, Estimate]](dict)
    for row in rows:
        if row.get(CONDITION):
            levels[row["construction"], row["model"], row["measure"]][row[CONDITION]] = estimate_of(row)
    for place, row in every.items():
        if not row["verdict"] or row["construction"] == ALL:
            continue
        construction = task.params.construction_of(row["construction"])
        files = constructions[construction]
        items = files.items.get(task.name)
        label = task.row_label(row, items)
        if not label:
            continue
        conditions, baseline, needed = dict[str, Estimate](), None, None
        if row.get(CONDITION):
            conditions = levels[row["construction"], row["model"], row["measure"]]
            baseline = Baseline(row["baseline"], conditions[row["baseline"]])
            effects = effects_of(levels[row["construction"], row["model"], "contrast"])
            needed = frames_needed(effects) if effects else None
        elif of_baseline := every.get((*place[:-1], row["baseline"])) or task.baseline(row, rates):
            baseline = Baseline(row["baseline"], estimate_of(of_baseline))
        yield Finding(
            task.name,
            construction,
            row["model"],
            "words" if row["model"] in asked else task.question_of(row, items),
            label,
            estimate_of(row),
            float(row["chance"]),
            baseline,
            None if pd.isna(row["control"]) else estimate_of(row, "control", "control_"),
            conditions,
            needed,
            row["verdict"],
            task.accuracy,
            row["source"],
            row["construction"],
            not files.construction.placebo and task.in_overview(row, rates, items),
        )


def lead_findings(findings: Sequence[Finding], models: Sequence[str]) -> list[Finding]:
    """Return the findings of the first page: of each question about a construction, the first that a model has.

    Those of too few items are left out.

    Args:
        findings: Of all models, in the order of tasks; of several rates of one question the first counts, and one with
            a contrast before all others.
        models: The models, in the order in which they are shown.
    """
    first: dict[tuple[str, str, str], Finding] = {}
    for one in sorted(findings, key=lambda one: not one.conditions):
        if one.headline and one.model in models and one.key != "smoke_test":
            first.setdefault((one.construction, one.question, one.model), one)
    order = {model: number for number, model in enumerate(models)}
    return sorted(first.values(), key=lambda one: order[one.model])


def estimate_of(row: Mapping[Any, Any], value: str = "value", others: str = "") -> Estimate:
    """Return a rate of a row with its interval and number of items.

    Args:
        row: A row of the rates.
        value: The column of the rate.
        others: What the names of the columns low, high and n begin with.
    """
    low, high, n = (row[f"{others}{name}"] for name in ("low", "high", "n"))
    return Estimate(float(row[value]), float(low), float(high), int(n))
