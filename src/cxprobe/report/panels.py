"""Panels of figures, with a fixed layout and plain axes.

A judging stage draws hundreds of figures, and the layout and the axes of matplotlib would take ten times as long.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

_FONT_SIZE = 8  # in points
PERCENT = {0.0: "0%", 0.2: "20%", 0.4: "40%", 0.6: "60%", 0.8: "80%", 1.0: "100%"}  # ticks of rates


def add_panel(figure: Figure, left: float, bottom: float, width: float, height: float, title: str = "") -> Axes:
    """Add a panel to a figure, without scales (see `draw_x_scale`, `draw_y_scale`); position and size are in inches."""
    figure_width, figure_height = figure.get_size_inches()
    box = (left / figure_width, bottom / figure_height, width / figure_width, height / figure_height)
    axes = figure.add_axes(box, frame_on=False)
    axes.set_axis_off()
    if title:
        axes.set_title(title, fontsize=9, y=1.0)  # without y, matplotlib searches for a position
    return axes


def draw_x_scale(axes: Axes, ticks: Mapping[float, str], label: str = "", *, grid: bool = False) -> None:
    """Draw the x axis of a panel: a line, the ticks (value -> text), a label below them, and perhaps a grid."""
    along, figure = axes.get_xaxis_transform(), cast(Figure, axes.figure)
    _draw_ticks(axes, [((tick, 0), (tick, 1)) for tick in ticks], along, ((0, 0), (1, 0)), grid=grid)
    below = offset_copy(along, figure, y=-4, units="points")
    for tick, text in ticks.items():
        figure.text(tick, 0, text, transform=below, ha="center", va="top", fontsize=_FONT_SIZE)
    lines = max((text.count("\n") + 1 for text in ticks.values()), default=0)
    if label:
        lower = offset_copy(axes.transAxes, figure, y=-6 - 1.3 * _FONT_SIZE * lines, units="points")
        figure.text(0.5, 0, label, transform=lower, ha="center", va="top", fontsize=_FONT_SIZE)


def draw_y_scale(
    axes: Axes, ticks: Mapping[float, str], label: str = "", *, grid: bool = False, labelled: bool = True
) -> None:
    """Draw the y axis of a panel as `draw_x_scale` draws the x axis; ``labelled=False`` leaves out the texts."""
    along, figure = axes.get_yaxis_transform(), cast(Figure, axes.figure)
    _draw_ticks(axes, [((0, tick), (1, tick)) for tick in ticks], along, ((0, 0), (0, 1)), grid=grid)
    beside = offset_copy(along, figure, x=-4, units="points")
    for tick, text in ticks.items() if labelled else ():
        figure.text(0, tick, text, transform=beside, ha="right", va="center", fontsize=_FONT_SIZE)
    if label:
        longest = max((len(text) for text in ticks.values()), default=0)
        left = offset_copy(axes.transAxes, figure, x=-8 - 0.68 * _FONT_SIZE * longest, units="points")
        figure.text(0, 0.5, label, transform=left, ha="right", va="center", rotation=90, fontsize=_FONT_SIZE)


def whole_ticks(values: Iterable[float]) -> dict[float, str]:
    """Return ticks at integers, from the minimum to the maximum of the values."""
    ordered = sorted(set(values))
    ticks = MaxNLocator(nbins=7, integer=True).tick_values(ordered[0], ordered[-1])
    return {float(tick): f"{tick:.0f}" for tick in ticks if ordered[0] <= tick <= ordered[-1]}


def log_ticks(values: Iterable[float]) -> dict[float, str]:
    """Return a few ticks of a log scale, such as 2e+05 and 1e+06, from the minimum to the maximum of the values."""
    ordered = sorted(set(values))
    powers = np.arange(np.floor(np.log10(ordered[0])), np.ceil(np.log10(ordered[-1])) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        ticks = [factor * 10**power for power in powers for factor in factors]
        ticks = [tick for tick in ticks if ordered[0] <= tick <= ordered[-1]]
        if len(ticks) >= 3:
            break
    step = -(-len(ticks) // 4)  # rounded up, so that at most four ticks are left
    chosen = ticks[::step] if len(ticks) > 1 else [ordered[0], ordered[-1]]
    return {float(tick): f"{tick:.0e}" if tick >= 1e4 else f"{tick:g}" for tick in chosen}


def _draw_ticks(axes: Axes, segments: list[Any], along: Any, edge: Any, *, grid: bool) -> None:
    """Draw the line of an axis, and the lines of a grid behind the marks."""
    if grid:
        lines = LineCollection(segments, colors="0.9", linewidths=0.6, transform=along, zorder=0.5)
        axes.add_collection(lines, autolim=False)
    frame = LineCollection([edge], colors="black", linewidths=0.8, transform=axes.transAxes, zorder=2.5, clip_on=False)
    axes.add_collection(frame, autolim=False)
