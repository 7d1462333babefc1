"""Figures of searches over regularisation: how they went, and which parameter mattered."""

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

_PANEL = (3.6, 2.6)  # inches


def search_figures(trials: pd.DataFrame, importances: pd.DataFrame, title: str) -> dict[str, Figure]:
    """Draw `optimisation_history` and `parameter_importance`, and return them by these names."""
    return {
        "optimisation_history": optimisation_history(trials, title),
        "parameter_importance": parameter_importance(importances, title),
    }


def optimisation_history(trials: pd.DataFrame, title: str) -> Figure:
    """Draw the highest accuracy so far over the trials: a panel per feature and source, a line per layer.

    Args:
        trials: Columns source, feature, layer, number, accuracy, state (`trials_table`).
        title: Of the figure.
    """
    figure = Figure(layout="constrained")
    for axes, panel in _panels(figure, trials[trials["state"] == "COMPLETE"], title):
        layers = sorted(panel["layer"].unique())
        colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(layers)))  # the rest is too pale for a line
        for layer, colour in zip(layers, colours, strict=True):
            own = panel[panel["layer"] == layer].sort_values("number")
            axes.scatter(own["number"], own["accuracy"], color=colour, s=4, alpha=0.5)
            highest = own["accuracy"].cummax()
            axes.step(own["number"], highest, where="post", color=colour, linewidth=1, label=f"layer {layer}")
        axes.set(xlabel="trial", ylabel="accuracy on held-out folds")
    return _with_legend(figure)


def parameter_importance(importances: pd.DataFrame, title: str) -> Figure:
    """Draw the importance of each parameter by layer: a panel per feature and source.

    Args:
        importances: Columns source, feature, layer, parameter, importance (`parameter_importances`).
        title: Of the figure.
    """
    figure = Figure(layout="constrained")
    for axes, panel in _panels(figure, importances, title):
        for (parameter, own), marker in zip(panel.groupby("parameter"), "os^", strict=False):
            axes.plot(own["layer"], own["importance"], marker=marker, markersize=4, label=str(parameter))
        axes.set(xlabel="layer (0 = embeddings)", ylabel="share of the variance", ylim=(-0.02, 1.02))
    return _with_legend(figure)


def _panels(figure: Figure, table: pd.DataFrame, title: str) -> Iterator[tuple[Axes, pd.DataFrame]]:
    """Divide a figure into a row per feature and a column per source, and yield each panel with its rows."""
    figure.suptitle(title, fontsize=11)
    features, sources = (table[name].unique().tolist() for name in ("feature", "source"))
    if table.empty:
        figure.text(0.5, 0.5, "all settings are equally accurate", ha="center")
        return
    figure.set_size_inches(len(sources) * _PANEL[0] + 0.4, len(features) * _PANEL[1] + 0.8)
    grid = figure.subplots(len(features), len(sources), squeeze=False)
    for (row, column), axes in np.ndenumerate(grid):
        panel = table[(table["feature"] == features[row]) & (table["source"] == sources[column])]
        if panel.empty:
            axes.set_axis_off()
            continue
        axes.set_title(f"{features[row]}, {sources[column]}".replace("_", " "), fontsize=10)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        yield axes, panel


def _with_legend(figure: Figure) -> Figure:
    """Add the lines of all panels to one legend, each name once."""
    named = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if named:
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    return figure
