"""Scenarios: accuracies and flips of several models, beside published ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from cxprobe.constructions import Scenarios
from cxprobe.report.plots import MARKERS, OKABE_ITO
from cxprobe.report.tables import cell

CHANCE = 0.5
PANEL = (2.9, 2.5)  # inches
ROW = 3  # panels beside each other
SPREAD = 0.7  # of the width of a scenario, over which the models are spread
_ROW = ["model", "scenario", "source", "n"]


def published_rates(table: pd.DataFrame | None) -> pd.DataFrame:
    """Return a published table in the long form: model, scenario, calibration, and published, a rate in [0, 1].

    Args:
        table: Columns model and scenario, then percentages: "none" and one for each calibration, whose name the
            column begins with, as S5_short. Empty cells were not reported. None if nothing was published.
    """
    if table is None:
        return pd.DataFrame(columns=["model", "scenario", "calibration", "published"])
    named = table.rename(columns={column: column.split("_")[0] for column in table.columns[2:]})
    long = named.melt(["model", "scenario"], var_name="calibration", value_name="published").dropna()
    return long.assign(published=long["published"] / 100).reset_index(drop=True)


def scenarios_beside_published(rates: pd.DataFrame, rate: str, published: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table for reading, in percent: each model that ran, its published row below it, then all others.

    Args:
        rates: What `cxprobe.judge.scenario_rates` returns.
        rate: accuracy or flips.
        published: What `published_rates` returns; a model is the one that ran if its name in lower case is the slug.
        source: The source of the published rates.

    Returns:
        model, scenario, source ("this run" or the published one), n (items; those with a candidate that is not one
        token of the model's tokenizer are left out), and a column for each calibration. An asterisk marks a rate whose
        95 % interval does not contain the published one; absent values are empty texts.
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
        rates: What `cxprobe.judge.scenario_rates` returns.
        rate: accuracy or flips.
        published: What `published_rates` returns, drawn hollow for a model that ran, grey for another.
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


def scenario_figure(
    rates: pd.DataFrame, rate: str, published: pd.DataFrame, of: Sequence[Scenarios], title: str
) -> Figure:
    """Draw a rate by scenario as `rates_by_scenario` does, named as in scenarios.yaml.

    Args:
        rates: See `rates_by_scenario`.
        rate: accuracy or flips.
        published: See `rates_by_scenario`.
        of: The scenarios of each construction in the rates; the first that has a test or calibration names it.
        title: Of the figure.
    """
    tests: dict[str, str] = {}
    panels: dict[str, str] = {}
    for scenarios in of:
        biases = {name: test.bias for name, test in scenarios.tests.items()} | {scenarios.base: "base"}
        purposes = {name: f"{name}: {calibration.purpose}" for name, calibration in scenarios.calibrations.items()}
        tests, panels = biases | tests, purposes | panels
    shown = [dict.fromkeys(rates[column]) for column in ("scenario", "calibration")]
    return rates_by_scenario(
        rates,
        rate,
        published,
        scenarios={name: tests[name] for name in shown[0]},
        calibrations={name: panels.get(name, "not calibrated") for name in shown[1]},
        title=title,
    )


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
    """Return a rate and its interval in percent, with an asterisk if a published rate lies outside the interval."""
    # A rate printed to a hundredth of a percent is exact to half of that. NaN, not reported, never differs.
    differs = published < low - 5e-5 or published > high + 5e-5
    return cell(value, low, high) + (" *" if differs else "")
