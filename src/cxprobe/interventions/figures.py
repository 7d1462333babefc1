"""The figure of interventions: a heat map of layers and regions for each intervention."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cxprobe.interventions.names import INTERVENTIONS, RANDOM, TRUE

_CELL = 0.42  # inches


def heat_map(by_place: pd.DataFrame, title: str) -> Figure:
    """Draw the mean effect in nats of each layer and region, a panel for each intervention, with one scale of colours.

    A frame marks the cell with the largest effect whose interval lies above 0, but for random directions.

    Args:
        by_place: What `cxprobe.interventions.judge.effect_by_place` returns, of one model and construction.
        title: Of the figure.
    """
    true = by_place[by_place["labels"] == TRUE]
    regions, layers = list(dict.fromkeys(true["region"])), sorted(set(true["layer"]))
    most = max(float(true["effect"].abs().max()), 1e-9)
    size = (1.6 + len(INTERVENTIONS) * (len(regions) * _CELL + 0.4), 2.4 + len(layers) * _CELL)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(INTERVENTIONS), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, INTERVENTIONS, strict=True):
        part = true[true["intervention"] == name]
        effects = (
            part.pivot_table(index="layer", columns="region", values="effect")
            .reindex(index=layers, columns=regions)
            .to_numpy()
        )
        image = axes.imshow(effects, cmap="RdBu_r", vmin=-most, vmax=most, origin="lower", aspect="auto")
        for row in range(len(layers)):
            for column in range(len(regions)):
                value = float(effects[row, column])
                colour = "white" if abs(value) > 0.6 * most else "black"
                axes.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=7, color=colour)
        above = part[(part["low"] > 0) & (name != RANDOM)]
        if len(above):
            best = above.sort_values("effect", kind="stable").iloc[-1]
            corner = (regions.index(best["region"]) - 0.5, layers.index(best["layer"]) - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=2))
        axes.set_title(name, fontsize=9)
        axes.set_xticks(range(len(regions)), regions, rotation=60, ha="right", fontsize=8)
        axes.set_yticks(range(len(layers)), [str(layer) for layer in layers], fontsize=8)
    panels[0].set_ylabel("layer")
    figure.colorbar(image, ax=list(panels), label="effect in nats")
    figure.suptitle(title, fontsize=10)
    return figure
