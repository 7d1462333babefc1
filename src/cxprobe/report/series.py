"""Models that differ in one quantity: the checkpoints of a training, or the sizes of a family."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.params import Series
from cxprobe.records import ModelFacts
from cxprobe.report.dots import curves
from cxprobe.stats import rate_by, with_tie_rate


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
    columns = ["series", "axis", "model", "quantity", by, "accuracy", "low", "high", "n", "ties", "tie_rate"]
    tables = []
    for name, one in series.items():
        own = items[items["model"].isin(one.models)]
        if own["model"].nunique() > 1:
            rates = with_tie_rate(rate_by(own, "accuracy", ["model", by]))
            quantity = rates["model"].map(one.models).astype(float)
            tables.append(rates.assign(series=name, axis=one.axis, quantity=quantity)[columns])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


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
