"""Figures of rates with intervals: dots over categories, and lines over a quantity such as training tokens.

Every row or panel says how many items its rates are of, and marks of few items are smaller and paler (`_MARKS`).
"""

import textwrap
from collections.abc import Mapping
from math import ceil
from types import MappingProxyType
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

# Colours for colour-blind readers (Okabe & Ito 2008).
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours, so that the pairs repeat late
ROW = 0.34  # inches
LEGEND, LETTER = 0.6, 0.085  # of an entry of the legend without its text, and of each letter, in inches
SMALL_LETTER = 0.068  # of the names of rows in two lines, in inches
LINE, LABEL_LINE = 0.22, 0.14  # of the legend, and of the name of a row, in inches
BEST_BASELINE, CHANCE = "best baseline", "chance"  # in legends
CONSTANT = "best constant answer"
# What is drawn as a tick across a row -> how.
_TICKS: Mapping[str, Mapping[str, Any]] = {
    CONSTANT: {"color": "0.35", "linestyle": ":", "linewidth": 1.4},
    BEST_BASELINE: {"color": "black", "linewidth": 2},
    CHANCE: {"color": "0.35", "linestyle": ":", "linewidth": 1.2},
}
SPREAD = 0.62  # of a row, over which the dots of one category are spread
PANEL = 2.3  # the width of a panel, in inches
# Fewest items -> the size of a mark, the width of its line and how dark both are.
_MARKS: Mapping[Any, tuple[float, float, float]] = {0: (3.2, 0.8, 0.5), 30: (4.2, 1.3, 0.75), 300: (5.2, 2.0, 1.0)}
_TITLE, _HEADING = 0.095, 0.085  # of a letter of a title and of a panel's title, in inches


