"""The same minimal pairs asked in three ways: which text a probe takes, which the model expects, and which it names.

``recognised``: a linear probe on the model's vectors, trained on other frames, takes the right text. ``expected``: the
model finds the right text more probable. ``said``: asked in words, it names the right text. A verdict is 1, 0, or 0.5
for a tie; where a way was not tried, or no reply could be read, there is none (NaN).
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from cxprobe.stats import LEVEL, credits_of_margins
from cxprobe.tasks.pairs.sources import FRAME

WAYS = ("recognised", "expected", "said")
_COUNTS = ["n", "both_right", "first_alone", "second_alone", "both_wrong", "ties"]


def verdicts(predicted: pd.DataFrame, expected: pd.DataFrame, said: pd.DataFrame | None) -> pd.DataFrame:
    """Return the verdicts of one model on each pair of a construction.

    The layer whose probe decides about a pair is the one that is most often right about the pairs of all other frames,
    so that no pair has a part in choosing its layer; the lowest of several.

    Args:
        predicted: One row a pair and layer: id, layer (-1 for counts of words), probability.
        expected: Judged pairs: id, accuracy, construction, variant and ``cluster_<name>``, one of them the frame.
        said: Judged replies: id and accuracy; None where nobody was asked.

    Returns:
        One row a pair that a probe has predicted: the columns of ``expected`` but accuracy, score and scheme;
        layer; recognised, words (the verdict of the probe on counts of words), expected, and said.
    """
    credits = _with_credits(predicted).pivot(index="id", columns="layer", values="accuracy")
    items = expected[expected["id"].isin(credits.index)].reset_index(drop=True)
    items = items.rename(columns={"accuracy": "expected"}).drop(columns=["score", "scheme"])
    credits = credits.loc[items["id"]].reset_index(drop=True)
    of_layers = credits.drop(columns=-1)  # (pairs, layers)
    of_other_frames = of_layers.sum() - of_layers.groupby(items[FRAME].astype(str)).transform("sum")
    chosen = of_other_frames.to_numpy().argmax(axis=1)
    items["layer"] = of_layers.columns.to_numpy()[chosen]
    items["recognised"] = of_layers.to_numpy()[np.arange(len(items)), chosen]
    items["words"] = credits[-1]
    items["said"] = np.nan if said is None else items["id"].map(said.set_index("id")["accuracy"]).astype(float)
    return items


def verdicts_of_models(
    items: pd.DataFrame, predicted: Mapping[str, Mapping[str, pd.DataFrame]], asked: Mapping[str, str | None]
) -> pd.DataFrame:
    """Return the verdicts of all models whose vectors are probed, see `verdicts`; no rows if there are none.

    Args:
        items: The decided pairs of all models.
        predicted: Model -> construction -> what its probes predict.
        asked: Model -> the same one as it is asked in words, or None.
    """
    tables = [items.head(0)]
    for model, of_model in predicted.items():
        said = items[items["model"] == asked[model]]
        own = items[items["model"] == model]
        for name, table in of_model.items():
            expected = own[own["construction"] == name]
            tables.append(verdicts(table, expected, said if len(said) else None))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _with_credits(predicted: pd.DataFrame) -> pd.DataFrame:
    """Return predictions of probes with the column accuracy: 1, 0, or 0.5 for a tie."""
    return predicted.assign(accuracy=credits_of_margins(predicted["probability"].to_numpy(np.float64) - 0.5))


def way_responses(verdicts: pd.DataFrame, predicted: Mapping[str, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """Return the verdicts of all models as responses: by each way, and by the probe of each layer.

    Args:
        verdicts: What `verdicts_of_models` returns.
        predicted: See `verdicts_of_models`.

    Returns:
        The columns of ``verdicts``, with measure, value; way, "words" among them, where it was tried; and layer, the
        layer whose probe takes the text, "" for the ways.
    """
    tried = [verdicts[verdicts[way].notna()].assign(value=verdicts[way], way=way) for way in ("words", *WAYS)]
    probed = [table.assign(model=model) for model, of_model in predicted.items() for table in of_model.values()]
    of_layers = _with_credits(pd.concat(probed).query("layer >= 0")).rename(columns={"accuracy": "value"})
    keys = ["model", "id"]
    layers = verdicts.drop(columns="layer").merge(of_layers[[*keys, "layer", "value"]], on=keys, validate="one_to_many")
    of_probes = layers.assign(way="recognised", layer=layers["layer"].astype(str))
    of_ways = [table.assign(layer="") for table in tried]
    return pd.concat([*of_ways, of_probes], ignore_index=True).assign(measure="accuracy")


def agreement_of_ways(items: pd.DataFrame) -> pd.DataFrame:
    """Return how far the verdicts of every two ways agree, beyond what their rates alone would give.

    Args:
        items: What `verdicts_of_models` returns.

    Returns:
        One row a model, construction and two ways that have verdicts: model, construction, first, second; kappa
        (Cohen's), low and high (95 % interval by leaving out one frame at a time), NaN where kappa is not defined, as
        where a way is always right; n, the pairs that both ways decide; both_right, first_alone, second_alone,
        both_wrong; and ties, the pairs that are left out because a way has a tie.
    """
    rows = []
    for place, group in items.groupby(["model", "construction"], sort=False):
        for first, second in combinations(WAYS, 2):
            ways = [first, second]
            known = group.dropna(subset=ways)
            if known.empty:
                continue
            decided = known[(known[ways] != 0.5).all(axis=1)]
            one, two = decided[first].to_numpy(bool), decided[second].to_numpy(bool)
            kappa = kappa_with_interval(one, two, decided[FRAME].to_numpy(object))
            cells = _cells(one, two).sum(axis=0)
            rows.append((*place, first, second, *kappa, len(decided), *cells, len(known) - len(decided)))
    columns = ["model", "construction", "first", "second", "kappa", "low", "high", *_COUNTS]
    return pd.DataFrame(rows, columns=columns)


def _cells(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return whether both verdicts are right, the first alone, the second alone, or none, as 1 or 0: (n,) to (n, 4)."""
    return np.column_stack([first & second, first & ~second, ~first & second, ~first & ~second]).astype(np.int64)


def kappa_with_interval(
    first: NDArray[np.bool_], second: NDArray[np.bool_], clusters: NDArray[np.object_]
) -> tuple[float, float, float]:
    """Return Cohen's kappa of two verdicts with its 95 % interval.

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
