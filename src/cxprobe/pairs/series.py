"""Models that differ in one quantity: the checkpoints of a training, or the sizes of a family."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import ModelFacts, Series
from cxprobe.report.dots import curves
from cxprobe.stats import rate_by, with_tie_rate

OWN = "own pairs"  # the source of this project's pairs, no slug; others are called by the benchmark's
_OF_SERIES = ["series", "axis", "quantity"]
_RATES = ["accuracy", "low", "high", "n", "ties", "tie_rate"]


def with_series(rates: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the rows of a table that are about the models of series.

    Args:
        rates: Numbers of several models: the column model and any others.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis (what the quantity is), quantity, and the table's own columns; the rows of one series after those
        of the other, and none of a series of which the table has fewer than two models.
    """
    tables = [rates.head(0).assign(series="", axis="", quantity=0.0)]
    for name, one in series.items():
        own = rates[rates["model"].isin(one.models)]
        if own["model"].nunique() > 1:
            tables.append(own.assign(series=name, axis=one.axis, quantity=own["model"].map(one.models).astype(float)))
    return pd.concat(tables[1:] or tables, ignore_index=True)[[*_OF_SERIES, *rates.columns]]


def along_series(items: pd.DataFrame, series: Mapping[str, Series], by: str) -> pd.DataFrame:
    """Return the accuracies of the models of every series.

    Args:
        items: Judged items: model, accuracy, ``cluster_<name>`` and the column ``by``.
        series: Name -> the models, each with its quantity.
        by: A column that divides the accuracies, such as construction.

    Returns:
        series, axis (what the quantity is), model, quantity, ``by``, accuracy, low, high, n, ties and tie_rate; no rows
        for a series of which fewer than two models ran.
    """
    models = {model for one in series.values() for model in one.models}
    rates = rate_by(items[items["model"].isin(models)], "accuracy", ["model", by])
    columns = ["series", "axis", "model", "quantity", by, *_RATES]
    return with_series(with_tie_rate(rates), series)[columns]


def bias_figures(along: pd.DataFrame, construction: str, title: str) -> dict[str, Figure]:
    """Return a figure of biases for every series, "series_<name>_biases", a panel for each noun type and bias.

    Args:
        along: Columns series, axis, quantity, construction, noun_type, bias (which one), value, low, high
            and n.
        construction: The rows that are drawn, such as those of all constructions.
        title: Follows the name of the series.
    """
    value = "difference or share"
    drawn = along[along["construction"] == construction].rename(columns={"value": value})
    return {
        f"series_{name}_biases": curves(
            own.rename(columns={"quantity": own["axis"].iloc[0]}).assign(panel=own["bias"] + ", " + own["noun_type"]),
            f"{name}, biases by noun type, {title}",
            x=own["axis"].iloc[0],
            panels="panel",
            value=value,
            chance=None,
        )
        for name, own in drawn.groupby("series", sort=False)
    }


def rates_by_source(sources: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies of models on several sets of minimal pairs, one below the other.

    Args:
        sources: `OWN` or a benchmark -> its judged pairs: model, group, accuracy and ``cluster_<name>``.

    Returns:
        source, group, model, accuracy, low, high, n, ties and tie_rate.
    """
    tables = [
        with_tie_rate(rate_by(items, "accuracy", ["group", "model"])).assign(source=source)
        for source, items in sources.items()
    ]
    return pd.concat(tables, ignore_index=True)[["source", "group", "model", *_RATES]]


def side_by_side(along: pd.DataFrame, title: str, best: pd.DataFrame) -> dict[str, Figure]:
    """Return a figure for each quantity, "by_<axis>", with a curve for each series that has it.

    Args:
        along: Accuracies by source, see `rates_by_source`, along series, see `with_series`. A panel shows one group of
            one source.
        title: Of the figures.
        best: The best blind model of each group (`cxprobe.judge.best_blind`): source, group and accuracy.
    """
    figures = {}
    for axis, own in along.groupby("axis", sort=False):
        figures[f"by_{axis}"] = curves(
            _with_panels(own).rename(columns={"quantity": str(axis)}),
            title,
            x=str(axis),
            panels="panel",
            colours="series",
            best=_with_panels(best),
        )
    return figures


def _with_panels(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the column panel: the group, after its source unless that is this project."""
    pairs = zip(table["source"], table["group"], strict=True)
    return table.assign(panel=[group if source == OWN else f"{source}: {group}" for source, group in pairs])


def series_figures(along: pd.DataFrame, by: str, title: str, best: pd.DataFrame | None = None) -> dict[str, Figure]:
    """Return a figure of curves for every series: "series_<name>" -> figure.

    Args:
        along: As `along_series` returns it.
        by: The column that divides the accuracies; each of its values has a panel.
        title: Follows the name of the series.
        best: The best blind model of each panel, see `cxprobe.report.dots.curves`.
    """
    figures = {}
    for name, own in along.groupby("series", sort=False):
        axis = str(own["axis"].iloc[0])
        table = own.rename(columns={"quantity": axis})
        figures[f"series_{name}"] = curves(table, f"{name}, {title}", x=axis, panels=by, best=best)
    return figures


def series_runs(along: pd.DataFrame, by: str) -> list[dict[str, Any]]:
    """Return what a run of MLflow for each curve consists of: the rates by step.

    Args:
        along: As `along_series` returns it.
        by: The column that divides the accuracies; its values take the place of constructions.

    Returns:
        For each series and value, these fields of `cxprobe.stages.JudgedRun`: model (the series), facts, construction,
        items, metrics (n), series ("by_<quantity>.accuracy", low and high), tables and figures ("accuracy").
    """
    runs = []
    for (name, construction), own in along.groupby(["series", by], sort=False):
        ordered = own.sort_values("quantity", kind="stable")
        steps = ordered["quantity"].round().astype(int).tolist()
        n, axis = int(ordered["n"].iloc[0]), str(ordered["axis"].iloc[0])
        runs.append(
            {
                "model": name,
                "facts": ModelFacts(str(name), "series", None, ", ".join(ordered["model"])),
                "construction": construction,
                "items": n,
                "metrics": {"n": n},
                "series": {
                    f"by_{axis}.{rate}": list(zip(steps, ordered[rate].tolist(), strict=True))
                    for rate in ("accuracy", "low", "high")
                },
                "tables": {"accuracy": own},
                "figures": {"accuracy": curves(own.rename(columns={"quantity": axis}), str(name), x=axis, panels=by)},
            }
        )
    return runs


def earlier_checkpoints(series: Mapping[str, Series]) -> set[str]:
    """Return the checkpoints of trainings without the last of each; only the last is compared with other models."""
    return {
        model
        for one in series.values()
        if one.axis == "training_tokens"
        for model in sorted(one.models, key=lambda model: one.models[model])[:-1]
    }
