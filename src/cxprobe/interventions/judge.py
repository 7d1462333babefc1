"""Effects of interventions: by layer and region, and summed up as in CausalGym, with intervals over frames."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cxprobe.interventions.names import CONTROL, FRAME_OF_ITEM, INTERVENTIONS, TRUE
from cxprobe.stats import credits_of_margins, mean_by, rate_by

OF_INTERVENTION = ["model", "construction", "intervention", "labels"]
_PLACE = ["layer", "region"]


def with_effects(measured: pd.DataFrame) -> pd.DataFrame:
    """Return what `cxprobe.interventions.measure.measure_layer` gives with the effect on each item, in nats.

    The effect is ``(log p(b) - log p(s))`` of the base as it is, plus ``(log p(s) - log p(b))`` after the intervention,
    where b and s are the answers of base and source.

    Source:
        Arora et al. 2024, section 3.
    """
    return measured.assign(effect=measured["before"] + measured["after"])


def effect_by_place(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the mean effect of every layer and region, in nats, with its interval over frames.

    Args:
        effects: What `with_effects` returns, with model and construction.

    Returns:
        `OF_INTERVENTION`, layer, region, effect, low, high and n, the number of frames.
    """
    return mean_by(effects, "effect", FRAME_OF_ITEM, [*OF_INTERVENTION, *_PLACE]).drop(columns="standardised")


def best_regions(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects at the region of each layer where the mean over items is largest, for each intervention."""
    means = effects.groupby([*OF_INTERVENTION, *_PLACE], sort=False)["effect"].mean().reset_index()
    best = means.loc[means.groupby([*OF_INTERVENTION, "layer"], sort=False)["effect"].idxmax()]
    return effects.merge(best[[*OF_INTERVENTION, *_PLACE]], validate="many_to_one")


def sum_up(effects: pd.DataFrame) -> pd.DataFrame:
    """Return one effect for each intervention: mean over items, maximum over regions in a layer, mean over layers.

    The interval is over frames, at the regions that were chosen. That these are the largest of several is not part of
    it, so that where nothing has an effect the number lies a little above 0.

    Args:
        effects: What `with_effects` returns, with model and construction.

    Returns:
        One row a model, construction, intervention and kind of labels: `OF_INTERVENTION`, effect, low and high in nats,
        n (items), frames; changed, changed_low and changed_high, the share of items whose answer changes, at the same
        regions; and before, the mean of log p(b) - log p(s) of the base as it is.

    Source:
        Arora et al. 2024, section 4, for the aggregation. Other published numbers take the maximum over single items.
    """
    keys = [*OF_INTERVENTION, "id", FRAME_OF_ITEM]
    items = best_regions(effects).groupby(keys, sort=False)[["effect", "changed", "before"]].mean().reset_index()
    table = mean_by(items, "effect", FRAME_OF_ITEM, OF_INTERVENTION).rename(columns={"n": "frames"})
    rates = rate_by(items, "changed", OF_INTERVENTION).rename(columns={"low": "changed_low", "high": "changed_high"})
    before = items.groupby(OF_INTERVENTION, sort=False)["before"].mean().reset_index()
    table = table.drop(columns="standardised").merge(rates.drop(columns="ties")).merge(before)
    order = {name: number for number, name in enumerate(INTERVENTIONS)}
    return table.sort_values("intervention", key=lambda names: names.map(order), kind="stable").reset_index(drop=True)


def selectivity_by(effects: pd.DataFrame) -> pd.DataFrame:
    """Return by how much the effect on the answers is larger than that on control words, in nats, over frames.

    Args:
        effects: What `with_effects` returns, with model and construction.

    Returns:
        One row a model, construction and intervention: these, selectivity, low, high and n, the number of frames.
    """
    keys = [*OF_INTERVENTION[:3], "id", FRAME_OF_ITEM]
    wide = best_regions(effects).pivot_table(index=keys, columns="labels", values="effect", aggfunc="mean")
    items = wide.assign(selectivity=wide[TRUE] - wide[CONTROL]).reset_index()
    return mean_by(items, "selectivity", FRAME_OF_ITEM, OF_INTERVENTION[:3]).drop(columns="standardised")


def base_accuracy(effects: pd.DataFrame) -> pd.DataFrame:
    """Return how often a model prefers the right answer to a base sentence as it is, with its interval over frames.

    Args:
        effects: What `with_effects` returns, with model and construction.

    Returns:
        One row a model and construction: these, accuracy, low, high and n.
    """
    once = effects[effects["labels"] == TRUE].drop_duplicates(["model", "construction", "id"])
    right = once.assign(accuracy=credits_of_margins(once["before"].to_numpy(dtype=np.float64)))
    return rate_by(right, "accuracy", OF_INTERVENTION[:2]).drop(columns="ties")


def metrics_of_run(accuracy: pd.DataFrame, summary: pd.DataFrame, selective: pd.DataFrame) -> dict[str, float]:
    """Return the numbers of one model on one construction by name.

    Args:
        accuracy: Its row of `base_accuracy`.
        summary: Its rows of `sum_up`.
        selective: Its rows of `selectivity_by`.
    """
    metrics = {name: float(accuracy[name].iloc[0]) for name in ("accuracy", "low", "high", "n")}
    for row in summary[summary["labels"] == TRUE].to_dict("records"):
        name = f"effect.{row['intervention']}"
        metrics |= {name: row["effect"], f"{name}_low": row["low"], f"{name}_high": row["high"]}
        metrics[f"changed.{row['intervention']}"] = row["changed"]
    differences = selective.set_index("intervention")["selectivity"]
    return metrics | {f"selectivity.{name}": float(value) for name, value in differences.items()}


def series_by_layer(effects: pd.DataFrame) -> Mapping[str, list[tuple[int, float]]]:
    """Return of each intervention on one model's answers the largest mean effect of a region, by layer."""
    best = best_regions(effects[effects["labels"] == TRUE])
    means = best.groupby(["intervention", "layer"], sort=False)["effect"].mean().reset_index()
    return {
        f"by_layer.{name}": list(zip(rows["layer"].astype(int), rows["effect"].astype(float), strict=True))
        for name, rows in means.groupby("intervention", sort=False)
    }
