"""Scenarios: accuracies and flips of several models, beside what others have published."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from cxprobe.reporting.plots import MARKERS, OKABE_ITO
from cxprobe.reporting.tables import cell, rate_by

CHANCE = 0.5
PANEL = (2.9, 2.5)  # inches
ROW = 3  # panels beside each other
SPREAD = 0.7  # of the room of a scenario, in which the models stand beside each other
_ROW = ["model", "scenario", "source", "n"]
_KEYS = ["model", "calibration", "scenario"]


def scenario_rates(credited: pd.DataFrame, rate: str) -> pd.DataFrame:
    """Return a rate with its 95 % interval for each model, calibration and scenario.

    Args:
        credited: Columns model, calibration, scenario, cluster_<...> and ``rate``, each item's credit: 0, 0.5 where
            a tie decides, 1.
        rate: accuracy or flips.

    Returns:
        model, calibration, scenario, the rate, low and high in [0, 1], n, and ties, the share of items with 0.5.
    """
    ties = credited.assign(ties=credited[rate] == 0.5).groupby(_KEYS, sort=False)["ties"].mean().reset_index()
    return rate_by(credited, rate, _KEYS).merge(ties, on=_KEYS, validate="one_to_one")


def published_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return a published table in the long form: model, scenario, calibration, and published, a rate in [0, 1].

    Args:
        table: Columns model and scenario, then percentages: "none" and one for each calibration, whose name the
            column begins with, as S5_short. What is empty was not reported.
    """
    named = table.rename(columns={column: column.split("_")[0] for column in table.columns[2:]})
    long = named.melt(["model", "scenario"], var_name="calibration", value_name="published").dropna()
    return long.assign(published=long["published"] / 100).reset_index(drop=True)


def beside_published(rates: pd.DataFrame, rate: str, published: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table for reading, in percent: each model that ran, its published row below it, then all others.

    Args:
        rates: As `scenario_rates` returns them.
        rate: accuracy or flips.
        published: As `published_rates` returns them; a model is the one that ran if its name is the slug, but for
            capitals.
        source: Where the published rates stand.

    Returns:
        model, scenario, source ("this run" or the published one), n (items; a model is not asked about those whose
        words are not one token for it), and a column for each calibration. An asterisk marks a rate whose 95 %
        interval does not hold the published one; what is absent is an empty text.
    """
    keys = ["key", "scenario", "calibration"]
    run = rates.assign(key=rates["model"].str.lower(), source="this run")
    theirs = published.assign(key=published["model"].str.lower(), source=source)
    run = run.merge(theirs[[*keys, "published"]], on=keys, how="left", validate="many_to_one")
    run["cell"] = [_cell(*row) for row in run[[rate, "low", "high", "published"]].itertuples(index=False)]
    theirs["cell"] = theirs["published"].map(lambda value: f"{100 * value:.2f}")
    ran = list(dict.fromkeys(run["key"]))
    place = {key: number for number, key in enumerate(dict.fromkeys([*ran, *theirs["key"]]))}
    both = pd.concat([run, theirs]).sort_values("key", key=lambda names: names.map(place), kind="stable")
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    both["n"] = both["n"].map(lambda n: "" if np.isnan(n) else str(int(n)))
    for *names, calibration, text in both[[*_ROW, "calibration", "cell"]].to_numpy().tolist():
        rows.setdefault(tuple(names), {})[calibration] = text
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(dict.fromkeys(run["calibration"])))
    return table.fillna("").rename_axis(_ROW).reset_index()


def rates_by_scenario(
    rates: pd.DataFrame,
    rate: str,
    published: pd.DataFrame,
    *,
    scenarios: Mapping[str, str],
    calibrations: Mapping[str, str],
    title: str,
) -> Figure:
    """Draw a rate by scenario, a panel for each calibration and a marker for each model, with 95 % intervals.

    Args:
        rates: As `scenario_rates` returns them.
        rate: accuracy or flips.
        published: As `published_rates` returns them, drawn hollow for a model that ran, grey for another.
        scenarios: Scenario -> what it tests, in the order of the axis.
        calibrations: Calibration -> the title of its panel, in their order.
        title: Of the figure.
    """
    lines = -(-len(calibrations) // ROW)
    figure = Figure(figsize=(ROW * PANEL[0] + 0.4, lines * PANEL[1] + 1.1), layout="constrained")
    panels = np.atleast_1d(figure.subplots(lines, min(ROW, len(calibrations)), sharey=True)).ravel()
    for spare in panels[len(calibrations) :]:
        spare.remove()
    figure.suptitle(title, fontsize=11)
    for place, (calibration, name) in enumerate(calibrations.items()):
        axes = panels[place]
        axes.axhline(CHANCE, color="0.35", linestyle=":", linewidth=1.2, label="chance")
        _draw_models(
            axes,
            rates[rates["calibration"] == calibration],
            rate,
            published[published["calibration"] == calibration],
            list(scenarios),
        )
        axes.set_title(name, fontsize=10)
        axes.set_xticks(range(len(scenarios)), [f"{key}\n{what}" for key, what in scenarios.items()], fontsize=8)
        axes.set_xlim(-0.5, len(scenarios) - 0.5)
        axes.set_ylim(-0.04, 1.04)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel(rate if place % ROW == 0 else "")
    legend = dict[str, Any]()
    for axes in panels[: len(calibrations)]:
        legend |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def _draw_models(axes: Axes, rates: pd.DataFrame, rate: str, published: pd.DataFrame, scenarios: Sequence[str]) -> None:
    models = list(dict.fromkeys(rates["model"]))
    place = pd.Series(range(len(scenarios)), index=list(scenarios), dtype=float)
    hollow: dict[str, Any] = {"fillstyle": "none", "markersize": 7, "linestyle": ""}
    for number, model in enumerate(models):
        style: dict[str, Any] = {
            "color": OKABE_ITO[number % len(OKABE_ITO)],
            "marker": MARKERS[number % len(MARKERS)],
        }
        shift = (number - (len(models) - 1) / 2) * SPREAD / len(models)
        own = rates[rates["model"] == model]
        spread = np.stack([own[rate] - own["low"], own["high"] - own[rate]])  # (2, scenarios)
        axes.errorbar(
            place[own["scenario"]] + shift, own[rate], yerr=spread, **style, linestyle="", markersize=4, label=model
        )
        theirs = published[published["model"].str.lower() == model]
        axes.plot(place[theirs["scenario"]] + shift, theirs["published"], **style | hollow)
    ran = published["model"].str.lower().isin(models)
    if ran.any():
        axes.plot([], [], color="0.35", marker="o", **hollow, label="hollow: published")
    if not ran.all():
        others = published[~ran]
        tick: dict[str, Any] = {"color": "0.6", "marker": "_", "markersize": 14, "linestyle": "", "zorder": 0}
        axes.plot(place[others["scenario"]], others["published"], **tick, label="published, other models")


def _cell(value: float, low: float, high: float, published: float) -> str:
    """Return a rate and its interval in percent, with an asterisk if they do not go with a published rate."""
    # What is printed to a hundredth of a percent may be half of that more or less. NaN, not reported, differs never.
    differs = published < low - 5e-5 or published > high + 5e-5
    return cell(value, low, high) + (" *" if differs else "")
