"""Findings: one rate of one model, that of the best baseline on the same items, and what the two say together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, isnan
from typing import Literal, NamedTuple

import pandas as pd

from cxprobe.models.params import Member, earlier_checkpoints, series_of
from cxprobe.results.members import task_members
from cxprobe.results.params import TaskParams
from cxprobe.results.schema import HALF
from cxprobe.results.verdict import BESIDE_CONTROL, VERDICTS, Verdict
from cxprobe.stats import Estimate

Question = Literal["form", "meaning", "words", "used"]
QUESTIONS: Mapping[Question, str] = {
    "form": "Does it recognise the form?",
    "meaning": "Does it expect the meaning?",
    "words": "Does it say so?",
    "used": "Does it use what can be read from it?",
}
ASKED: Mapping[Question, str] = {"form": "about the form", "meaning": "about the meaning", "words": "in words"}


ABOVE_BASELINE = VERDICTS["above_baseline"]
PREFERENCE = VERDICTS["preference"]
SMOKE_TEST = VERDICTS["smoke_test"]
NO_RATE = VERDICTS["no_rate"]
KNOWS = BESIDE_CONTROL["knows"]
CANNOT_BE_TOLD = BESIDE_CONTROL["cannot_be_told"]
FOUND = (ABOVE_BASELINE, KNOWS)


class Baseline(NamedTuple):
    """The best baseline on the items of a finding."""

    model: str
    rate: Estimate


@dataclass(frozen=True)
class Finding:
    """What one model gets on one kind of items of one construction.

    Attributes:
        task: The task.
        construction: Its folder.
        model: The slug.
        question: The column of the overview that it belongs to.
        way: How it was asked, such as "minimal pairs".
        rate: The share of right answers; None where no rate sums them up.
        baseline: The best baseline on the same kind of items; None if none ran.
        table: The table that has the rate, relative to results/, without suffix.
        chance: What a model without any knowledge gets, in [0, 1].
        source: Where the items come from, as runs in MLflow name it.
        run: What runs in MLflow call the construction where it is not its folder, as for its pairs of form; else "".
        headline: Whether it stands in the overview.
        counted: Whether the overview counts it among the constructions that a model knows or not; a placebo is none.
        note: What else is to be said of the rate.
        preference: What shows that the model has a fixed preference; "" if nothing does.
        control: The rate of the control; None where there is none.
        clusters: How many independent groups the items come from; None where that is not known.
        verdict: What the rate says.
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
        random_controls: Models with the architecture of another, and weights that know nothing.
        shown: What the report is about: trained, no mock models, and of a training the last checkpoint.
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
        members = {member.slug: member for params in sections.values() for member in task_members(params)}
        earlier = set[str]()
        for params in sections.values():
            earlier |= earlier_checkpoints(series_of(params.models, params.of_task.models))
        cast = cls(members)
        for slug, member in members.items():
            if slug in earlier:
                cast.earlier.append(slug)
            elif member.is_mock:
                cast.mocks.append(slug)
            elif member.is_baseline:
                cast.baseline.append(slug)
            elif member.state == "trained":
                cast.shown.append(slug)
            else:
                cast.random_controls.append(slug)
        return cast

    @property
    def with_pages(self) -> list[str]:
        """Models that have a page of their own."""
        return [*self.shown, *self.random_controls]

    def label(self, slug: str) -> str:
        """Return the name of a model for people."""
        return self.members[slug].label if slug in self.members else slug

    def question(self, model: str, tests: str) -> Question:
        """Return the question that a model answers: one that answers in words says so, whatever is tested."""
        if model in self.members and self.members[model].is_asked:
            return "words"
        return "form" if tests == "form" else "meaning"


def grouped_rows(table: pd.DataFrame, *by: str) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Give the values of columns with their rows, in the table's order; nothing for a table that is absent."""
    if len(table):
        yield from ((tuple(map(str, key)), rows) for key, rows in table.groupby(list(by), sort=False))
