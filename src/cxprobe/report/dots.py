"""Figures of rates with intervals: dots over categories, and lines over a quantity such as training tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from cxprobe.report.plots import MARKERS, OKABE_ITO

ROW = 0.34  # inches
LEGEND, LETTER = 0.6, 0.085  # of an entry of the legend without its text, and of each letter, in inches
LINE = 0.22  # of the legend, in inches
BEST_BLIND, PEOPLE = "best blind", "people (majority)"  # in legends
PEOPLE_COLOUR = "#0072B2"  # the blue of Okabe & Ito
SPREAD = 0.62  # of a row, over which the dots of one category are spread


def dots(
    table: pd.DataFrame,
    title: str,
    *,
    rows: str,
    colours: str,
    panels: str,
    value: str = "accuracy",
    chance: float | None = 0.5,
    best: pd.DataFrame | None = None,
    people: pd.DataFrame | None = None,
) -> Figure:
    """Draw rates as dots with their intervals, a row per category and a panel for each value of a column.

    Args:
        table: Columns rows, colours and panels (their names), value, low, high.
        title: Of the figure.
        rows: The column whose values are the categories, in the table's order from the top.
        colours: The column whose values have a colour and a marker each.
        panels: The column whose values have a panel each.
        value: The column of the rates, in [0, 1].
        chance: Where a line is drawn; None for a bias, whose best value is 0.
        best: The best blind model of each row and panel (`cxprobe.judge.best_blind`), drawn as a black tick across the
            row: the columns rows, panels and value. Rows and panels that the table lacks are not drawn.
        people: How often people are right, drawn as a blue tick across the row in every panel: the columns rows and
            value. Rows that the table lacks are not drawn.
    """
    names, kinds, places = (list(dict.fromkeys(table[column])) for column in (rows, colours, panels))
    width = 1.9 + 2.3 * len(places)
    columns = max(1, min(4, int(width / (LEGEND + LETTER * max(len(str(kind)) for kind in kinds)))))
    legend = -(-(len(kinds) + (chance is not None) + (best is not None) + (people is not None)) // columns) * LINE
    height = len(names) * ROW * max(1.0, len(kinds) / 4) + 1.3 + legend
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(1, len(places), sharey=True, squeeze=False)[0]
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(kinds)) if len(kinds) > 1 else np.zeros(1)
    for axes, place in zip(grid, places, strict=True):
        for number, (kind, offset) in enumerate(zip(kinds, offsets, strict=True)):
            own = table[(table[panels] == place) & (table[colours] == kind)]
            y = np.array([names.index(name) for name in own[rows]]) + offset
            draw_dots(axes, own, value, y, str(kind), number)
        if best is not None:
            own = best[(best[panels] == place) & best[rows].isin(names)]
            _draw_ticks(axes, own[value], [names.index(name) for name in own[rows]], "black", BEST_BLIND)
        if people is not None:
            own = people[people[rows].isin(names)]
            _draw_ticks(axes, own[value], [names.index(name) for name in own[rows]], PEOPLE_COLOUR, PEOPLE)
        if chance is not None:
            axes.axvline(chance, color="0.35", linestyle=":", linewidth=1.2, label="chance")
        axes.set_title(readable(str(place)), fontsize=10)
        axes.set_xlim(-0.02, 1.02)
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.set_xlabel(readable(value))
        tidy(axes, "x")
    grid[0].set_yticks(range(len(names)), [readable(str(name)) for name in names])
    grid[0].set_ylim(len(names) - 0.5, -0.5)
    figure.suptitle(title, fontsize=11)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)
    return figure


def _draw_ticks(axes: Axes, values: "pd.Series[float]", places: Sequence[int], colour: str, label: str) -> None:
    """Draw a tick across the row of each value."""
    y, half = np.array(places, dtype=float), SPREAD / 2 + 0.1
    axes.vlines(values, y - half, y + half, color=colour, linewidth=2, label=label)


def dots_of_run(table: pd.DataFrame, title: str, *, chance: float = 0.5) -> Figure:
    """Draw the accuracies of one run, a row per group; fast, since there are as many of these figures as runs.

    Args:
        table: Columns group, accuracy, low, high, and n, which is shown behind the group's name.
        title: Of the figure.
        chance: Where a line is drawn.
    """
    height = len(table) * ROW * 0.8 + 0.95
    figure = Figure(figsize=(5.2, height))
    # Fixed margins: a constrained layout takes most of the time of a small figure.
    axes = figure.add_axes((0.42, 0.5 / height, 0.54, 1 - 0.9 / height))
    places = np.arange(len(table))
    draw_dots(axes, table, "accuracy", places, "", 0)
    axes.axvline(chance, color="0.35", linestyle=":", linewidth=1.2)
    labels = [f"{readable(name.replace('.', ': '))} ({n:,})" for name, n in table[["group", "n"]].to_numpy()]
    axes.set_yticks(places, labels, fontsize=8)
    axes.set_ylim(len(table) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("accuracy", fontsize=8)
    axes.set_title(title, fontsize=9)
    tidy(axes, "x")
    return figure


def curves(
    table: pd.DataFrame,
    title: str,
    *,
    x: str,
    panels: str,
    colours: str | None = None,
    value: str = "accuracy",
    chance: float | None = 0.5,
    best: pd.DataFrame | None = None,
) -> Figure:
    """Draw rates over a quantity on a log axis, a panel for each value of a column, with 95 % bands.

    Args:
        table: Columns x, panels and colours (their names), value, low, high.
        title: Of the figure.
        x: The column of the quantity, such as training tokens.
        panels: The column whose values have a panel each.
        colours: The column whose values have a curve each, with a colour and a marker; None for one curve a panel.
        value: The column of the rates, in [0, 1].
        chance: Where a line is drawn; None for a bias, whose best value is 0.
        best: The best blind model of each panel (`cxprobe.judge.best_blind`), drawn as a black line: the columns panels
            and value. A panel that it lacks has no such line.
    """
    places = list(dict.fromkeys(table[panels]))
    kinds = [None] if colours is None else list(dict.fromkeys(table[colours]))
    columns = min(4, len(places))
    lines = -(-len(places) // columns)
    figure = Figure(figsize=(columns * 2.4 + 0.6, lines * 2.0 + 0.9), layout="constrained")
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for spare in grid[len(places) :]:
        spare.remove()
    for number, (axes, place) in enumerate(zip(grid, places, strict=False)):
        for kind_number, kind in enumerate(kinds):
            of_kind = table if colours is None else table[table[colours] == kind]
            _draw_curve(axes, of_kind[of_kind[panels] == place].sort_values(x), x, value, kind, kind_number)
        if chance is not None:
            axes.axhline(chance, color="0.35", linestyle=":", linewidth=1.2, label="chance")
        for height in [] if best is None else best.loc[best[panels] == place, value]:
            axes.axhline(height, color="black", linewidth=1.2, label=BEST_BLIND)
        axes.set_xscale("log")
        lowest = number + columns >= len(places)
        axes.tick_params(labelbottom=lowest)
        axes.set_xlabel(readable(x) if lowest else "")
        axes.set_ylim(-0.04, 1.04)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.set_title(readable(str(place)), fontsize=9)
        tidy(axes, "y")
    figure.suptitle(title, fontsize=11)
    lines_of = {
        name: line for axes in grid[: len(places)] for line, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        lines_of.values(),
        lines_of.keys(),
        loc="outside upper right" if colours is None else "outside lower center",  # two fit beside the title
        ncols=2 if colours is None else columns + 1,
        frameon=False,
        fontsize=8,
    )
    figure.supylabel(readable(value), fontsize=10)
    return figure


def _draw_curve(axes: Axes, own: pd.DataFrame, x: str, value: str, kind: object, number: int) -> None:
    """Draw a curve with its band; kind is its name in the legend, None for a curve that has none."""
    colour, marker = OKABE_ITO[number % len(OKABE_ITO)], MARKERS[number % len(MARKERS)]
    label = None if kind is None else str(kind)
    axes.fill_between(own[x], own["low"], own["high"], color=colour, alpha=0.2, linewidth=0)
    axes.plot(own[x], own[value], color=colour, marker=marker, markersize=4, label=label)


def readable(name: str) -> str:
    """Return the name of a column or folder with spaces for underscores and hyphens."""
    return name.replace("_", " ").replace("-", " ")


def draw_dots(axes: Axes, own: pd.DataFrame, value: str, y: NDArray[Any], label: str, number: int) -> None:
    """Draw rates of one colour with their intervals; y holds the height of each row of the table."""
    colour, marker = OKABE_ITO[number % len(OKABE_ITO)], MARKERS[number % len(MARKERS)]
    axes.hlines(y, own["low"], own["high"], color=colour, linewidth=1.4, alpha=0.7)
    axes.plot(own[value], y, color=colour, marker=marker, markersize=4.5, linestyle="", label=label)


def tidy(axes: Axes, grid: str) -> None:
    """Give axes a pale grid in one direction ("x" or "y") behind what is drawn, and no frame above and to the right."""
    axes.grid(axis=grid, color="0.9", linewidth=0.6)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