def dots(
    table: pd.DataFrame,
    title: str,
    *,
    rows: str,
    colours: str,
    panels: str,
    chance: float | None = 0.5,
    marks: Mapping[str, pd.DataFrame] = MappingProxyType({}),
) -> Figure:
    """Draw rates as dots with their intervals, a row per category and a panel for each value of a column.

    Args:
        table: Columns rows, colours and panels (their names), accuracy in [0, 1], low, high and n, the number of items
            (NaN where it is not known, as of published rates).
        title: Of the figure.
        rows: The column whose values are the categories, in the table's order from the top; a value may have two lines.
        colours: The column whose values have a colour and a marker each.
        panels: The column whose values have a panel each.
        chance: Where a line is drawn; None for a bias, whose best value is 0.
        marks: What is drawn as a tick across a row, one of `BEST_BASELINE`, `CHANCE` and `CONSTANT`
            -> the columns rows, accuracy and, where it is not the same in every panel, panels. Rows and panels that the
            table lacks are not drawn.
    """
    names, kinds, places = (list(dict.fromkeys(table[column])) for column in (rows, colours, panels))
    texts = [str(name).split("\n") for name in names]
    lines = max(map(len, texts))
    longest = max(len(line) for text in texts for line in text)
    width = max(1.9, longest * (SMALL_LETTER if lines > 1 else LETTER)) + (PANEL + 0.25) * len(places)
    columns = max(1, min(4, int(width / (LEGEND + LETTER * max(len(str(kind)) for kind in kinds)))))
    entries = len(kinds) + len(marks) + (chance is not None)
    row = max(ROW, ROW * len(kinds) / 4, LABEL_LINE * (lines + 0.5))
    height = len(names) * row + 1.5 + ceil(entries / columns) * LINE
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(1, len(places), sharey=True, squeeze=False)[0]
    offsets = np.linspace(-SPREAD / 2, SPREAD / 2, len(kinds)) if len(kinds) > 1 else np.zeros(1)
    for axes, panel in zip(grid, places, strict=True):
        for number, (kind, offset) in enumerate(zip(kinds, offsets, strict=True)):
            part = table[(table[panels] == panel) & (table[colours] == kind)]
            y = np.array([names.index(name) for name in part[rows]]) + offset
            colour, marker, label = OKABE_ITO[number % len(OKABE_ITO)], MARKERS[number % len(MARKERS)], str(kind)
            fewest = [max(fewest for fewest in _MARKS if n >= fewest) for n in part["n"].fillna(np.inf)]
            for least, some in part.assign(y=y, least=fewest).groupby("least"):
                size, line, alpha = _MARKS[least]
                axes.hlines(some["y"], some["low"], some["high"], color=colour, linewidth=line, alpha=alpha * 0.8)
                drawn = {"marker": marker, "markersize": size, "color": colour, "alpha": alpha, "linestyle": ""}
                axes.plot(some["accuracy"], some["y"], label=label, **drawn)
                label = "_nolegend_"
        for name, sizes in table[table[panels] == panel].groupby(rows)["n"]:
            if sizes.notna().any():
                small = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 7, "color": "0.35"}
                axes.text(1.03, names.index(name), _span(sizes), **small)
        axes.text(1.03, 1.01, "n", transform=axes.transAxes, va="bottom", fontsize=8, style="italic", color="0.35")
        for label, table_of_marks in marks.items():
            part = table_of_marks[table_of_marks[rows].isin(names)]
            part = part[part[panels] == panel] if panels in part else part
            if len(part):  # else not even in the legend
                y, half = part[rows].map(names.index).to_numpy(float), SPREAD / 2 + 0.1
                axes.vlines(part["accuracy"], y - half, y + half, label=label, **_TICKS[label])
        if chance is not None:
            axes.axvline(chance, label=CHANCE, **_TICKS[CHANCE])
        axes.set_title(within(readable(str(panel)), PANEL / _HEADING), fontsize=10)
        _draw_scale(axes, "x")
        axes.set_xlabel("accuracy")
    # What stands in the second line of a name is a text and keeps its hyphens.
    labels = ["\n".join([readable(first), *others]) for first, *others in texts]
    grid[0].set_yticks(range(len(names)), labels, fontsize=8 if lines > 1 else 10)
    grid[0].set_ylim(len(names) - 0.5, -0.5)
    write_title(figure, title)
    add_legend(figure, columns)
    return figure


def add_legend(figure: Figure, most: int, fontsize: float = 10) -> None:
    """Add one legend of all panels, in ``most`` columns or fewer, with each label once and those of marks last."""
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    for label in _TICKS:
        if label in entries:
            entries[label] = entries.pop(label)
    if entries:
        widest = LEGEND + LETTER * max(map(len, entries))
        figure.legend(
            entries.values(),
            entries.keys(),
            loc="outside lower center",
            ncols=max(1, min(most, int(figure.get_figwidth() / widest))),
            frameon=False,
            fontsize=fontsize,
        )


def write_title(figure: Figure, title: str) -> None:
    """Give a figure a title, in as many lines as its width needs."""
    figure.suptitle(within(title, figure.get_figwidth() / _TITLE), fontsize=11)


def within(text: str, letters: float) -> str:
    """Return a text in lines of at most so many letters; its own lines stay apart."""
    return "\n".join(textwrap.fill(line, max(12, int(letters))) for line in text.split("\n"))


