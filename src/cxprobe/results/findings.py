"""Findings: rates as pages show them, each with the rate of the best baseline on the same items and the verdict."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, isnan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from cxprobe.models.params import Member, earlier_checkpoints, series_of
from cxprobe.results.members import task_members
from cxprobe.results.params import TaskParams
from cxprobe.results.rates import ALL
from cxprobe.results.schema import HALF
from cxprobe.results.verdict import BESIDE_CONTROL, VERDICTS, Verdict
from cxprobe.stats import Estimate

if TYPE_CHECKING:
    from cxprobe.results.inputs import ReportInputs
    from cxprobe.results.task import Task

Question = Literal["form", "meaning", "words", "used"]
QUESTIONS: Mapping[Question, str] = {
    "form": "Does it recognise the form?",
    "meaning": "Does it expect the meaning?",
    "words": "Does it say so?",
    "used": "Does it use what can be read from it?",
}
ASKED: Mapping[Question, str] = {"form": "about the form", "meaning": "about the meaning", "words": "in words"}
_WORDS = {**VERDICTS, **BESIDE_CONTROL}
_PLACE = ["construction", "source", "facet", "level", "measure", "model"]
PREFERENCE = VERDICTS["preference"]
SMOKE_TEST = VERDICTS["smoke_test"]
NO_RATE = VERDICTS["no_rate"]
CANNOT_BE_TOLD = BESIDE_CONTROL["cannot_be_told"]
FOUND = (VERDICTS["above_baseline"], BESIDE_CONTROL["knows"])


class Baseline(NamedTuple):
    """The best baseline on the items of a finding."""

    model: str
    rate: Estimate


@dataclass(frozen=True)
class Finding:
    """The rate of one model on one kind of items of one construction.

    Attributes:
        task: The task.
        construction: Its folder.
        model: The slug.
        question: The column of the overview that it belongs to.
        way: The kind of items, such as "minimal pairs".
        rate: The share of right answers; None where no rate sums them up.
        baseline: The best baseline on the same kind of items; None if none ran.
        table: The table that has the rate, relative to results/, without suffix.
        chance: The rate of a guess, in [0, 1].
        source: Where the items come from, as runs in MLflow name it.
        run: The name of the construction in runs of MLflow; "" for its folder. Pairs of form have a name of their own.
        headline: Whether it stands in the overview.
        counted: Whether the overview counts it among the constructions that a model knows or not; a placebo is none.
        note: A remark on the rate.
        preference: The evidence of a fixed preference of the model; "" for none.
        control: The rate of the control; None where there is none.
        clusters: The number of independent groups that the items come from; None where that is not known.
        verdict: The verdict on the rate.
        detectable: The difference from the best baseline that would have been found four times in five, in (0, 1];
            NaN if none would, None where it was not tested.
    """

    task: str
    construction: str
    model: str
    question: Question
    way: str
    rate: Estimate | None
    baseline: Baseline | None
    table: str
    chance: float = HALF
    source: str = "own"
    run: str = ""
    headline: bool = True
    counted: bool = True
    note: str = ""
    preference: str = ""
    control: Estimate | None = None
    clusters: int | None = None
    verdict: Verdict = NO_RATE
    detectable: float | None = None

    @property
    def power(self) -> str:
        """Where nothing was found, the difference from the best baseline that would have been; "" elsewhere."""
        if self.detectable is None or self.verdict in (*FOUND, SMOKE_TEST, NO_RATE):
            return ""
        if isnan(self.detectable):
            return "too few items"
        return f"a lead of {ceil(100 * self.detectable)} points would be found"


@dataclass
class ReportModels:
    """The models of a run, and which of them are shown.

    Attributes:
        members: Slug -> the model, in the order of params.yaml.
        earlier: Checkpoints of a training without the last, which stand in the curves alone.
        mocks: Models that answer without a model: they try the pipeline, and are shown beside no other.
        baseline: Models that cannot know a construction.
        random_controls: Models with the architecture of another and random weights.
        shown: The models that the report is about: trained, no mock models, and of a training the last checkpoint.
    """

    members: Mapping[str, Member]
    earlier: list[str] = field(default_factory=list)
    mocks: list[str] = field(default_factory=list)
    baseline: list[str] = field(default_factory=list)
    random_controls: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, sections: Mapping[str, TaskParams]) -> "ReportModels":
        """Return the models of all tasks that run.

        Args:
            sections: Task -> what its stages read of params.yaml.
        """
        models = cls({member.slug: member for params in sections.values() for member in task_members(params)})
        earlier = set[str]()
        for params in sections.values():
            earlier |= earlier_checkpoints(series_of(params.models, params.of_task.models))
        for slug, member in models.members.items():
            if slug in earlier:
                models.earlier.append(slug)
            elif member.is_mock:
                models.mocks.append(slug)
            elif member.is_baseline:
                models.baseline.append(slug)
            elif member.state == "trained":
                models.shown.append(slug)
            else:
                models.random_controls.append(slug)
        return models

    @property
    def with_pages(self) -> list[str]:
        """Models that have a page of their own."""
        return [*self.shown, *self.random_controls]

    def label(self, slug: str) -> str:
        """Return the name of a model for people."""
        return self.members[slug].label if slug in self.members else slug

    def question(self, model: str, question: Question) -> Question:
        """Return the question that a model answers: "words" for one that is prompted, whatever the items are about."""
        return "words" if model in self.members and self.members[model].is_asked else question


def findings_of_rates(task: "Task", inputs: "ReportInputs", models: ReportModels) -> Iterator[Finding]:
    """Yield the rates of a task that have a verdict and a place on pages, with the best baseline beside each.

    Args:
        task: The task.
        inputs: The results of the run.
        models: The models of the run.
    """
    every = {tuple(row[name] for name in _PLACE): row for row in inputs.rates(task.name).to_dict("records")}
    for place, row in every.items():
        if not row["verdict"] or row["construction"] == ALL:
            continue
        construction = task.params.construction_of(row["construction"])
        label = task.row_label(row, inputs.items_of(construction, task.name))
        if not label:
            continue
        of_baseline = every.get((*place[:-1], row["baseline"])) or task.baseline(row, inputs)
        yield Finding(
            task.name,
            construction,
            row["model"],
            models.question(row["model"], task.question),
            label,
            estimate_of(row),
            Baseline(row["baseline"], estimate_of(of_baseline)) if of_baseline else None,
            task.accuracy,
            chance=float(row["chance"]),
            source=row["source"],
            run=row["construction"],
            headline=task.in_overview(row, inputs, models),
            counted=not inputs.is_placebo(construction),
            note=task.note(row, inputs),
            preference=task.preference(row, inputs) if row["verdict"] == "preference" else "",
            control=None if pd.isna(row["control"]) else estimate_of(row, "control", "control_"),
            verdict=_WORDS[row["verdict"]],
            detectable=None if pd.isna(row["p_adjusted"]) else float(row["detectable"]),
        )


def estimate_of(row: Mapping[Any, Any], value: str = "value", others: str = "") -> Estimate:
    """Return a rate of a row with its interval and number of items.

    Args:
        row: A row of the rates.
        value: The column of the rate.
        others: What the names of the columns low, high and n begin with.
    """
    low, high, n = (row[f"{others}{name}"] for name in ("low", "high", "n"))
    return Estimate(float(row[value]), float(low), float(high), int(n))


def grouped_rows(table: pd.DataFrame, *by: str) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Yield the values of columns with their rows, in the table's order; nothing for a table that is absent."""
    if len(table):
        yield from ((tuple(map(str, key)), rows) for key, rows in table.groupby(list(by), sort=False))
