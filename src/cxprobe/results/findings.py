"""Findings: the rates that have a verdict, each beside its baseline, its control and its other conditions."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Literal, NamedTuple, cast

import pandas as pd

from cxprobe.models.params import Member, earlier_checkpoints, series_of
from cxprobe.results.params import TaskParams, task_members
from cxprobe.results.rates import ALL
from cxprobe.results.schema import facet_columns
from cxprobe.results.verdict import CONDITION, EVERY_VERDICT, Effects, Verdict, effects_of
from cxprobe.stats import Estimate, Mean

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
    """The rate of one model on one kind of items of one construction, which answers a question.

    Attributes:
        row: Its row of the rates, see `cxprobe.results.schema.RATES`.
        construction: Its folder; the row may name a kind of items of the construction.
        way: The kind of items, such as "minimal pairs".
        baseline: None if none ran.
        effects: Of a contrast: what a verdict tests, in nats; else None.
        headline: Whether it stands on the first page.
    """

    row: Mapping[Any, Any]
    construction: str
    way: str
    baseline: Baseline | None
    effects: Effects | None = None
    headline: bool = True

    @property
    def task(self) -> str:
        """The task."""
        return str(self.row["task"])

    @property
    def model(self) -> str:
        """The slug of the model."""
        return str(self.row["model"])

    @property
    def question(self) -> Question:
        """The question that it answers."""
        return cast(Question, self.row["question"])

    @property
    def rate(self) -> Estimate:
        """The share of right answers, or of frames whose contrast is above 0."""
        return estimate_of(self.row)

    @property
    def control(self) -> Estimate | None:
        """The rate of the control; None where there is none."""
        return None if pd.isna(self.row["control"]) else estimate_of(self.row, "control", "control_")

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return EVERY_VERDICT[self.row["verdict"]]

    @property
    def unit(self) -> str:
        """What is counted."""
        return "frames" if self.effects else "items"


class ReportModels(NamedTuple):
    """The models of a run, and which of them are shown.

    Attributes:
        members: Slug -> the model, in the order of params.yaml.
        earlier: Checkpoints of a training without the last, which stand in the curves alone.
        mocks: Models that answer without a model: they try the pipeline, and are shown beside no other.
        baseline: Models that cannot know a construction.
        random_controls: Models with the architecture of another and random weights.
        under_methods: Trained models that try the methods, as ``report.under_methods`` names them.
        shown: The models that the report is about.
    """

    members: Mapping[str, Member]
    earlier: Sequence[str] = ()
    mocks: Sequence[str] = ()
    baseline: Sequence[str] = ()
    random_controls: Sequence[str] = ()
    under_methods: Sequence[str] = ()
    shown: Sequence[str] = ()

    @classmethod
    def of(cls, sections: Mapping[str, TaskParams]) -> "ReportModels":
        """Return the models of all tasks that run.

        Args:
            sections: Task -> what its stages read of params.yaml.
        """
        members = {member.slug: member for params in sections.values() for member in task_members(params)}
        earlier, under_methods = set[str](), set[str]()
        for params in sections.values():
            earlier |= earlier_checkpoints(series_of(params.models, params.of_task.models))
            under_methods |= {*params.report.under_methods}
        groups = defaultdict[str, list[str]](list)
        for slug, member in members.items():
            is_of = {
                "earlier": slug in earlier,
                "mocks": member.is_mock,
                "baseline": member.is_baseline,
                "random_controls": member.state != "trained",
                "under_methods": member.entry in under_methods,
                "shown": True,
            }
            groups[next(group for group, is_it in is_of.items() if is_it)].append(slug)
        return cls(members, **groups)

    @property
    def with_pages(self) -> list[str]:
        """Models that have a page of their own."""
        return [*self.shown, *self.under_methods, *self.random_controls]

    def label(self, slug: str) -> str:
        """Return the name of a model for people."""
        return self.members[slug].label if slug in self.members else slug


def findings_in(rates: pd.DataFrame, construction_of: Callable[[str], str]) -> Iterator[Finding]:
    """Yield the rates of a task that have a verdict and answer a question, each beside its baseline.

    Args:
        rates: The rates of one task.
        construction_of: Returns the folder of a construction of the rates.
    """
    rows = rates.to_dict("records")
    names = [*PLACE, *facet_columns(rates), "model"]
    every = {tuple(row[name] for name in names): row for row in rows}
    levels = defaultdict[tuple[str, ...], dict[str, Mean]](dict)
    for row in rows:
        if row.get(CONDITION) and not row.get("wording"):
            levels[row["construction"], row["model"], row["measure"]][row[CONDITION]] = mean_of(row)
    for place, row in every.items():
        if not row["verdict"] or row["question"] not in QUESTIONS or row["construction"] == ALL:
            continue
        beside = every.get((*place[:-1], row["baseline"]))
        best = Baseline(row["baseline"], estimate_of(beside)) if beside else None
        effects = None
        if row.get(CONDITION):
            effects = effects_of(levels[row["construction"], row["model"], "contrast"])
            best = Baseline(row["baseline"], levels[row["construction"], row["model"], row["measure"]][row["baseline"]])
        folder = construction_of(row["construction"])
        yield Finding(row, folder, row["source"], best, effects, row["decides"])


def mean_of(row: Mapping[Any, Any], value: str = "value") -> Mean:
    """Return a mean of a row with its degrees of freedom, n - 1 where the row does not say; see `estimate_of`."""
    return Mean.of(estimate_of(row, value), float(row.get("freedom", nan)))


def lead_findings(findings: Sequence[Finding], models: Sequence[str]) -> list[Finding]:
    """Return the findings of the first page: of each question about a construction, the first that a model has.

    Those of too few items are left out.

    Args:
        findings: Of all models, in the order of tasks; of several rates of one question the first counts, and one with
            a contrast before all others.
        models: The models, in the order in which they are shown.
    """
    first: dict[tuple[str, str, str], Finding] = {}
    for one in sorted(findings, key=lambda one: not one.effects):
        if one.headline and one.model in models and one.row["verdict"] != "smoke_test":
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
