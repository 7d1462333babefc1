"""All that a stage keeps and shows of its searches for the regularisation of one model's probes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.measure.probing.figures import search_figures
from cxprobe.measure.probing.probes import Fitting, Regularisation
from cxprobe.measure.probing.searches import (
    Search,
    Searches,
    count_searches,
    not_searched,
    parameter_importances,
    search_all,
    settings_table,
    trial_records,
    trials_table,
    write_study,
)
from cxprobe.measure.probing.sources import ProbedSource
from cxprobe.params import FitProbes, Member, Params, Source
from cxprobe.progress import progress
from cxprobe.records import Trial
from cxprobe.seeding import seed_for
from cxprobe.storage import write_table

FOLDER = "tuning"  # of everything about the searches, beside the predictions


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
        """How many probes were tuned, how many not for lack of data, and how many settings did not converge.

        There are no numbers where nothing was to be searched for.
        """
        if not self.sources:
            return {}
        probes = sum(source.probes for source in self.sources.values())
        counts = {"tuned_probes": len(self.searches), "not_tuned_for_lack_of_data": probes - len(self.searches)}
        failed = int(settings_table(self.searches)["not_converged"].sum())
        return {**counts, "not_converged": failed} if self.searches else counts

    def regularisation(self, source: Source, feature: str, layers: int, settings: FitProbes) -> list[Regularisation]:
        """Return the regularisation of each layer's probe: what was found, or that of the settings without a search.

        Args:
            source: The kind of sentences.
            feature: What is probed.
            layers: The number of layers, the embeddings included.
            settings: The section fit_probes.
        """
        if Search(source, feature, 0) not in self.searches:
            return [Regularisation(settings.C, settings.l1_ratio, settings.standardise)] * layers
        return [self.searches[Search(source, feature, layer)].regularisation for layer in range(layers)]

    def write(self, folder: Path) -> None:
        """Write settings.parquet, trials.parquet and study.db, if anything was found, into a folder of their own."""
        folder = folder / FOLDER
        if self.searches:
            write_table(settings_table(self.searches), folder / "settings.parquet")
            write_table(trials_table(self.searches), folder / "trials.parquet")
            write_study(self.searches, folder / "study.db")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables of what was found, and of what was not searched, each by its path below the results."""
        tables = {}
        if self.searches:
            tables = {"settings": settings_table(self.searches), "parameter_importance": self._importances}
        left_out = not_searched(self.sources)
        tables |= {} if left_out.empty else {"not_searched": left_out}
        return {str(self.model.inside / FOLDER / stem): table for stem, table in tables.items()}

    def figures(self) -> dict[str, Figure]:
        """Return the figures of what was found (`search_figures`), each by its path below the results."""
        if not self.searches:
            return {}
        title = f"{self.model.label}, {self.construction}"
        figures = search_figures(trials_table(self.searches), self._importances, title)
        return {str(self.model.inside / FOLDER / stem): figure for stem, figure in figures.items()}

    def trials(self) -> list[Trial]:
        """Return every trial as a child run, whose name begins with that of the model."""
        records = trial_records(trials_table(self.searches))
        return [replace(record, name=f"{self.model.slug} {record.name}") for record in records]

    @cached_property
    def _importances(self) -> pd.DataFrame:
        return parameter_importances(self.searches, self.seed)


def study_probes(
    model: Member, construction: str, sources: Mapping[Source, ProbedSource], params: Params, *, scratch: Path
) -> Study:
    """Search for the regularisation of all probes of a model (`search_all`); of none if params switch it off.

    Args:
        model: The model.
        construction: The construction's slug.
        sources: Source -> its subsets and vectors.
        params: The seed, and the sections tune_probes and fit_probes.
        scratch: The folder in which the trials of all searches stay, so that no trial is evaluated twice.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: No setting converged for some probe.
    """
    settings, seed = params.tune_probes, params.seed
    if not settings.enabled:
        return Study(model, construction, {}, {}, seed)
    fitting = Fitting(
        params.fit_probes.max_iter, seed_for(seed, "tune_probes", construction), f"{model.slug}, {construction}"
    )
    folder = scratch / model.slug / construction
    kept, what = f"finished trials are in {folder}", f"tune_probes {model.slug} {construction}"
    with progress(settings.trials * count_searches(sources), "trials", what, kept=kept) as shown:
        searches = search_all(sources, settings, fitting, scratch=folder, progress=shown.update)
    return Study(model, construction, sources, searches, seed)
