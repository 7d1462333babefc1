"""Figures of the same pairs asked in three ways."""

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.report.dots import dots

_LABELS = {
    "recognised": "probe (best layer of other frames)",
    "expected": "likelihood",
    "said": "asked in words",
    "words": "probe on counts of words",
}


def ways_figure(rates: pd.DataFrame, title: str) -> Figure:
    """Draw how often each way is right, a row per construction.

    Args:
        rates: Columns construction, way, accuracy, low, high, n, as `cxprobe.judge.rates_of_ways` returns them.
        title: Of the figure.
    """
    shown = rates.assign(way=rates["way"].map(_LABELS), panel="the same pairs")
    return dots(shown, title, rows="construction", colours="way", panels="panel")
