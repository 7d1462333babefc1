"""The same minimal pairs asked in three ways: the text that a probe takes, the model expects, and the model names.

``recognised``: a linear probe on the model's vectors, trained on other frames, takes the right text. ``expected``: the
model finds the right text more probable. ``said``: asked in words, it names the right text.
"""

from collections.abc import Mapping
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from cxprobe.results.schema import HALF
from cxprobe.stats import LEVEL, credits_of_margins
from cxprobe.tasks.pairs.evaluate import decisions_of
from cxprobe.tasks.pairs.sources import FRAME

WAYS = ("recognised", "expected", "said")
_COUNTS = ["n", "both_right", "first_alone", "second_alone", "both_wrong", "ties"]


def with_ways(
    responses: pd.DataFrame, predicted: Mapping[str, Mapping[str, pd.DataFrame]], asked: Mapping[str, str | None]
) -> pd.DataFrame:
    """Return responses with those of probed models in each way, "words" among them, and by the probe of each layer.

    Args:
        responses: Those of all models (`cxprobe.tasks.pairs.evaluate.pair_responses`).
        predicted: Model -> construction -> predictions of its probes: id, layer (-1 for counts of words), probability.
        asked: Model -> the same one as it is asked in words, or None.
    """
    decisions = decisions_of(responses)
    ways: dict[str, list[pd.DataFrame]] = {way: [] for way in ("words", *WAYS)}
    layers: list[pd.DataFrame] = []
    for model, of_model in predicted.items():
        said = decisions[decisions["model"] == asked[model]].set_index("item")["value"]
        for name, table in of_model.items():
            table = table.assign(credit=credits_of_margins(table["probability"].to_numpy(np.float64) - 0.5))
            credits = table.pivot(index="id", columns="layer", values="credit")
            own = decisions[(decisions["model"] == model) & (decisions["construction"] == name)]
            items = own[own["item"].isin(credits.index)].reset_index(drop=True)
            credits = credits.loc[items["item"]].reset_index(drop=True)  # (pairs, words and layers)
            of_layers = credits.drop(columns=-1)
            values: dict[str, Any] = {
                "words": credits[-1],
                "recognised": _of_best_layer(of_layers, items[FRAME].astype(str)),
                "expected": items["value"],
                "said": items["item"].map(said),
            }
            for way, credit in values.items():
                ways[way].append(items.assign(way=way, value=credit))
            layers += [items.assign(way="recognised", layer=str(layer), value=of_layers[layer]) for layer in of_layers]
    added = pd.concat([responses.head(0), *chain(*ways.values()), *layers]).dropna(subset="value")
    added = added.assign(gold="", chosen="", scheme="", score="", decides=False, deciding=False, balanced=True)
    return pd.concat([responses, added], ignore_index=True)


def _of_best_layer(credits: pd.DataFrame, frames: "pd.Series[str]") -> NDArray[np.float64]:
    """Return the credit of each pair on the layer that is most often right about the pairs of all other frames.

    So no pair has a part in choosing its layer; of several layers the lowest.

    Args:
        credits: Shape (pairs, layers).
        frames: Shape (pairs,).
    """
    of_other_frames = credits.sum() - credits.groupby(frames).transform("sum")
    best = of_other_frames.to_numpy().argmax(axis=1)  # (pairs,)
    return np.take_along_axis(credits.to_numpy(np.float64), best[:, None], axis=1)[:, 0]


def agreement_of_ways(responses: pd.DataFrame) -> pd.DataFrame:
    """Return the agreement of every two ways beyond chance, pair by pair.

    Args:
        responses: What `with_ways` returns.

    Returns:
        One row a model, construction and two ways that have responses: model, construction, first, second; kappa
        (Cohen's), low and high (95 % interval by leaving out one frame at a time), NaN where kappa is not defined, as
        where a way is always right; n, the pairs that both ways decide; both_right, first_alone, second_alone,
        both_wrong; and ties, the pairs that are left out because a way has a tie.
    """
    tried = responses[responses["way"].isin(WAYS) & (responses["layer"] == "")]
    rows = []
    for place, group in tried.groupby(["model", "construction"], sort=False):
        credits = group.pivot(index="item", columns="way", values="value")
        frames = group.drop_duplicates("item").set_index("item")[FRAME]
        for first, second in combinations([way for way in WAYS if way in credits], 2):
            known = credits[[first, second]].dropna()
            decided = known[(known != HALF).all(axis=1)]
            one, two = (decided[way].to_numpy(bool) for way in (first, second))
            kappa = kappa_with_interval(one, two, frames[decided.index].to_numpy(object))
            cells = _cells(one, two).sum(axis=0)
            rows.append((*place, first, second, *kappa, len(decided), *cells, len(known) - len(decided)))
    return pd.DataFrame(rows, columns=["model", "construction", "first", "second", "kappa", "low", "high", *_COUNTS])


def _cells(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return 1 in the column of the case of each item: both right, the first or second alone, none; (n,) to (n, 4)."""
    return np.column_stack([first & second, first & ~second, ~first & second, ~first & ~second]).astype(np.int64)


def kappa_with_interval(
    first: NDArray[np.bool_], second: NDArray[np.bool_], clusters: NDArray[np.object_]
) -> tuple[float, float, float]:
    """Return Cohen's kappa of two ways with its 95 % interval.

    The interval is that of the delete-one-cluster jackknife with the t quantile of its degrees of freedom, cut at -1
    and 1. It is NaN where leaving out one cluster makes kappa undefined, or where there are fewer than two clusters.

    Args:
        first: Shape (n,).
        second: Shape (n,).
        clusters: Shape (n,): what the items share, such as a frame.

    Returns:
        kappa, low and high in [-1, 1]; NaN where they are not defined.

    Source:
        Cohen 1960; Efron & Tibshirani 1993, §11.5 (jackknife).
    """
    of_clusters = pd.DataFrame(_cells(first, second)).groupby(clusters.astype(str)).sum().to_numpy()  # (clusters, 4)
    total = of_clusters.sum(axis=0)
    kappa, without = float(_kappa(total)), _kappa(total - of_clusters)  # of all, and (clusters,)
    m = len(without)
    if m < 2 or not np.isfinite([kappa, *without]).all():
        return kappa, np.nan, np.nan
    error = np.sqrt((m - 1) / m * ((without - without.mean()) ** 2).sum())
    half = float(stdtrit(m - 1, (1 + LEVEL) / 2) * error)
    return kappa, max(-1.0, kappa - half), min(1.0, kappa + half)


def _kappa(cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Cohen's kappa of numbers of items, (..., 4) to (...); NaN where chance alone makes the two agree always.

    Not scikit-learn's, which takes a second to import and one table at a time.
    """
    both, one, other, neither = np.moveaxis(cells, -1, 0)
    n = both + one + other + neither
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = ((both + one) * (both + other) + (other + neither) * (one + neither)) / n**2
        kappa: NDArray[np.float64] = ((both + neither) / n - by_chance) / (1 - by_chance)
        return np.where(by_chance < 1, kappa, np.nan)
