"""Effects of interventions: by layer and region, and summed up as in CausalGym, with intervals over frames."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from cxprobe.interventions.names import (
    CONTROL,
    DIRECTIONS,
    FRAME_OF_ITEM,
    INTERVENTIONS,
    NEUTRAL,
    ORDER,
    RANDOM,
    SELECTIVE,
    TRANSFERRED,
    TRUE,
    WHOLE,
    tried_on_itself,
)
from cxprobe.stats import credits_of_margins, mean_by, rate_by

OF_INTERVENTION = ["model", "learnt", "construction", "intervention", "labels"]
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
        effects: What `with_effects` returns, with model.

    Returns:
        `OF_INTERVENTION`, layer, region, effect, low, high and n, the number of frames.
    """
    return _means(effects, "effect", [*OF_INTERVENTION, *_PLACE])


def best_regions(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects at the region of each layer where the mean over items is largest, for each intervention."""
    means = effects.groupby([*OF_INTERVENTION, *_PLACE], sort=False)["effect"].mean().reset_index()
    best = means.loc[means.groupby([*OF_INTERVENTION, "layer"], sort=False)["effect"].idxmax()]
    return effects.merge(best[[*OF_INTERVENTION, *_PLACE]], validate="many_to_one")


def _of_items(effects: pd.DataFrame) -> pd.DataFrame:
    """Return each item's numbers at the best regions, mean over layers."""
    keys = [*OF_INTERVENTION, "id", FRAME_OF_ITEM]
    return best_regions(effects).groupby(keys, sort=False)[["effect", "changed", "before"]].mean().reset_index()


def sum_up(effects: pd.DataFrame) -> pd.DataFrame:
    """Return one effect for each intervention: mean over items, maximum over regions in a layer, mean over layers.

    The interval is over frames, at the regions that were chosen. That these are the largest of several is not part of
    it, so that where nothing has an effect the number lies a little above 0.

    Args:
        effects: What `with_effects` returns, with model.

    Returns:
        One row a model, construction, intervention and kind of labels: `OF_INTERVENTION`, effect, low and high in nats,
        n (items), frames; changed, changed_low and changed_high, the share of items whose answer changes, at the same
        regions; before, the mean of log p(b) - log p(s) of the base as it is; selectivity, selectivity_low and
        selectivity_high: by how much the effect on the answers is larger than that on control words; and broken,
        broken_low and broken_high: by how many nats the right word of neutral sentences becomes less probable.

    Source:
        Arora et al. 2024, section 4, for the aggregation. Other published numbers take the maximum over single items.
    """
    items = _of_items(tried_on_itself(effects))
    table = _means(items).rename(columns={"n": "frames"})
    rates = rate_by(items, "changed", OF_INTERVENTION).rename(columns=_ends_of("changed"))
    before = items.groupby(OF_INTERVENTION, sort=False)["before"].mean().reset_index()
    neutral = _means(_of_items(effects[effects["construction"] == NEUTRAL]))
    broken = neutral.drop(columns=["construction", "labels", "n"])
    broken = broken.rename(columns={"effect": "broken"} | _ends_of("broken"))
    selective = _beyond_control(items, "selectivity", OF_INTERVENTION[:4]).drop(columns="n")
    table = table.merge(rates.drop(columns="ties")).merge(before).merge(broken).merge(selective)
    in_order = table["intervention"].map(INTERVENTIONS.index).argsort(kind="stable")
    return table.iloc[in_order].reset_index(drop=True)


def _means(items: pd.DataFrame, column: str = "effect", by: Sequence[str] = OF_INTERVENTION) -> pd.DataFrame:
    return mean_by(items, column, FRAME_OF_ITEM, by).drop(columns="standardised")


def _beyond_control(effects: pd.DataFrame, name: str, by: Sequence[str]) -> pd.DataFrame:
    """Return by how much effects on answers are larger than on control words: ``name``, its low and high, and n."""
    wide = effects.pivot_table(index=[*by, "id", FRAME_OF_ITEM], columns="labels", values="effect")
    beyond = (wide[TRUE] - wide[CONTROL]).rename(name).reset_index()
    return _means(beyond, name, by).rename(columns=_ends_of(name))


def transfer(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects of what was found on one construction on every other, and on itself, in nats.

    They are summed up as in `sum_up`, over the first region and the last one, also where others were asked.

    Args:
        effects: What `with_effects` returns, with model.

    Returns:
        One row a model, construction that was learnt, construction that was asked, and intervention of `TRANSFERRED`:
        `OF_INTERVENTION`, effect, low, high and n, the number of frames.
    """
    regions = effects.groupby(["model", "construction"], sort=False)["region"]
    is_end = (effects["region"] == regions.transform("first")) | (effects["region"] == regions.transform("last"))
    is_asked = effects["intervention"].isin(TRANSFERRED) & (effects["construction"] != NEUTRAL)
    return _means(_of_items(effects[is_end & is_asked & (effects["labels"] == TRUE)]))


def differences(effects: pd.DataFrame) -> pd.DataFrame:
    """Return by how much each intervention is ahead of the next one, on the same items, in nats, over frames.

    Args:
        effects: What `with_effects` returns, with model.

    Returns:
        One row a model, construction, first and second intervention, which follow one another in `ORDER`, and kind of
        labels (answers, control words, or `SELECTIVE`): these, difference, low, high and n, the number of frames.
    """
    keys = ["model", "construction", "id", FRAME_OF_ITEM]
    wide = _of_items(tried_on_itself(effects)).pivot_table(
        index=keys, columns=["labels", "intervention"], values="effect"
    )
    parts = []
    for first, second in pairwise(ORDER):
        ahead = {kind: wide[kind, first] - wide[kind, second] for kind in (TRUE, CONTROL)}
        for kind, values in (ahead | {SELECTIVE: ahead[TRUE] - ahead[CONTROL]}).items():
            rows = values.rename("difference").reset_index()
            parts.append(rows.assign(first=first, second=second, labels=kind))
    return _means(pd.concat(parts), "difference", [*keys[:2], "first", "second", "labels"])


def uses(effects: pd.DataFrame) -> pd.DataFrame:
    """Return for each model and construction what is readable, expected and used.

    Args:
        effects: What `with_effects` returns, with model.

    Returns:
        One row a model and construction: the layer and the region, and which of `DIRECTIONS` has the largest effect on
        the answers beyond that on control words; of this place, in nats and with low and high over frames, used (that
        number), random (that of random directions) and whole (of the whole vector); readable, with low and high: the
        share of the other items' vectors whose label a probe finds; changed, random_changed and whole_changed,
        likewise: the share of items whose answer changes; and expected, with low, high: how often the model prefers the
        right answer; n (items) and frames.
    """
    keys = ["model", "construction", *_PLACE]
    by = [*OF_INTERVENTION[:4], *_PLACE]
    mine = tried_on_itself(effects)
    answered = mine[mine["labels"] == TRUE]
    places = _beyond_control(mine, "used", by).rename(columns={"n": "frames"})
    for name in ("changed", "readable"):
        share = rate_by(answered, name, by).rename(columns=_ends_of(name))
        places = places.merge(share.drop(columns="ties"), how="left")
    found = places[places["intervention"].isin(DIRECTIONS)]
    best = found.loc[found.groupby(["model", "construction"], sort=False)["used"].idxmax()].drop(columns="learnt")
    numbers = [f"{number}{end}" for number in ("used", "changed") for end in ("", "_low", "_high")]
    for name in (RANDOM, WHOLE):
        beside = places.loc[places["intervention"] == name, [*keys, *numbers]]
        named = {number: number.replace("used", name).replace("changed", f"{name}_changed") for number in numbers}
        best = best.merge(beside.rename(columns=named), how="left")
    expected = base_accuracy(effects).rename(columns={"accuracy": "expected"} | _ends_of("expected"))
    return best.merge(expected.drop(columns="n"), how="left")


def beside_controls(used: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return what is used with what is expected where the text says the same in plain words.

    Args:
        used: What `uses` returns, with control.
        accuracy: What `base_accuracy` returns.

    Returns:
        The rows of ``used`` with control_expected, its low and high, and control_n: how often the model prefers the
        right answer to the sentences of the control; NaN where it was not asked.
    """
    names = {"construction": "control", "accuracy": "control_expected", "n": "control_n"}
    of_control = accuracy.rename(columns=names | _ends_of("control_expected"))
    return used.merge(of_control, how="left")


def _ends_of(name: str) -> dict[str, str]:
    return {"low": f"{name}_low", "high": f"{name}_high"}


def base_accuracy(effects: pd.DataFrame) -> pd.DataFrame:
    """Return how often a model prefers the right answer to a base sentence as it is, with its interval over frames.

    Args:
        effects: What `with_effects` returns, with model.

    Returns:
        One row a model and construction: these, accuracy, low, high and n.
    """
    asked = effects[(effects["labels"] == TRUE) & (effects["construction"] != NEUTRAL)]
    once = asked.drop_duplicates(["model", "construction", "id"])
    right = once.assign(accuracy=credits_of_margins(once["before"].to_numpy(dtype=np.float64)))
    return rate_by(right, "accuracy", ["model", "construction"]).drop(columns="ties")


def metrics_of_run(accuracy: pd.DataFrame, summary: pd.DataFrame, used: pd.DataFrame) -> dict[str, float]:
    """Return the numbers of one model on one construction by name.

    Args:
        accuracy: Its row of `base_accuracy`.
        summary: Its rows of `sum_up`.
        used: Its row of `uses`.
    """
    metrics = {name: float(accuracy[name].iloc[0]) for name in ("accuracy", "low", "high", "n")}
    metrics |= {name: float(used[name].iloc[0]) for name in ("readable", "used")}
    for row in summary[summary["labels"] == TRUE].to_dict("records"):
        name = f"effect.{row['intervention']}"
        metrics |= {name: row["effect"], f"{name}_low": row["low"], f"{name}_high": row["high"]}
        metrics[f"selectivity.{row['intervention']}"] = row["selectivity"]
        if row["intervention"] in TRANSFERRED:
            metrics[f"broken.{row['intervention']}"] = row["broken"]
    return metrics


def series_by_layer(effects: pd.DataFrame) -> Mapping[str, list[tuple[int, float]]]:
    """Return of each intervention on one model's answers the largest mean effect of a region, by layer."""
    mine = tried_on_itself(effects)
    best = best_regions(mine[mine["labels"] == TRUE])
    means = best.groupby(["intervention", "layer"], sort=False)["effect"].mean().reset_index()
    return {
        f"by_layer.{name}": list(rows[["layer", "effect"]].itertuples(index=False, name=None))
        for name, rows in means.groupby("intervention", sort=False)
    }


def beside_published(summary: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the effects of the run beside published ones.

    Args:
        summary: What `sum_up` returns.
        published: model, construction, intervention, effect (in nats) and source.

    Returns:
        The columns of ``published``, and low, high and n, which were not published.
    """
    columns = ["model", "construction", "intervention", "effect", "low", "high", "n"]
    shown = summary.loc[summary["labels"] == TRUE, columns].assign(source="this run").round(2)
    every = pd.concat([shown.astype(object), published.astype(object)], ignore_index=True)
    return every.where(every.notna(), "")
