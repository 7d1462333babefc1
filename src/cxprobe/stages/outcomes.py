"""What a stage's work returns: finished numbers, tables and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.records import ModelFacts, Trial

if TYPE_CHECKING:  # most stages draw nothing
    from matplotlib.figure import Figure

MOST_METRICS = 40  # MLflow's UI draws about 100 charts and drops the others without a word


@dataclass(frozen=True)
class JudgedRun:
    """One model on one construction: a run of MLflow that people compare with others.

    Runs of one stage have the same names of metrics, settings, tables and figures, as far as they apply.

    Attributes:
        model: The model's slug.
        facts: What the model is.
        construction: The construction's slug, or "all".
        source: Where the items come from, such as "generated"; a part of paths like the construction and the model.
        dataset: The file that holds the items, already given to `Stage.use`; None if no single file does.
        items: The number of items that were judged.
        metrics: Name -> number, the most important first; at most 40 together with the series.
        settings: What decided on the numbers, usually from `Stage.settings`.
        series: Name -> (step, number) pairs; the step is a layer, a number of shots or the tokens of a training.
        tables: Path below the run's folder, without suffix -> a table, written as .csv.
        figures: Path below the run's folder, without suffix -> a figure, written as .png.

    Raises:
        ValueError: There are more than 40 metrics, or construction or source is empty.
    """

    model: str
    facts: ModelFacts
    construction: str
    source: str
    dataset: Path | None
    items: int
    metrics: Mapping[str, float]
    settings: Mapping[str, str]
    series: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The model's name for people, which says if it is blind or if its weights are not the trained ones."""
        match self.facts.state:
            case "trained":
                return self.model
            case "none":
                return f"{self.model} (blind)"
            case state:
                return f"{self.model} ({state} weights)"

    def __post_init__(self) -> None:
        """Refuse what MLflow's UI could not show."""
        place = f"the run of {self.model} on {self.construction or '?'}, {self.source or '?'}"
        if not (self.model and self.construction and self.source):
            raise ValueError(f"{place}: model, construction and source must not be empty; say 'all' for all of them")
        names = {*self.metrics, *self.series}
        if len(names) > MOST_METRICS:
            raise ValueError(
                f"{place} has {len(names)} metrics and series, at most {MOST_METRICS} are allowed; put the rest into "
                f"a table. The last ones: {', '.join([*self.metrics, *self.series][MOST_METRICS:][:5])}"
            )


@dataclass(frozen=True)
class Outcome:
    """The finished results of a stage.

    Attributes:
        counts: The numbers of a stage that makes, measures or reports: counts.csv and the metrics of its run.
        series: Name -> (step, number) pairs of a stage that makes or measures, for MLflow.
        tables: Path below the results folder, without suffix -> a table, written as .csv; not for judging stages.
        figures: Path below the results folder, without suffix -> a figure, written as .png; not for judging stages.
        facts: What the stage found out about its inputs, such as the hash of the weights; tags of the runs.
        headline: The numbers of a judging stage that stand in metrics.json, nested at most two deep: at most 12, or two
            for each model of a panel if that is more.
        runs: The judged runs of a judging stage, of one model or of all models of a panel; in a report, the runs of
            series of models.
        trials: What a search has tried: child runs.
    """

    counts: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    headline: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[JudgedRun] = ()
    trials: Sequence[Trial] = ()
