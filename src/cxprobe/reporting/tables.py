"""Tidy tables: what the figures are drawn from, and what a reader recounts."""

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pandas as pd

from cxprobe.records import Estimate
from cxprobe.stats import credit, estimate_rate

_ESTIMATE = ["accuracy", "low", "high", "n"]


def accuracy_by(predictions: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the accuracy, with its 95 % interval, of each group of predictions.

    Args:
        predictions: Columns probability, label, template (the clusters of the interval), and the keys.
        keys: Columns that define the groups, in the order of the result's.

    Returns:
        The keys, then accuracy, low and high in [0, 1], and n, the number of predictions; a tie is half right.
    """
    credits = credit(predictions["probability"].to_numpy(), (predictions["label"] == "positive").to_numpy())
    scored = predictions.assign(credit=credits)
    rows = [
        (*group, *astuple(_estimate(members)))
        for group, members in scored.groupby(list(keys), sort=False)[["credit", "template"]]
    ]
    return pd.DataFrame(rows, columns=[*keys, *_ESTIMATE])


def curves(by_layer: pd.DataFrame) -> pd.DataFrame:
    """Return one row a layer and one column a feature: the form that `dvc plots` draws."""
    wide = by_layer.pivot(index="layer", columns="feature", values="accuracy")
    return wide[list(dict.fromkeys(by_layer["feature"]))].reset_index().rename_axis(columns=None)


def highlights(by_layer: pd.DataFrame, controls: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return, for each feature, layer 0, the layer with the highest accuracy, and the controls.

    The highest of several accuracies on the same test sentences is an optimistic number: compare curves, not peaks.
    """
    summary = {}
    for feature, layers in by_layer.groupby("feature", sort=False):
        accuracy = dict(zip(layers["layer"].tolist(), layers["accuracy"].tolist(), strict=True))
        own = controls[controls["feature"] == feature]
        top = max(accuracy, key=lambda layer: accuracy[layer])
        summary[str(feature)] = {
            "layer_0": accuracy[0],
            "highest": accuracy[top],
            "highest_layer": top,
            **dict(zip(own["control"].tolist(), own["accuracy"].tolist(), strict=True)),
        }
    return summary


def _estimate(members: pd.DataFrame) -> Estimate:
    return estimate_rate(members["credit"].to_numpy(dtype=np.float64), members["template"].to_numpy(dtype=object))
