"""Recognition side by side: the figures of one model, and those of all models and sources of sentences."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.report.plots import accuracy_per_layer, accuracy_per_value, accuracy_side_by_side


def figures_of_model(
    by_layer: pd.DataFrame,
    by_value: pd.DataFrame,
    controls: Mapping[str, pd.DataFrame],
    *,
    splits: pd.DataFrame,
    title: str,
) -> dict[str, Figure]:
    """Draw the accuracies of one model on one source of sentences, by layer and by value.

    Args:
        by_layer: Columns model, feature, layer, accuracy, low, high.
        by_value: Columns feature, value, layer, accuracy, low, high, n.
        controls: "layer" -> columns feature, control, accuracy; "value" -> the same with the column value.
        splits: Columns feature, split, value: the sentences that the probes were trained and tested on.
        title: Of both figures.

    Returns:
        "accuracy_per_layer" and "accuracy_per_value".
    """
    train = splits[splits["split"] == "train"]
    trained = train.groupby("feature", as_index=False).agg(least=("value", "min"), greatest=("value", "max"))
    return {
        "accuracy_per_layer": accuracy_per_layer(by_layer, controls["layer"], title),
        "accuracy_per_value": accuracy_per_value(by_value, controls["value"], trained, title),
    }


def figures_of_grid(by_layer: pd.DataFrame, controls: pd.DataFrame) -> dict[str, Figure]:
    """Draw the accuracies of all models on all sources of sentences, a figure a construction.

    Args:
        by_layer: Columns construction, source, model, feature, layer, accuracy, low, high, n.
        controls: Columns construction, source, model, feature, control, accuracy.

    Returns:
        "recognition_<construction>" -> figure.
    """
    # The controls do not depend on the model, so those of the first model are those of all.
    first = controls.drop_duplicates(["construction", "source", "feature", "control"])
    return {
        f"recognition_{name}": accuracy_side_by_side(rows, first[first["construction"] == name], str(name))
        for name, rows in by_layer.groupby("construction", sort=False)
    }
