"""The same minimal pairs asked in three ways: which text a probe takes, which the model expects, and which it names.

``recognised``: a linear probe on the model's vectors, trained on other frames, takes the right text. ``expected``: the
model finds the right text more probable. ``said``: asked in words, it names the right text. A verdict is 1, 0, or 0.5
for a tie; where a way was not tried, or no reply could be read, there is none (NaN).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from cxprobe.stats import CLUSTER, LEVEL, credit, rate_by

WAYS = ("recognised", "expected", "said")
FRAME = f"{CLUSTER}frame"
_ESTIMATE = ("accuracy", "low", "high", "n")
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
        One row a pair that a probe has predicted: the columns of ``expected`` but accuracy, score, scheme and margin;
        layer; recognised, words (the verdict of the probe on counts of words), expected, and said.
    """
    right = credit(predicted["probability"].to_numpy(np.float64), np.ones(len(predicted), dtype=bool))
    credits = predicted.assign(credit=right).pivot(index="id", columns="layer", values="credit")
    items = expected.drop(columns=["score", "scheme", "margin"], errors="ignore")
    items = items.rename(columns={"accuracy": "expected"})[items["id"].isin(credits.index)].reset_index(drop=True)
    credits = credits.loc[items["id"]]
    of_layers, layers = credits.drop(columns=-1).to_numpy(np.float64), credits.columns.drop([-1]).to_numpy()
    of_frame = pd.DataFrame(of_layers).groupby(items[FRAME].astype(str)).transform("sum").to_numpy(np.float64)
    chosen = np.argmax(of_layers.sum(axis=0) - of_frame, axis=1)  # (pairs,), from (pairs, layers)
    items["layer"] = layers[chosen]
    items["recognised"] = of_layers[np.arange(len(items)), chosen]
    items["words"] = credits[-1].to_numpy(np.float64)
    items["said"] = np.nan if said is None else items["id"].map(said.set_index("id")["accuracy"]).astype(float)
    return items


def verdict_table(items: pd.DataFrame) -> pd.DataFrame:
    """Return one row a pair and way that has a verdict on it.

    Args:
        items: What `verdicts` returns.

    Returns:
        id, construction, variant and cluster_frame of the pair; layer, whose probe decides; way, "words" among them;
        and verdict: 1, 0, or 0.5 for a tie.
    """
    kept = ["id", "construction", "variant", FRAME, "layer"]
    long = items.melt(id_vars=kept, value_vars=["words", *WAYS], var_name="way", value_name="verdict")
    return long.dropna(subset=["verdict"]).reset_index(drop=True)


