"""Figures of recognition, each drawn from a tidy table: accuracies by layer and by value, and what searches tried."""

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cxprobe.constructions.sentences import ALL_SENTENCES
from cxprobe.lm.params import Member, ModelSpec
from cxprobe.report.dots import MARKERS, OKABE_ITO, add_legend, readable
from cxprobe.report.panels import PERCENT, add_panel, draw_x_scale, draw_y_scale, whole_ticks

RUNNING = 5  # values, over whose sentences lines of accuracy by value are means
# Of the lines of blind models.
BLIND_STYLES: Sequence[Any] = ("--", "-.", (0, (8, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (2, 2)), (0, (14, 2, 2, 2)))
PANEL = (3.4, 2.9)  # inches
CONTROL_STYLE: Mapping[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1.2}


def accuracy_per_layer(by_layer: pd.DataFrame, controls: pd.DataFrame, members: Sequence[Member], title: str) -> Figure:
    """Draw accuracy by layer, a panel per feature and a line per model, with 95 % bands and the controls.

    A blind model has one layer and is a horizontal line; the best one of a panel is heavier, with its band. A twin has
    the colour of the model that it is a twin of, and a broken line.

    Args:
        by_layer: Columns model (a slug), feature, layer, accuracy, low, high, n.
        controls: Columns feature, control, accuracy.
        members: What the models are; at least those of ``by_layer``.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    figure, of_features = _panels(by_layer, title)
    sizes = by_layer.drop_duplicates("feature").set_index("feature")["n"]
    panels = {f"{readable(feature)} (n = {int(sizes[feature]):,})": axes for feature, axes in of_features.items()}
    for feature, axes in of_features.items():
        _draw_layers(axes, _of(by_layer, feature), _of(controls, feature), members)
    _finish(figure, panels, least=min(by_layer["low"].min(), controls["accuracy"].min()))
    return figure


def accuracy_side_by_side(
    by_layer: pd.DataFrame,
    controls: pd.DataFrame,
    members: Sequence[Member],
    title: str,
    notes: Mapping[tuple[str, str], str],
) -> Figure:
    """Draw accuracy by layer as `accuracy_per_layer` does, a column of panels per source of sentences.

    A column has a panel for each feature of which the source has sentences, and no others.

    Args:
        by_layer: Columns source, model, feature, layer, accuracy, low, high, n.
        controls: Columns source, feature, control, accuracy.
        members: What the models are; at least those of ``by_layer``.
        title: Of the figure.
        notes: (source, feature) -> what is to be said above the panel; not every panel has a note.

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    order = list(dict.fromkeys(by_layer["feature"]))
    of_source = {str(source): rows for source, rows in by_layer.groupby("source", sort=False)}
    features = {source: [name for name in order if name in set(rows["feature"])] for source, rows in of_source.items()}
    most = max(map(len, features.values()))
    height = PANEL[1] * 0.95
    size = (max(len(features) * PANEL[0], 4.4) + 0.4, most * height + 1.5)
    figure = Figure(figsize=size)
    figure.suptitle(title, fontsize=11)
    panels: dict[str, Axes] = {}
    for column, (source, names) in enumerate(features.items()):
        for line, feature in enumerate(names):
            up = size[1] - 0.7 - (line + 1) * height
            axes = add_panel(figure, 0.7 + column * PANEL[0], up + 0.45, PANEL[0] - 0.75, height - 1.05)
            rates = _of(of_source[source], feature)
            _draw_layers(axes, rates, _of(controls[controls["source"] == source], feature), members)
            name = f"{readable(feature)}, {source} (n = {int(rates['n'].iloc[0]):,})"
            panels["\n".join(filter(None, (name, notes.get((source, feature)))))] = axes
    _finish(figure, panels, least=min(by_layer["low"].min(), controls["accuracy"].min()))
    return figure


def accuracy_per_value(by_value: pd.DataFrame, controls: pd.DataFrame, trained: pd.DataFrame, title: str) -> Figure:
    """Draw accuracy by the value of each feature, a line per layer, with the values that were trained on in grey.

    A line is the mean over `RUNNING` neighbouring values, since single values have few sentences and seven lines of
    them cannot be told apart; the single values are pale points. Lines of few values are not smoothed.

    A blind model has one layer, which is no layer of embeddings; it is a black line.

    Args:
        by_value: Columns feature, value, layer, accuracy, low, high, n.
        controls: Columns feature, value, control, accuracy.
        trained: Columns feature, least, greatest: the values in the training part.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figures 2 to 7.
    """
    sizes = " to ".join(map(str, sorted({int(by_value["n"].min()), int(by_value["n"].max())})))
    half_width = 50 * float((by_value["high"] - by_value["low"]).median())
    note = (
        f"{sizes} sentences a point, whose 95 % interval is about ± {half_width:.0f} points\n"
        f"lines: means over {RUNNING} neighbouring values"
    )
    figure, panels = _panels(by_value, f"{title}\n{note}")
    layers = sorted(by_value["layer"].unique().tolist())
    # The last tenth of viridis is too pale a yellow for a line on white.
    colours = ListedColormap(mpl.colormaps["viridis"](np.linspace(0, 0.9, len(layers))))
    for feature, axes in panels.items():
        bounds = _of(trained, feature).iloc[0]
        axes.axvspan(bounds["least"] - 0.5, bounds["greatest"] + 0.5, color="0.88", zorder=0, label="trained on")
        for control, line in _of(controls, feature).groupby("control", sort=False):
            axes.plot(line["value"], line["accuracy"], label=readable(str(control)), **CONTROL_STYLE)
        for number, layer in enumerate(layers):
            line = _of(by_value[by_value["layer"] == layer], feature)
            look = {"color": colours(number)} if len(layers) > 1 else {"color": "black", "label": "blind model"}
            axes.plot(line["value"], smoothed(line), linewidth=1.6, **look)
            points: dict[str, Any] = {"marker": ".", "markersize": 3, "linestyle": "", "alpha": 0.35}
            axes.plot(line["value"], line["accuracy"], color=look["color"], label="_nolegend_", **points)
        if feature == ALL_SENTENCES:
            draw_x_scale(axes, {})
        else:
            draw_x_scale(axes, whole_ticks(_of(by_value, feature)["value"]), f"{readable(feature)} (words)")
    _finish(figure, panels, least=min(by_value["accuracy"].min(), controls["accuracy"].min()))
    if len(layers) > 1:
        strip = add_panel(figure, figure.get_figwidth() - 0.35, 1.0, 0.2, figure.get_figheight() - 2.0)
        strip.imshow([[number] for number in range(len(layers))], cmap=colours, aspect="auto", origin="lower")
        draw_y_scale(strip, {number: str(layer) for number, layer in enumerate(layers)}, "layer (0 = embeddings)")
    return figure


def optimisation_history(trials: pd.DataFrame, title: str) -> Figure:
    """Draw the highest accuracy so far over the trials of each search: a panel per feature, a line per layer.

    Args:
        trials: Columns feature, layer, number, accuracy, state, see `cxprobe.recognition.tuning.tune_subset`.
        title: Of the figure.
    """
    complete = trials[trials["state"] == "COMPLETE"]
    figure, panels = _panels(complete, title)
    for feature, axes in panels.items():
        by_layer = list(_of(complete, feature).groupby("layer"))
        colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(by_layer)))
        for (layer, tried), colour in zip(by_layer, colours, strict=True):
            axes.scatter(tried["number"], tried["accuracy"], color=colour, s=4, alpha=0.5)
            highest = tried["accuracy"].cummax()
            axes.step(tried["number"], highest, where="post", color=colour, linewidth=1, label=f"layer {layer}")
        axes.set_title(readable(feature), fontsize=9, y=1.0)
        draw_x_scale(axes, whole_ticks(_of(complete, feature)["number"]), "trial")
        draw_y_scale(axes, _within(PERCENT, axes), "accuracy on held-out folds")
    add_legend(figure, 5, fontsize=9)
    return figure


