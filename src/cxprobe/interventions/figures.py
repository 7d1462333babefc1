"""Figures of interventions: heat maps, a panel for each intervention."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cxprobe.interventions.names import INTERVENTIONS, RANDOM, TRUE

_CELL = 0.42  # inches


def heat_map(effects: pd.DataFrame, row: str, column: str, title: str) -> Figure:
    """Draw the mean effects in nats, a panel for each intervention, with one scale of colours.

    A frame marks the cell with the largest effect whose interval lies above 0, but for random directions.

    Args:
        effects: What `cxprobe.interventions.judge.effect_by_place` returns, of one model and construction, or
            `cxprobe.interventions.judge.transfer` of one model.
        row: The column whose values are the rows, such as the layer; the first is drawn at the bottom.
        column: Likewise, such as the region.
        title: Of the figure.
    """
    true = effects[effects["labels"] == TRUE]
    columns, rows = (list(dict.fromkeys(true[name])) for name in (column, row))
    names = [name for name in INTERVENTIONS if name in set(true["intervention"])]
    most = max(float(true["effect"].abs().max()), 1e-9)
    size = (1.6 + len(names) * (len(columns) * _CELL + 0.4), 2.4 + len(rows) * _CELL)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        part = true[true["intervention"] == name]
        cells = part.pivot_table(index=row, columns=column, values="effect").reindex(index=rows, columns=columns)
        image = axes.imshow(cells, cmap="RdBu_r", vmin=-most, vmax=most, origin="lower", aspect="auto")
        for (y, x), value in np.ndenumerate(cells.to_numpy()):
            if np.isfinite(value):
                colour = "white" if abs(value) > 0.6 * most else "black"
                axes.text(x, y, f"{value:z.1f}", ha="center", va="center", fontsize=7, color=colour)
        above = part[(part["low"] > 0) & (name != RANDOM)]
        if len(above):
            best = above.sort_values("effect", kind="stable").iloc[-1]
            corner = (columns.index(best[column]) - 0.5, rows.index(best[row]) - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=2))
        axes.set_title(name, fontsize=9)
        axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=8)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
    panels[0].set_ylabel(row)
    figure.colorbar(image, ax=list(panels), label="effect in nats")
    figure.suptitle(title, fontsize=10)
    return figure
