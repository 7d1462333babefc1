"""Figures of recognition, each drawn from a tidy table: accuracies by layer and by value."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.report.dots import curves

_LAYER = "layer (0 = embeddings)"


def accuracy_by_layer(by_layer: pd.DataFrame, members: Sequence[Member], title: str, cards: pd.DataFrame) -> Figure:
    """Draw accuracy by layer, a panel for each feature and source, and a line for each model that is not blind.

    Args:
        by_layer: Columns model (a slug), source, feature, layer, accuracy, low, high, n.
        members: What the models are.
        title: Of the figure.
        cards: The best blind model of each source and feature, drawn as a line: columns source, feature, accuracy, and
            says, a sentence below the panel's title or "".

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    labels = {member.slug: member.label for member in members if not member.is_blind}
    said = {(source, feature): says for source, feature, says in cards[["source", "feature", "says"]].to_numpy()}

    def named(table: pd.DataFrame) -> pd.DataFrame:
        keys = zip(table["source"], table["feature"], strict=True)
        return table.assign(
            panel=[f"{feature}, {source}\n{said.get((source, feature), '')}".strip() for source, feature in keys]
        )

    seeing = by_layer[by_layer["model"].isin(labels)]
    table = named(seeing).assign(label=seeing["model"].map(labels)).rename(columns={"layer": _LAYER})
    return curves(table, title, x=_LAYER, panels="panel", colours="label", best=named(cards), linear=True)


def accuracy_by_value(by_value: pd.DataFrame, splits: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracies of one model on one source of sentences by value, as they are, a panel for each feature.

    Args:
        by_value: Columns feature, value, layer, accuracy, low, high, n.
        splits: Columns feature, split and value of its sentences.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figures 2 to 7.
    """
    trained = splits[splits["split"] == "train"].groupby("feature")["value"].agg(["min", "max"]).to_dict("index")
    panels = {name: f"{name}, trained on {ends['min']} to {ends['max']}" for name, ends in trained.items()}
    half_width = 50 * float((by_value["high"] - by_value["low"]).median())
    note = f"the 95 % interval of a value is about ± {half_width:.0f} points"
    accuracy = by_value["accuracy"]  # intervals of all layers would hide the lines
    shown = by_value.assign(panel=by_value["feature"].map(panels), low=accuracy, high=accuracy)
    return curves(shown, f"{title}\n{note}", x="value", panels="panel", colours="layer", linear=True)
