"""Tidy tables: what the figures are drawn from, and what a reader recounts."""

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pandas as pd

from cxprobe.records import Estimate
from cxprobe.stats import clusters_of, credit, estimate_rate

_INTERVAL = ("accuracy", "low", "high")
_ESTIMATE = [*_INTERVAL, "n"]


def accuracy_by(predictions: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy, with its 95 % interval, of each group of predictions.

    Args:
        predictions: Columns probability, label, cluster_<...> (the ways in which the interval's items are
            clustered, at least one), and the keys.
        keys: Columns that define the groups, in the order of the result's.

    Returns:
        The keys, then accuracy, low and high in [0, 1], and n, the number of predictions; a tie is half right.
    """
    credits = credit(predictions["probability"].to_numpy(), (predictions["label"] == "positive").to_numpy())
    return rate_by(predictions.assign(accuracy=credits), "accuracy", keys)


def rate_by(credited: pd.DataFrame, rate: str, keys: Sequence[str]) -> pd.DataFrame:
    """Return a rate, with its 95 % interval, of each group of items.

    Args:
        credited: The column ``rate``, each item's credit in [0, 1]; cluster_<...> (the ways in which the interval's
            items are clustered, at least one); and the keys.
        rate: What the credits are the rate of.
        keys: Columns that define the groups, in the order of the result's.

    Returns:
        The keys, then the rate, low and high in [0, 1], and n, the number of items.
    """
    rows = [(*group, *astuple(_estimate(members, rate))) for group, members in credited.groupby(list(keys), sort=False)]
    return pd.DataFrame(rows, columns=[*keys, rate, "low", "high", "n"])


def highlights(by_layer: pd.DataFrame, controls: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return, for each feature, layer 0, the layer with the highest accuracy, and the controls, with intervals.

    The highest of several accuracies on the same test sentences is an optimistic number: compare curves, not peaks.

    Args:
        by_layer: Columns feature, layer, accuracy, low, high, n.
        controls: Columns feature, control, accuracy, low, high, n.
    """
    summary: dict[str, dict[str, object]] = {}
    for feature, layers in by_layer.groupby("feature", sort=False):
        by_number = layers.set_index("layer")[_ESTIMATE].to_dict("index")
        top = max(by_number, key=lambda layer: by_number[layer]["accuracy"])
        own = controls[controls["feature"] == feature].set_index("control")[_ESTIMATE].to_dict("index")
        summary[str(feature)] = {
            "layer_0": by_number[0],
            "highest": {"layer": top, **by_number[top]},
            **{str(control): estimate for control, estimate in own.items()},
        }
    return summary


def layer_series(by_layer: pd.DataFrame, columns: Sequence[str] = _INTERVAL) -> dict[str, list[tuple[int, float]]]:
    """Return columns, by default accuracy and its interval, by layer for each feature: what MLflow draws."""
    return {
        f"{feature}/{name}": list(zip(rows["layer"].tolist(), rows[name].tolist(), strict=True))
        for feature, rows in by_layer.groupby("feature", sort=False)
        for name in columns
    }


def cell(value: float, low: float, high: float) -> str:
    """Return a rate and its interval in percent, for reading."""
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _estimate(members: pd.DataFrame, rate: str) -> Estimate:
    return estimate_rate(members[rate].to_numpy(dtype=np.float64), clusters_of(members))