def rates_of_ways(items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how often each way is right, on the same pairs.

    Args:
        items: What `verdicts` returns.
        by: Columns that divide the rates, such as construction.

    Returns:
        One row a group and way, "words" among them: the columns of ``by``, way, accuracy, low, high, n, ties. No rows
        for a way that was not tried.
    """
    parts = [items[items[way].notna()].assign(accuracy=items[way], way=way) for way in ("words", *WAYS)]
    return rate_by(pd.concat(parts, ignore_index=True), "accuracy", [*by, "way"])


def rates_of_layers(predicted: pd.DataFrame, items: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how often the probe of each layer is right.

    Args:
        predicted: See `verdicts`.
        items: What `verdicts` returns.
        by: Columns that divide the rates, such as construction.

    Returns:
        One row a group and layer: the columns of ``by``, layer, accuracy, low, high, n, ties.
    """
    shared = items[["id", *by, *(name for name in items.columns if name.startswith(CLUSTER))]]
    rows = shared.merge(predicted[predicted["layer"] >= 0], on="id", validate="many_to_many")
    right = credit(rows["probability"].to_numpy(np.float64), np.ones(len(rows), dtype=bool))
    return rate_by(rows.assign(accuracy=right), "accuracy", [*by, "layer"])


def agreement_of_ways(items: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return how far the verdicts of every two ways agree, beyond what their rates alone would give.

    Args:
        items: What `verdicts` returns.
        by: The column that divides the pairs, such as construction.

    Returns:
        One row a group and two ways that have verdicts: the column, first, second; kappa (Cohen's), low and high (95 %
        interval by leaving out one frame at a time), NaN where kappa is not defined, as where a way is always right;
        n, the pairs that both ways decide; both_right, first_alone, second_alone, both_wrong; and ties, the pairs that
        are left out because a way has a tie.
    """
    rows = []
    for name, group in items.groupby(by, sort=False):
        for first, second in combinations(WAYS, 2):
            known = group[group[first].notna() & group[second].notna()]
            decided = known[(known[first] != 0.5) & (known[second] != 0.5)]
            if len(known):
                one, two = (decided[way].to_numpy(dtype=bool) for way in (first, second))
                kappa = kappa_with_interval(one, two, decided[FRAME].to_numpy(dtype=object))
                cells = [int(both.sum()) for both in (one & two, one & ~two, ~one & two, ~one & ~two)]
                rows.append((name, first, second, *kappa, len(decided), *cells, len(known) - len(decided)))
    return pd.DataFrame(rows, columns=[by, "first", "second", "kappa", "low", "high", *_COUNTS])


def ways_metrics(ways: pd.DataFrame, agreement: pd.DataFrame) -> dict[str, float]:
    """Return the metrics of a run: of the probe first, then of the other ways, then each kappa that is defined.

    Args:
        ways: What `rates_of_ways` returns, of one run.
        agreement: What `agreement_of_ways` returns.
    """
    metrics: dict[str, float] = {}
    rates = {row["way"]: row for row in ways.to_dict("records")}
    for way in (way for way in (*WAYS, "words") if way in rates):
        before = "" if way == "recognised" else f"{way}."
        metrics |= {f"{before}{name}": rates[way][name] for name in _ESTIMATE}
    for row in agreement[agreement["kappa"].notna()].to_dict("records"):
        metrics[f"kappa.{row['first']}_{row['second']}"] = row["kappa"]
    return metrics


def ways_headline(rates: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the numbers that stand in git, for pairs of meaning and of form: the rate of the probe, and the others'.

    Args:
        rates: What `rates_of_ways` returns by the column tests.
    """
    headline: dict[str, dict[str, float]] = {}
    for row in rates[rates["way"] != "words"].to_dict("records"):
        numbers = headline.setdefault(row["tests"], {})
        numbers |= (
            {name: row[name] for name in _ESTIMATE} if row["way"] == "recognised" else {row["way"]: row["accuracy"]}
        )
    return headline


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
    # Shape (clusters, 4): how many items of each cluster are right in both ways, in one of them, in none.
    cells = np.column_stack([first & second, first & ~second, ~first & second, ~first & ~second]).astype(np.float64)
    of_clusters = pd.DataFrame(cells).groupby(clusters.astype(str)).sum().to_numpy(np.float64)
    m = len(of_clusters)
    kappa, without = _kappa(cells.sum(axis=0)), _kappa(cells.sum(axis=0) - of_clusters)  # (), (clusters,)
    if m < 2 or not np.isfinite([kappa, *without]).all():
        return float(kappa), float("nan"), float("nan")
    error = np.sqrt((m - 1) / m * ((without - without.mean()) ** 2).sum())
    half = float(stdtrit(m - 1, (1 + LEVEL) / 2) * error)
    return float(kappa), max(-1.0, float(kappa) - half), min(1.0, float(kappa) + half)


def _kappa(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Cohen's kappa of numbers of items, (..., 4) to (...); NaN where chance alone makes the two agree always.

    Not scikit-learn's, which takes a second to import and one table at a time.
    """
    both, one, other, neither = np.moveaxis(cells, -1, 0)
    n = both + one + other + neither
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = ((both + one) * (both + other) + (other + neither) * (one + neither)) / n**2
        kappa: NDArray[np.float64] = ((both + neither) / n - by_chance) / (1 - by_chance)
        return np.where(by_chance < 1, kappa, np.nan)
