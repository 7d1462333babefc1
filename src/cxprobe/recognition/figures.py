"""Figures of recognition, each drawn from a tidy table: accuracies by layer and by value."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.report.dots import curves, dots_of_run

RUNNING = 5  # values, over whose sentences lines of accuracy by value are means
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


def figures_of_model(
    tables: Mapping[str, pd.DataFrame], member: Member, splits: pd.DataFrame, title: str
) -> dict[str, Figure]:
    """Return the figures of one model on one source of sentences: accuracy by layer and by value.

    Args:
        tables: "by_layer" and "by_value": columns feature, value (by value), layer, accuracy, low, high, n.
        member: The model.
        splits: Columns feature, split and value of its sentences.
        title: What was asked about.

    Source:
        Weissweiler et al. 2022, Figures 2 to 4, for the accuracy by layer and value.
    """
    by_layer, by_value, heading = tables["by_layer"], tables["by_value"], f"{member.label}: {title}"
    lines = [line.assign(accuracy=smoothed(line)) for _, line in by_value.groupby(["feature", "layer"], sort=False)]
    trained = splits[splits["split"] == "train"].groupby("feature")["value"].agg(["min", "max"]).to_dict("index")
    panels = {name: f"{name}, trained on {ends['min']} to {ends['max']}" for name, ends in trained.items()}
    shown = pd.concat(lines, ignore_index=True)
    shown = shown.assign(panel=shown["feature"].map(panels))
    half_width = 50 * float((by_value["high"] - by_value["low"]).median())
    note = f"means over {RUNNING} neighbouring values; the 95 % interval of a value is about ± {half_width:.0f} points"
    shown = shown.assign(low=shown["accuracy"], high=shown["accuracy"])
    return {
        "accuracy_per_layer": dots_of_run(by_layer.assign(group=by_layer["feature"]), heading)
        if member.is_blind
        else curves(by_layer.rename(columns={"layer": _LAYER}), heading, x=_LAYER, panels="feature", linear=True),
        "accuracy_per_value": curves(
            shown, f"{heading}\n{note}", x="value", panels="panel", colours="layer", linear=True
        ),
    }


def smoothed(line: pd.DataFrame) -> "pd.Series[float]":
    """Return the accuracies by value as means over neighbouring values; few values as they are.

    Args:
        line: Columns accuracy and n, in the order of the values.
    """
    if len(line) < 3 * RUNNING:
        return line["accuracy"]
    right, n = (
        numbers.rolling(window=RUNNING, center=True, min_periods=1).sum()
        for numbers in (line["accuracy"] * line["n"], line["n"])
    )
    mean: pd.Series[float] = right / n
    return mean
