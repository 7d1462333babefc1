"""Runs of MLflow, and the metric file of DVC, as views of the rates."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.report.dots import dots_of_run
from cxprobe.report.judging import Judging
from cxprobe.report.rates import ALL
from cxprobe.report.tables import with_blanks
from cxprobe.run.stage import MOST_METRICS, JudgedRun

# Column of the rates -> how the metric is called, after the name of the measure, of the row that decides.
_OF_DECIDING: Mapping[str, str] = {
    "value": "",
    "low": ".low",
    "high": ".high",
    "control": ".control",
    "control_low": ".control.low",
    "control_high": ".control.high",
    "difference": ".difference",
    "diff_low": ".difference.low",
    "diff_high": ".difference.high",
}


def metrics_of(rates: pd.DataFrame) -> dict[str, float]:
    """Return the metrics of a run, the most important first.

    Args:
        rates: The rates of one model on one construction and source.

    Returns:
        Of the row that decides accuracy, accuracy.low, accuracy.high, n, and as far as there are such numbers
        accuracy.control, accuracy.difference (from the best baseline) and their limits; of the others
        <measure>.<facet>.<level>, at most `MOST_METRICS` in all. rates.csv has all of them.
    """
    metrics = {}
    for row in rates[rates["decides"]].to_dict("records"):
        metrics |= {f"{row['measure']}{name}": row[column] for column, name in _OF_DECIDING.items()}
        metrics["n"] = row["n"]
    for row in rates[~rates["decides"]].to_dict("records"):
        name = ".".join(part for part in (row["measure"], row["facet"], row["level"]) if part)
        metrics[name] = row["value"]
    known = {name: float(value) for name, value in metrics.items() if not pd.isna(value)}
    return dict(list(known.items())[:MOST_METRICS])


@dataclass(frozen=True)
class RunInputs:
    """What the runs of a task have in common.

    Attributes:
        judging: The models and the facts about them.
        settings: Parameter -> value, of a source.
        dataset: Returns the file or folder with the items of a construction and source; None if no single one has.
    """

    judging: Judging[Any]
    settings: Callable[[str], Mapping[str, str]]
    dataset: Callable[[str, str], Path | None]


def runs_of(rates: pd.DataFrame, inputs: RunInputs) -> Iterator[JudgedRun]:
    """Yield a run for each model, construction and source.

    Args:
        rates: The rates of a task.
        inputs: What else the runs need.
    """
    for (model, construction, source), rows in rates.groupby(["model", "construction", "source"], sort=False):
        slug, of_run = str(model), rows.reset_index(drop=True)
        deciding = of_run[of_run["decides"]].iloc[0]
        yield inputs.judging.run(
            slug,
            construction=str(construction),
            source=str(source),
            dataset=inputs.dataset(str(construction), str(source)),
            items=int(deciding["n"]),
            metrics=metrics_of(of_run),
            settings=dict(inputs.settings(str(source))),
            tags={"verdict": str(deciding["verdict"]), "baseline": str(deciding["baseline"]) or "none"},
            tables={"rates": with_blanks(of_run)},
            figures=dict(_figures(of_run, f"{inputs.judging.members[slug].label}: {construction}")),
        )


def _figures(rates: pd.DataFrame, title: str) -> Iterator[tuple[str, Any]]:
    for measure, rows in rates[rates["facet"] != ""].groupby("measure", sort=False):
        table = rows.assign(group=rows["facet"] + ": " + rows["level"]).rename(columns={"value": str(measure)})
        yield str(measure), dots_of_run(table, f"{title}, {measure}", value=str(measure), chance=None)


def headline_of(rates: pd.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """Return what DVC shows as the metrics of a task: model -> construction and source -> its deciding rate."""
    numbers = ["value", "low", "high", "n", "difference"]
    headline: dict[str, dict[str, dict[str, float]]] = {}
    for row in rates[rates["decides"]].to_dict("records"):
        part = row["construction"] if row["source"] == "own" else f"{row['construction']}, {row['source']}"
        named = {row["measure"] if name == "value" else name: row[name] for name in numbers}
        known = {name: value for name, value in named.items() if not pd.isna(value)}
        headline.setdefault(row["model"], {}).setdefault(part, {}).update(known)
    return headline


def shown_rates(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the deciding rates as `cxprobe.report.judging.Judging.show` prints them, without those of all together."""
    deciding = rates[rates["decides"] & (rates["construction"] != ALL)]
    part = deciding["construction"].where(
        deciding["source"] == "own", deciding["construction"] + ", " + deciding["source"]
    )
    return deciding.assign(part=part).rename(columns={"value": "accuracy"})
