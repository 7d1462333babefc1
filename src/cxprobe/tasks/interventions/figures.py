"""Figures of interventions: heat maps, a panel for each intervention."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cxprobe.results.findings import grouped_rows
from cxprobe.tasks.interventions.evaluate import BY_PLACE, ELSEWHERE
from cxprobe.tasks.interventions.names import INTERVENTIONS, RANDOM

_CELL = 0.42  # inches


def heat_maps(rates: pd.DataFrame, labels: Mapping[str, str]) -> dict[str, Figure]:
    """Return <construction>_<model> -> the effects by layer and region, and transfer_<model> -> those elsewhere.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of interventions.
        labels: Model -> its name for people.
    """
    places, moved = rates[BY_PLACE.among(rates)], rates[ELSEWHERE.among(rates)]
    # One scale for all, so that a colour is the same effect in each.
    most = max(float(pd.concat([places["value"], moved["value"]]).abs().max()), 1e-9) if len(places) else 1.0
    figures = {
        f"{name}_{model}": heat_map(rows, "layer", "region", f"{labels[model]}: {name}, by layer and region", most)
        for (model, name), rows in grouped_rows(places, "model", "construction")
    }
    if moved["learnt"].nunique() > 1:
        for (model,), rows in grouped_rows(moved, "model"):
            title = f"{labels[model]}: learnt on the construction of a row, asked on that of a column"
            figures[f"transfer_{model}"] = heat_map(rows, "learnt", "construction", title, most)
    return figures


def heat_map(effects: pd.DataFrame, row: str, column: str, title: str, most: float) -> Figure:
    """Draw the mean effects in nats, a panel for each intervention.

    A frame marks the cell with the largest effect whose interval lies above 0, but for random directions.

    Args:
        effects: Rates of one model, and of one construction where the cells are places.
        row: The column whose values are the rows, such as the layer; the first is drawn at the bottom.
        column: Likewise, such as the region.
        title: Of the figure.
        most: The effect, in nats, at either end of the scale of colours.
    """
    columns, rows = (list(dict.fromkeys(effects[name])) for name in (column, row))
    names = [name for name in INTERVENTIONS if name in set(effects["intervention"])]
    size = (1.6 + len(names) * (len(columns) * _CELL + 0.4), 2.4 + len(rows) * _CELL)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        part = effects[effects["intervention"] == name]
        cells = part.pivot_table(index=row, columns=column, values="value").reindex(index=rows, columns=columns)
        image = axes.imshow(cells, cmap="RdBu_r", vmin=-most, vmax=most, origin="lower", aspect="auto")
        for (y, x), value in np.ndenumerate(cells.to_numpy()):
            if np.isfinite(value):
                colour = "white" if abs(value) > 0.6 * most else "black"
                axes.text(x, y, f"{value:z.1f}", ha="center", va="center", fontsize=7, color=colour)
        above = part[(part["low"] > 0) & (name != RANDOM)]
        if len(above):
            best = above.sort_values("value", kind="stable").iloc[-1]
            corner = (columns.index(best[column]) - 0.5, rows.index(best[row]) - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=2))
        axes.set_title(name, fontsize=9)
        axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=8)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
    panels[0].set_ylabel(row)
    figure.colorbar(image, ax=list(panels), label="effect in nats")
    figure.suptitle(title, fontsize=10)
    return figure
