"""Greetings as a line of work."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from cxprobe.greetings.params import GreetingsParams, GreetingsStage

from cxprobe.files.writing import DATA
from cxprobe.report.answers import cluster_lists, other_where_wrong, read_made_table
from cxprobe.report.findings import Finding, ReportModels, grouped_rows, rate_of
from cxprobe.report.inputs import ReportInputs
from cxprobe.report.line import Demand, Line, read_demand
from cxprobe.report.params import ReportParams


class GreetingsLine(Line):
    """Greetings in two orders of words."""

    params = GreetingsStage
    title = "Greetings"
    asked_by = "by greetings"
    steps = ("make",)

    def check_params(self, params, faults) -> None:
        """Refuse greetings of nobody."""
        if params.section(GreetingsParams).make.names < 1:
            faults.lines.append("params.yaml: greetings.make.names: greet one person or more")

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads."""
        section = params.section(GreetingsParams)
        items = read_made_table(DATA / "make_greetings" / "items.parquet")
        yield from read_demand(params.models, "score_greetings", section.models, {*items["good"], *items["bad"]})

    def findings(self, inputs: ReportInputs, models: ReportModels) -> Iterator[Finding]:
        """Yield the rate of each model."""
        for (construction,), rows in grouped_rows(inputs.table(self.accuracy), "construction"):
            for _, row in rows.iterrows():
                yield Finding(
                    self.name, construction, str(row["model"]), "form", "greetings", rate_of(row), None, self.accuracy
                )

    def answers(self, params: ReportParams, judged: Path) -> pd.DataFrame:
        """Return every judged greeting."""
        items = read_made_table(judged / "items.parquet")
        return items.assign(
            source="own",
            item=items["id"],
            variant="",
            asked="likelihood",
            scheme="",
            decides=True,
            correct=items["accuracy"],
            chosen=other_where_wrong(items["accuracy"], items["good"], items["bad"]),
            gold=items["good"],
            clusters=cluster_lists(items),
        )
