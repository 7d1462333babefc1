"""All that a stage keeps and shows of its searches for the regularisation of one model's probes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.measure.probing.figures import search_figures
from cxprobe.measure.probing.searches import (
    Searches,
    not_searched,
    parameter_importances,
    settings_table,
    trial_records,
    trials_table,
    write_study,
)
from cxprobe.measure.probing.sources import ProbedSource
from cxprobe.params import Member, Source
from cxprobe.records import Trial
from cxprobe.storage import write_table


@dataclass(frozen=True)
class Study:
    """The searches of one model on one construction.

    Attributes:
        model: The model.
        construction: The construction's slug, for titles.
        sources: What was to be searched for; empty if nothing was.
        searches: What was found.
        seed: Of the estimates of the importances.
    """

    model: Member
    construction: str
    sources: Mapping[Source, ProbedSource]
    searches: Searches
    seed: int

    @property
    def counts(self) -> dict[str, int]:
        """How many probes were tuned, how many not for lack of data, and how many settings did not converge."""
        probes = sum(source.probes for source in self.sources.values())
        counts = {"tuned_probes": len(self.searches), "not_tuned_for_lack_of_data": probes - len(self.searches)}
        failed = int(settings_table(self.searches)["not_converged"].sum())
        return {**counts, "not_converged": failed} if self.searches else counts

    def write(self, folder: Path) -> None:
        """Write settings.parquet, without rows if nothing was found; else also trials.parquet and study.db."""
        write_table(settings_table(self.searches), folder / "settings.parquet")
        if self.searches:
            write_table(trials_table(self.searches), folder / "trials.parquet")
            write_study(self.searches, folder / "study.db")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of what was found, and of what was not searched, each by its path below the results."""
        tables = {}
        if self.searches:
            tables = {"settings": settings_table(self.searches), "parameter_importance": self._importances}
        left_out = not_searched(self.sources)
        tables |= {} if left_out.empty else {"not_searched": left_out}
        return {str(self.model.inside / stem): table for stem, table in tables.items()}

    def figures(self) -> dict[str, Figure]:
        """Return the figures of what was found (`search_figures`), each by its path below the results."""
        if not self.searches:
            return {}
        title = f"{self.model.label}, {self.construction}"
        figures = search_figures(trials_table(self.searches), self._importances, title)
        return {str(self.model.inside / stem): figure for stem, figure in figures.items()}

    def trials(self) -> list[Trial]:
        """Return every trial as a child run, whose name begins with that of the model."""
        records = trial_records(trials_table(self.searches))
        return [replace(record, name=f"{self.model.slug} {record.name}") for record in records]

    @cached_property
    def _importances(self) -> pd.DataFrame:
        return parameter_importances(self.searches, self.seed)
