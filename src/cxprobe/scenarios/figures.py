"""The figure of scenarios: every model's rate in every scenario, a panel for each calibration."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.report.dots import BEST_BLIND, dots
from cxprobe.scenarios.judge import UNCALIBRATED
from cxprobe.scenarios.rules import CHANGES, PURPOSES, Scenarios

_CHANGE = 22  # letters of a line of what a scenario changes


def scenario_figure(
    rates: pd.DataFrame,
    rate: str,
    scenarios: Scenarios,
    labels: dict[str, str],
    title: str,
    published: pd.DataFrame,
    best: pd.DataFrame,
) -> Figure:
    """Draw rates as dots, a row for each scenario with what it changes, a panel for each calibration.

    Args:
        rates: Columns model (a slug), scenario, calibration, the rate, low, high and n.
        rate: The name of the rate: "accuracy" or "flips".
        scenarios: The tests and calibrations.
        labels: Slug -> name, of the models that are drawn.
        title: Of the figure.
        published: What `cxprobe.scenarios.report.published_rates` returns; of the scenarios and calibrations that ran.
        best: The best blind model of each scenario (columns scenario and the rate), drawn in every panel.
    """
    ran = rates[rates["model"].isin(labels)]
    theirs = published.merge(ran[["scenario", "calibration"]].drop_duplicates())
    theirs = theirs.assign(label=theirs["model"] + " (published)", low=theirs["published"], high=theirs["published"])
    both = pd.concat([ran.assign(label=ran["model"].map(labels)), theirs.assign(n=np.nan)], ignore_index=True)
    both[rate] = both[rate].fillna(both["published"])
    rows = {
        name: f"{name}\n{textwrap.fill(CHANGES.get(test.bias, test.bias), _CHANGE)}"
        for name, test in scenarios.tests.items()
    }
    panels = {UNCALIBRATED: "not calibrated"} | {
        name: f"calibrated by {name}: {PURPOSES.get(calibration.purpose, calibration.purpose)}"
        for name, calibration in scenarios.calibrations.items()
    }
    drawn = both.assign(row=both["scenario"].map(rows), panel=both["calibration"].map(panels))
    marks = {BEST_BLIND: best.assign(row=best["scenario"].map(rows))}
    return dots(drawn, title, rows="row", colours="label", panels="panel", value=rate, marks=marks)