def _span(sizes: "pd.Series[int]") -> str:
    return " to ".join(f"{size:,}" for size in sorted({int(sizes.min()), int(sizes.max())}))


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
    linear: bool = False,
    shares: bool = True,
) -> Figure:
    """Draw rates over a quantity, a panel for each value of a column, with 95 % bands.

    Args:
        table: Columns x, panels and colours (their names), value, low, high and perhaps n, which then stands in the
            panel's title.
        title: Of the figure.
        x: The column of the quantity, such as training tokens.
        panels: The column whose values have a panel each.
        colours: The column whose values have a curve each, with a colour and a marker; colours of numbers follow their
            order. None for one curve a panel.
        value: The column of the values.
        chance: Where a line is drawn; None for a bias, whose best value is 0.
        best: The best baseline of each panel (see `cxprobe.results.comparisons.best_baseline`), drawn as a black
            line: the columns panels and value. A panel that it lacks has no such line.
        linear: Whether the quantity is a whole number on a linear axis, such as a layer; else the axis is logarithmic.
        shares: Whether the values are shares, drawn from 0 to 100 %; else the axis ends where the intervals do.
    """
    names = list(dict.fromkeys(table[panels]))
    kinds = [None] if colours is None else list(dict.fromkeys(table[colours]))
    is_scale = colours is not None and pd.api.types.is_numeric_dtype(table[colours])
    palette: Any = OKABE_ITO
    if is_scale:
        palette = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(kinds)))
    headings = [within(readable(str(name)), 2.2 / _HEADING) for name in names]
    if "n" in table:
        sizes = [_span(table.loc[table[panels] == name, "n"]) for name in names]
        headings = [f"{heading}\n(n = {size})" for heading, size in zip(headings, sizes, strict=True)]
    columns = min(4, len(names))
    lines = ceil(len(names) / columns)
    bottom = 0.85
    panel_height = 1.81 + 0.17 * max(len(heading.split("\n")) for heading in headings)
    width, height = columns * 2.4 + 0.8, lines * panel_height + bottom + 0.2
    figure = Figure(figsize=(width, height))
    least, most = table[x].min(), table[x].max()
    for number, name in enumerate(names):
        line, column = divmod(number, columns)
        up = bottom + (lines - 1 - line) * panel_height
        axes = figure.add_axes(((0.75 + column * 2.4) / width, up / height, 2.1 / width, 1.45 / height))
        in_panel = table[table[panels] == name]
        for kind_number, kind in enumerate(kinds):
            rates = (in_panel if kind is None else in_panel[in_panel[colours] == kind]).sort_values(x)
            colour, marker = palette[kind_number % len(palette)], MARKERS[kind_number % len(MARKERS)]
            axes.fill_between(rates[x], rates["low"], rates["high"], color=colour, alpha=0.2, linewidth=0)
            label = None if kind is None else f"{colours} {kind}" if is_scale else str(kind)  # in the legend
            axes.plot(rates[x], rates[value], color=colour, marker=marker, markersize=4, label=label)
        if chance is not None:
            axes.axhline(chance, label=CHANCE, **_TICKS[CHANCE])
        if best is not None:
            for rate in best.loc[best[panels] == name, value]:
                axes.axhline(rate, color="black", linewidth=1.2, label=BEST_BASELINE)
        if shares:
            _draw_scale(axes, "y")
        else:
            axes.set_ylim(table["low"].min(), table["high"].max())
        if linear:
            axes.set_xlim(least - 0.5, most + 0.5)
            axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
        else:
            axes.set_xscale("log")
            axes.set_xlim(least / 1.2, most * 1.2)
        is_lowest = number + columns >= len(names)
        axes.tick_params(which="both", labelsize=8, labelbottom=is_lowest, labelleft=column == 0)
        axes.set_xlabel(readable(x) if is_lowest else "", fontsize=8)
        axes.set_ylabel("" if column else readable(value), fontsize=8)
        axes.set_title(headings[number], fontsize=9)
    write_title(figure, title)
    add_legend(figure, columns + 1, fontsize=8)
    return figure


def _draw_scale(axes: Axes, along: Literal["x", "y"]) -> None:
    """Give axes a grid across x or y, and a scale of rates along it."""
    axes.set(**{f"{along}lim": (-0.02, 1.02)})
    getattr(axes, f"{along}axis").set_major_formatter(PercentFormatter(xmax=1))
    axes.grid(axis=along, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def readable(name: str) -> str:
    """Return the name of a column or folder with spaces for underscores and hyphens."""
    return name.replace("_", " ").replace("-", " ")
