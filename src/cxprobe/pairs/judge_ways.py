"""The same minimal pairs asked in three ways: which text a probe takes, which the model expects, and which it names.

``recognised``: a linear probe on the model's vectors, trained on other frames, takes the right text. ``expected``: the
model finds the right text more probable. ``said``: asked in words, it names the right text. A verdict is 1, 0, or 0.5
for a tie; where a way was not tried, or no reply could be read, there is none (NaN).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from cxprobe.stats import CLUSTER, LEVEL, credit, rate_by

WAYS = ("recognised", "expected", "said")
FRAME = f"{CLUSTER}frame"
_ESTIMATE = ("accuracy", "low", "high", "n")
_ORDER = {"recognised": 0, "expected": 1, "said": 2, "words": 3}


@dataclass(frozen=True)
class JudgedWays:
    """What the verdicts of one model on some pairs come to.

    Attributes:
        verdicts: One row a pair and way, see `verdict_table`.
        ways: How often each way is right, see `rates_of_ways`.
        layers: How often the probe of each layer is right, see `rates_of_layers`.
        agreement: How far every two ways agree, see `agreement_of_ways`.
    """

    verdicts: pd.DataFrame
    ways: pd.DataFrame
    layers: pd.DataFrame
    agreement: pd.DataFrame

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of a run: of the probe first, then of the other ways, then each kappa that is defined."""
        found: dict[str, float] = {}
        for row in self.ways.assign(order=self.ways["way"].map(_ORDER)).sort_values("order").to_dict("records"):
            before = "" if row["way"] == "recognised" else f"{row['way']}."
            found |= {f"{before}{name}": row[name] for name in _ESTIMATE}
        defined = self.agreement[self.agreement["kappa"].notna()]
        for first, second, kappa in defined[["first", "second", "kappa"]].itertuples(index=False, name=None):
            found[f"kappa.{first}_{second}"] = kappa
        return found

    @property
    def rates(self) -> dict[str, pd.DataFrame]:
        """The tables of rates by their names."""
        return {"ways": self.ways, "layers": self.layers}

    @property
    def by_layer(self) -> list[tuple[int, float]]:
        """The accuracy of the probe of each layer."""
        return list(zip(self.layers["layer"].tolist(), self.layers["accuracy"].tolist(), strict=True))


def judge_ways(items: pd.DataFrame, predicted: pd.DataFrame) -> JudgedWays:
    """Return the rates and agreements of one construction's pairs.

    Args:
        items: What `verdicts` returns.
        predicted: What it was made of: one row a pair and layer, with id, layer and probability.
    """
    by = ["construction"]
    layers = rates_of_layers(predicted, items, by)
    return JudgedWays(verdict_table(items), rates_of_ways(items, by), layers, agreement_of_ways(items, by[0]))


def verdicts(predicted: pd.DataFrame, expected: pd.DataFrame, said: pd.DataFrame | None) -> pd.DataFrame:
    """Return the verdicts of one model on each pair.

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
    credits = predicted.assign(
        credit=credit(predicted["probability"].to_numpy(np.float64), np.ones(len(predicted), dtype=bool))
    ).pivot(index="id", columns="layer", values="credit")
    items = expected.drop(columns=["score", "scheme", "margin"], errors="ignore").rename(
        columns={"accuracy": "expected"}
    )
    items = items[items["id"].isin(credits.index)].reset_index(drop=True)
    of_layers = credits.loc[items["id"]].drop(columns=-1)
    chosen = _layers(of_layers.to_numpy(np.float64), items[FRAME].to_numpy(dtype=object))
    items["layer"] = of_layers.columns.to_numpy()[chosen]
    items["recognised"] = of_layers.to_numpy(np.float64)[np.arange(len(items)), chosen]
    items["words"] = credits.loc[items["id"], -1].to_numpy(np.float64)
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
    tables = []
    for way in ("words", *WAYS):
        own = items[items[way].notna()].assign(accuracy=items[way], way=way)
        if len(own):
            tables.append(rate_by(own, "accuracy", [*by, "way"]))
    return pd.concat(tables, ignore_index=True)


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
    rows = shared.merge(predicted[predicted["layer"] >= 0], on="id", validate="one_to_many")
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
            if known.empty:
                continue
            one, two = (decided[way].to_numpy(dtype=bool) for way in (first, second))
            kappa, low, high = kappa_with_interval(one, two, decided[FRAME].to_numpy(dtype=object))
            rows.append(
                {
                    by: name,
                    "first": first,
                    "second": second,
                    "kappa": kappa,
                    "low": low,
                    "high": high,
                    "n": len(decided),
                    "both_right": int((one & two).sum()),
                    "first_alone": int((one & ~two).sum()),
                    "second_alone": int((~one & two).sum()),
                    "both_wrong": int((~one & ~two).sum()),
                    "ties": len(known) - len(decided),
                }
            )
    counts = ["n", "both_right", "first_alone", "second_alone", "both_wrong", "ties"]
    return pd.DataFrame(rows, columns=[by, "first", "second", "kappa", "low", "high", *counts])


def ways_headline(rates: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the numbers that stand in git, for pairs of meaning and of form: the rate of the probe, and the others'.

    Args:
        rates: What `rates_of_ways` returns by the column tests.
    """
    found: dict[str, dict[str, float]] = {}
    for row in rates[rates["way"] != "words"].to_dict("records"):
        own = found.setdefault(row["tests"], {})
        own |= {name: row[name] for name in _ESTIMATE} if row["way"] == "recognised" else {row["way"]: row["accuracy"]}
    return found


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
    kappa, names = _kappa(first, second), np.unique(clusters.astype(str))
    without = np.array([_kappa(first[own], second[own]) for own in (clusters.astype(str) != name for name in names)])
    if len(names) < 2 or not np.isfinite([kappa, *without]).all():
        return kappa, float("nan"), float("nan")
    m = len(names)
    error = np.sqrt((m - 1) / m * ((without - without.mean()) ** 2).sum())
    half = float(stdtrit(m - 1, (1 + LEVEL) / 2) * error)
    return kappa, max(-1.0, kappa - half), min(1.0, kappa + half)


def _kappa(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Return Cohen's kappa, or NaN where chance alone would make the two agree always, or where there is no item."""
    if not len(first) or (first.all() and second.all()) or not (first.any() or second.any()):
        return float("nan")
    # It takes a second to import, and the other judging stages do without it.
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(first, second))


def _layers(credits: NDArray[np.float64], frames: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return for each pair the column of the layer that is most often right about pairs of other frames, (pairs,)."""
    chosen = np.empty(len(credits), dtype=np.int64)
    total = credits.sum(axis=0)  # (layers,)
    for frame in np.unique(frames.astype(str)):
        own = frames.astype(str) == frame
        chosen[own] = int(np.argmax(total - credits[own].sum(axis=0)))
    return chosen