def parameter_importance(importances: pd.DataFrame, title: str) -> Figure:
    """Draw the importance of each parameter of the searches by layer: a panel per feature.

    Args:
        importances: Columns feature, layer, parameter, importance, see `cxprobe.recognition.tuning`.
        title: Of the figure.
    """
    if importances.empty:
        figure = Figure()
        figure.suptitle(title, fontsize=11)
        figure.text(0.5, 0.5, "all settings are equally accurate", ha="center")
        return figure
    figure, panels = _panels(importances, title)
    for feature, axes in panels.items():
        for (parameter, line), marker in zip(_of(importances, feature).groupby("parameter"), MARKERS, strict=False):
            axes.plot(line["layer"], line["importance"], marker=marker, markersize=4, label=str(parameter))
        axes.set_title(readable(feature), fontsize=9, y=1.0)
        axes.set_ylim(-0.02, 1.02)
        draw_x_scale(axes, whole_ticks(_of(importances, feature)["layer"]), "layer (0 = embeddings)")
        draw_y_scale(axes, PERCENT, "share of the variance")
    add_legend(figure, 5, fontsize=9)
    return figure


def smoothed(line: pd.DataFrame) -> "pd.Series[float]":
    """Return the mean accuracy over `RUNNING` neighbouring values, weighted by their numbers of sentences.

    At the ends there are fewer neighbours. A line of fewer than three times as many values stays as it is.

    Args:
        line: Columns value, accuracy, n, of one feature and layer, by value.
    """
    if len(line) < 3 * RUNNING:
        return line["accuracy"]
    window: dict[str, Any] = {"window": RUNNING, "center": True, "min_periods": 1}
    right = (line["accuracy"] * line["n"]).rolling(**window).sum()
    mean: pd.Series[float] = right / line["n"].rolling(**window).sum()
    return mean


