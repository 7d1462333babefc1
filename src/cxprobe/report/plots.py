"""Figures of recognition, each drawn from a tidy table, in colours for colour-blind readers (Okabe & Ito 2008)."""

from itertools import product
from math import floor
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from cxprobe.records import ALL_SENTENCES

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours, so that the pairs repeat late
CONTROL_STYLES = {"majority": ":", "bag_of_words": "--"}
PANEL = (3.4, 2.9)  # inches


def accuracy_per_layer(by_layer: pd.DataFrame, controls: pd.DataFrame, title: str) -> Figure:
    """Draw accuracy by layer, a panel per feature and a line per model, with 95 % bands and the controls.

    Args:
        by_layer: Columns model, feature, layer, accuracy, low, high.
        controls: Columns feature, control, accuracy.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    figure, panels = _panels(by_layer, title)
    for feature, axes in panels.items():
        _draw_layers(axes, _of(by_layer, feature), _of(controls, feature))
    _finish(figure, panels, least=min(by_layer["low"].min(), controls["accuracy"].min()))
    return figure


def accuracy_side_by_side(by_layer: pd.DataFrame, controls: pd.DataFrame, title: str) -> Figure:
    """Draw accuracy by layer as `accuracy_per_layer` does, a row per feature and a column per source of sentences.

    Args:
        by_layer: Columns source, model, feature, layer, accuracy, low, high, n.
        controls: Columns source, feature, control, accuracy.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    sources, features = (list(dict.fromkeys(by_layer[name])) for name in ("source", "feature"))
    size = (len(sources) * PANEL[0] + 1.0, len(features) * PANEL[1] * 0.8 + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title, fontsize=11)
    grid = figure.subplots(len(features), len(sources), squeeze=False)
    panels = {}
    for (row, feature), (column, source) in product(enumerate(features), enumerate(sources)):
        axes: Axes = grid[row, column]
        own, own_controls = (_of(table[table["source"] == source], feature) for table in (by_layer, controls))
        if own.empty:
            axes.text(0.5, 0.5, "no sentences drawn\n(see build_recognition)", ha="center", transform=axes.transAxes)
            axes.set_axis_off()
            continue
        _draw_layers(axes, own, own_controls)
        panels[f"{_readable(feature)}, {source} (n = {int(own['n'].iloc[0]):,})"] = axes
    _finish(figure, panels, least=min(by_layer["low"].min(), controls["accuracy"].min()))
    return figure


def accuracy_per_value(by_value: pd.DataFrame, controls: pd.DataFrame, trained: pd.DataFrame, title: str) -> Figure:
    """Draw accuracy by the value of each feature, a line per layer, with the values that were trained on in grey.

    Args:
        by_value: Columns feature, value, layer, accuracy, low, high, n.
        controls: Columns feature, value, control, accuracy.
        trained: Columns feature, least, greatest: the values in the training part.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figures 2 to 7.
    """
    sizes = " to ".join(map(str, sorted({int(by_value["n"].min()), int(by_value["n"].max())})))
    half_width = 50 * float((by_value["high"] - by_value["low"]).median())
    note = f"{sizes} sentences a point, whose 95 % interval is about ± {half_width:.0f} points"
    figure, panels = _panels(by_value, f"{title}\n{note}")
    layers = sorted(by_value["layer"].unique().tolist())
    # The last tenth of viridis is too pale a yellow for a line on white.
    colours = ListedColormap(mpl.colormaps["viridis"](np.linspace(0, 0.9, len(layers))))
    norm = BoundaryNorm([layer - 0.5 for layer in [*layers, layers[-1] + 1]], ncolors=len(layers))
    for feature, axes in panels.items():
        bounds = _of(trained, feature).iloc[0]
        axes.axvspan(bounds["least"] - 0.5, bounds["greatest"] + 0.5, color="0.88", zorder=0, label="trained on")
        for control, line in _of(controls, feature).groupby("control", sort=False):
            name = str(control)
            axes.plot(line["value"], line["accuracy"], label=_readable(name), **_control_style(name))
        for layer in layers:
            line = _of(by_value[by_value["layer"] == layer], feature)
            axes.plot(
                line["value"], line["accuracy"], color=colours(norm(layer)), marker=".", markersize=4, linewidth=1
            )
        if feature == ALL_SENTENCES:
            axes.set_xticks([])
        else:
            axes.set_xlabel(f"{_readable(feature)} (words)")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _finish(figure, panels, least=min(by_value["accuracy"].min(), controls["accuracy"].min()))
    scale = ScalarMappable(norm=norm, cmap=colours)
    figure.colorbar(scale, ax=list(panels.values()), label="layer (0 = embeddings)", ticks=layers, fraction=0.04)
    return figure


def _draw_layers(axes: Axes, by_layer: pd.DataFrame, controls: pd.DataFrame) -> None:
    """Draw one feature of one source: a line and a band per model, and the controls."""
    for place, (model, line) in enumerate(by_layer.groupby("model", sort=False)):
        colour, marker = OKABE_ITO[place % len(OKABE_ITO)], MARKERS[place % len(MARKERS)]
        axes.fill_between(line["layer"], line["low"], line["high"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(line["layer"], line["accuracy"], color=colour, marker=marker, markersize=4, label=str(model))
    for control, line in controls.groupby("control", sort=False):
        axes.axhline(float(line["accuracy"].iloc[0]), label=_readable(str(control)), **_control_style(str(control)))
    axes.set_xlabel("layer (0 = embeddings)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _panels(table: pd.DataFrame, title: str) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each feature of a table, in the table's order."""
    features = list(dict.fromkeys(table["feature"]))
    columns = min(2, len(features))
    lines = -(-len(features) // columns)
    figure = Figure(figsize=(columns * PANEL[0] + 1.0, lines * PANEL[1] + 0.6), layout="constrained")
    grid = np.atleast_1d(figure.subplots(lines, columns)).ravel()
    for spare in grid[len(features) :]:
        spare.remove()
    figure.suptitle(title, fontsize=11)
    return figure, dict(zip(features, grid, strict=False))


def _of(table: pd.DataFrame, feature: str) -> pd.DataFrame:
    return table[table["feature"] == feature]


def _control_style(control: str) -> dict[str, Any]:
    return {"color": "0.35", "linestyle": CONTROL_STYLES[control], "linewidth": 1.2}


def _finish(figure: Figure, panels: dict[str, Axes], *, least: float) -> None:
    """Give all panels one scale that holds the least accuracy, and the figure one legend."""
    bottom = floor(10 * min(least, 0.45)) / 10
    for place, (feature, axes) in enumerate(panels.items()):
        axes.set_title(_readable(feature), fontsize=10)
        axes.set_ylim(bottom, 1.01)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel("test accuracy")
        if place == 0:
            figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)


def _readable(name: str) -> str:
    return name.replace("_", " ")
