"""Figures of scenarios: a rate by scenario, with a panel for each calibration."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.report.dots import BEST_BLIND, MARKERS, OKABE_ITO, WEIGHTS, add_legend, write_title
from cxprobe.report.panels import PERCENT, add_panel, draw_x_scale, draw_y_scale
from cxprobe.scenarios.rules import Scenarios

CHANCE = 0.5
PANEL = (3.3, 2.6)  # inches, at least
PLACE = 0.7  # inches of the width, for what stands below a scenario
ROW = 3  # panels beside each other
COLUMNS = 4  # of the legend
SPREAD = 0.7  # of the width of a scenario, over which the models are spread
# What a test holds against a model, and what a calibration leaves out or changes -> how figures say so.
CHANGES = {
    "recency": "order of the\nsentences",
    "vocabulary": "the other\nword right",
    "name": "names\nexchanged",
    "paraphrase": "fact in other\nwords",
    "nonce": "made-up\nwords",
    "distractor": "another rule\nbeside it",
}
PURPOSES = {"short": "without the construction", "name": "about others", "adjective": "about another property"}
_GREYS = ("x", "+", "1", "2", "3", "4", "|", ".", ",", "_")  # markers of published models that did not run


def scenario_figure(
    rates: pd.DataFrame,
    rate: str,
    files: Sequence[Scenarios],
    members: Sequence[Member],
    title: str,
    published: pd.DataFrame | None = None,
    best: pd.DataFrame | None = None,
) -> Figure:
    """Draw a rate by scenario, a panel for each calibration and a marker for each model, with 95 % intervals.

    The number of items stands below each scenario, and marks of few items are smaller and paler. Every published model
    that did not run has a grey marker of its own. Blind models are drawn only where there are no others: the best of
    them is enough beside other models.

    Args:
        rates: What `cxprobe.scenarios.judge.scenario_rates` returns.
        rate: accuracy or flips.
        files: The scenarios of each construction in the rates; the first that has a test or calibration names it.
        members: The models of the rates.
        title: Of the figure.
        published: What `cxprobe.scenarios.report.published_rates` returns, drawn hollow for a model that ran, grey for
            another; None for nothing published.
        best: The rate of the best blind model in each scenario: scenario and the rate. It is drawn as a black tick in
            every panel, since a blind model has nothing that a calibration could take off.
    """
    seeing = [member.slug for member in members if not member.is_blind]
    rates = rates[rates["model"].isin(seeing)] if seeing else rates
    published = (
        pd.DataFrame(columns=["model", "scenario", "calibration", "published"]) if published is None else published
    )
    names, calibrations = (list(dict.fromkeys(rates[column])) for column in ("scenario", "calibration"))
    titles = {"none": "not calibrated"}
    changes: dict[str, str] = {}
    for own in reversed(files):
        titles |= {
            name: f"calibrated by {name}: {PURPOSES.get(calibration.purpose, calibration.purpose)}"
            for name, calibration in own.calibrations.items()
        }
        changes |= {name: CHANGES.get(test.bias, test.bias) for name, test in own.tests.items()} | {
            own.base: "base text"
        }
    ran = list(dict.fromkeys(rates["model"]))
    others = [model for model in dict.fromkeys(published["model"]) if model.lower() not in ran]
    lines, columns = -(-len(calibrations) // ROW), min(ROW, len(calibrations))
    legend_height = -(-(len(ran) + len(others) + 3) // COLUMNS) * 0.22
    panel = max(PANEL[0], PLACE * len(names))
    width, height = columns * panel + 0.4, lines * PANEL[1] + 0.8 + legend_height
    figure = Figure(figsize=(width, height))
    write_title(figure, title)
    place = pd.Series(range(len(names)), index=names, dtype=float)
    labels = {member.slug: member.label for member in members}
    below = {float(number): _tick(name, changes[name], rates) for number, name in enumerate(names)}
    for number, calibration in enumerate(calibrations):
        line, column = divmod(number, ROW)
        up = legend_height + 0.55 + (lines - 1 - line) * PANEL[1]
        axes = add_panel(figure, 0.7 + column * panel, up, panel - 0.35, PANEL[1] - 0.8, titles[calibration])
        axes.axhline(CHANCE, color="0.35", linestyle=":", linewidth=1.2, label="chance")
        shown, theirs = (table[table["calibration"] == calibration] for table in (rates, published))
        _draw_models(axes, shown, rate, theirs, place, {model: labels.get(model, model) for model in ran}, others)
        if best is not None and len(best):
            places, edge = place[best["scenario"]], SPREAD / 2 + 0.1
            axes.hlines(best[rate], places - edge, places + edge, color="black", linewidth=2, label=BEST_BLIND)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(-0.04, 1.04)
        is_lowest = number + ROW >= len(calibrations)
        draw_x_scale(axes, below if is_lowest else {}, size=6.5)
        draw_y_scale(axes, PERCENT, "" if column else rate, grid=True, labelled=column == 0)
    add_legend(figure, COLUMNS, fontsize=8)
    return figure


def _tick(scenario: str, changes: str, rates: pd.DataFrame) -> str:
    """Return what stands below a scenario: its name, what it changes, and the number of its items."""
    n = rates.loc[rates["scenario"] == scenario, "n"]
    items = " to ".join(f"{size:,}" for size in sorted({int(n.min()), int(n.max())}))
    space = " " if len(scenario) < 4 else "\n"
    return f"{scenario}:{space}{changes}\nn = {items}"


def _draw_models(
    axes: Axes,
    rates: pd.DataFrame,
    rate: str,
    published: pd.DataFrame,
    place: "pd.Series[float]",
    labels: Mapping[str, str],
    others: Sequence[str],
) -> None:
    """Draw the models that ran, each with its published rates, and the others that were published, side by side."""
    slots = len(labels) + len(others)
    shifts = (np.arange(slots) - (slots - 1) / 2) * SPREAD / slots
    hollow: dict[str, Any] = {"fillstyle": "none", "markersize": 7, "linestyle": ""}
    slugs = published["model"].str.lower()
    for number, (model, label) in enumerate(labels.items()):
        style: dict[str, Any] = {
            "color": OKABE_ITO[number % len(OKABE_ITO)],
            "marker": MARKERS[number % len(MARKERS)],
        }
        own, theirs = rates[rates["model"] == model], published[slugs == model]
        spread = np.stack([own[rate] - own["low"], own["high"] - own[rate]])  # (2, scenarios)
        size, width, alpha = WEIGHTS[max(fewest for fewest in WEIGHTS if own["n"].min() >= fewest)]
        look: dict[str, Any] = style | {"linestyle": "", "markersize": size, "elinewidth": width, "alpha": alpha}
        axes.errorbar(place[own["scenario"]] + shifts[number], own[rate], yerr=spread, label=label, **look)
        axes.plot(place[theirs["scenario"]] + shifts[number], theirs["published"], **style | hollow)
    if slugs.isin(labels).any():
        axes.plot([], [], color="0.35", marker="o", **hollow, label="hollow: published")
    for number, model in enumerate(others):
        theirs = published[published["model"] == model]
        grey: dict[str, Any] = {"color": "0.45", "marker": _GREYS[number % len(_GREYS)], "markersize": 5}
        shifted = place[theirs["scenario"]] + shifts[len(labels) + number]
        axes.plot(shifted, theirs["published"], linestyle="", label=f"{model} (published)", **grey)