def _draw_layers(axes: Axes, by_layer: pd.DataFrame, controls: pd.DataFrame, members: Sequence[Member]) -> None:
    """Draw one feature of one source: a line and a band per model with layers, the blind models, and the controls."""
    lines = {str(slug): line for slug, line in by_layer.groupby("model", sort=False)}
    present = [member for member in members if member.slug in lines]
    seeing, blind = ([one for one in present if one.is_blind == is_blind] for is_blind in (False, True))
    for member in seeing:
        line, place = lines[member.slug], _place_of(member, seeing)
        colour, marker = OKABE_ITO[place % len(OKABE_ITO)], MARKERS[place % len(MARKERS)]
        look: dict[str, Any] = (
            {} if member.state == "trained" else {"linestyle": (0, (4, 2)), "markerfacecolor": "white"}
        )
        axes.fill_between(line["layer"], line["low"], line["high"], color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            line["layer"], line["accuracy"], color=colour, marker=marker, markersize=4, label=member.label, **look
        )
    _draw_blind(axes, {member.label: lines[member.slug].iloc[0] for member in blind}, among_others=len(present) > 1)
    for control, line in controls.groupby("control", sort=False):
        axes.axhline(float(line["accuracy"].iloc[0]), label=readable(str(control)), **CONTROL_STYLE)
    if seeing:
        layers = pd.concat([lines[member.slug]["layer"] for member in seeing])
        draw_x_scale(axes, whole_ticks(layers), "layer (0 = embeddings)")
    else:
        draw_x_scale(axes, {})


def _draw_blind(axes: Axes, rates: Mapping[str, pd.Series], *, among_others: bool) -> None:
    """Draw blind models as horizontal lines, the best one heavier and with its band, and add them to the legend.

    Args:
        axes: Where.
        rates: Label -> accuracy, low and high.
        among_others: Whether the best one is the line that others are held against.
    """
    thin: dict[str, Any] = {"color": "0.45", "linewidth": 1.1}
    heavy: dict[str, Any] = {"color": "black", "linewidth": 2.4}
    best = max(rates, key=lambda label: rates[label]["accuracy"], default="")
    for place, (label, rate) in enumerate(rates.items()):
        style, look = BLIND_STYLES[place % len(BLIND_STYLES)], heavy if label == best else thin
        axes.axhline(rate["accuracy"], linestyle=style, zorder=1.9, **look)
        shown = thin if among_others else look
        axes.add_line(Line2D([], [], linestyle=style, label=label, **shown))
        if label == best:
            axes.axhspan(rate["low"], rate["high"], color="0.5", alpha=0.15, linewidth=0, zorder=0.5)
    if rates and among_others:
        axes.add_line(Line2D([], [], label="best blind (in its style)", **heavy))


