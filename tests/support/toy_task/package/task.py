"""Greetings as a task."""

from collections.abc import Iterator

from cxprobe.tasks.greetings.params import GreetingsParams, GreetingsStage

from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.results.params import ReportParams
from cxprobe.results.task import Demand, Shown, Task, read_demand


class GreetingsTask(Task):
    """Greetings in two orders of words."""

    params = GreetingsStage
    title = "Greetings"

    def check(self, params, faults) -> None:
        """Refuse greetings of nobody."""
        if params and params.section(GreetingsParams).make.names < 1:
            faults.lines.append("params.yaml: greetings.make.names: greet one person or more")

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what each model reads."""
        section = params.section(GreetingsParams)
        items = read_made_table(DATA / "make_greetings" / "items.parquet")
        yield from read_demand(params.models, "measure_greetings", section.models, {*items["good"], *items["bad"]})

    def shown(self, row, rates, items) -> Shown | None:
        """Return the label of the rate of all greetings."""
        return Shown("greetings") if row["decides"] else None