def _place_of(member: Member, members: Sequence[Member]) -> int:
    """Return which of the models with layers gives a model its colour: a trained one of the same checkpoint, or it."""
    origins = [(one.spec.name, one.spec.revision) if isinstance(one.spec, ModelSpec) else None for one in members]
    own = members.index(member)
    trained = [place for place, other in enumerate(members) if other.state == "trained"]
    return own if own in trained else next((place for place in trained if origins[place] == origins[own]), own)


def _panels(table: pd.DataFrame, title: str) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each feature of a table, in the table's order."""
    features = list(dict.fromkeys(table["feature"]))
    columns = min(2, len(features))
    lines, bottom = -(-len(features) // columns), 0.55
    heading = 0.35 + 0.2 * title.count("\n")
    figure = Figure(figsize=(columns * PANEL[0] + 0.9, lines * PANEL[1] + bottom + heading))
    figure.suptitle(title, fontsize=11)
    panels = {}
    for number, feature in enumerate(features):
        line, column = divmod(number, columns)
        up = bottom + 0.45 + (lines - 1 - line) * PANEL[1]
        panels[feature] = add_panel(figure, 0.7 + column * PANEL[0], up, PANEL[0] - 0.75, PANEL[1] - 0.85)
    return figure, panels


def _of(table: pd.DataFrame, feature: str) -> pd.DataFrame:
    return table[table["feature"] == feature]


def _within(ticks: Mapping[float, str], axes: Axes) -> dict[float, str]:
    low, high = axes.get_ylim()
    return {tick: text for tick, text in ticks.items() if low <= tick <= high}


def _finish(figure: Figure, panels: dict[str, Axes], *, least: float) -> None:
    """Give all panels one scale that holds the least accuracy, and the figure one legend."""
    bottom = floor(10 * min(least, 0.45)) / 10
    for feature, axes in panels.items():
        heading, _, note = feature.replace("_", " ").partition("\n")
        axes.set_title(heading, fontsize=9, y=1.0, pad=6 + 9 * len(note.splitlines()))
        axes.text(0.5, 1.015, note, transform=axes.transAxes, ha="center", va="bottom", fontsize=7)
        axes.set_ylim(bottom, 1.02)
        draw_y_scale(axes, _within(PERCENT, axes), "test accuracy", grid=True)
    add_legend(figure, 5, fontsize=9)


def figures_of_model(
    tables: Mapping[str, pd.DataFrame], member: Member, splits: pd.DataFrame, title: str
) -> dict[str, Figure]:
    """Draw the accuracies of one model on one source of sentences, by layer and by value.

    Args:
        tables: "by_layer": columns feature, layer, accuracy, low, high; "by_value": feature, value, layer, accuracy,
            low, high, n; "controls": feature, control, accuracy; "controls_by_value": the same with the column value.
        member: The model.
        splits: Columns feature, split, value: the sentences that the probes were trained and tested on.
        title: Of both figures, behind the model's label.

    Returns:
        "accuracy_per_layer" and "accuracy_per_value".
    """
    train = splits[splits["split"] == "train"]
    trained = train.groupby("feature", as_index=False).agg(least=("value", "min"), greatest=("value", "max"))
    by_layer, heading = tables["by_layer"].assign(model=member.slug), f"{member.label}: {title}"
    return {
        "accuracy_per_layer": accuracy_per_layer(by_layer, tables["controls"], [member], heading),
        "accuracy_per_value": accuracy_per_value(tables["by_value"], tables["controls_by_value"], trained, heading),
    }
