"""The spread of several training draws, as a part of the interval of a rate."""

from collections.abc import Sequence
from itertools import combinations
from math import hypot, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from cxprobe.records import Estimate
from cxprobe.stats import LEVEL, rate_by

_CREDIT = "credit_of_draw_"  # and the number of the draw


def rate_over_draws(items: pd.DataFrame, rate: str, by: Sequence[str]) -> pd.DataFrame:
    """Return a rate with its 95 % interval for each group of items, as `rate_by` does, with the spread of draws in it.

    Args:
        items: What `rate_by` needs. With several draws also ``overlap`` and one column a draw, see `mean_over_draws`.
        rate: What the credits are the rate of, such as "accuracy".
        by: The columns whose values make the groups.

    Returns:
        The columns of ``by``, the rate, low, high, n.
    """
    rates = rate_by(items, rate, by).drop(columns="ties")
    drawn = [column for column in items.columns if column.startswith(_CREDIT)]
    if not drawn:
        return rates
    widened = [
        add_spread(Estimate(*own), group[drawn].to_numpy().mean(axis=0), float(group["overlap"].mean()))
        for own, (_, group) in zip(
            rates[[rate, "low", "high", "n"]].itertuples(index=False, name=None),
            items.groupby(list(by), sort=False),
            strict=True,
        )
    ]
    return rates.assign(low=[one.low for one in widened], high=[one.high for one in widened])


def add_spread(estimate: Estimate, rates: NDArray[np.float64], overlap: float) -> Estimate:
    """Return the estimate of a mean rate over training draws with the spread of the draws in its interval.

    The interval of the items' mean credits, which says how far another test part could be off, and the t interval of
    the draws, which says how far other training parts could, are added as variances: each side becomes the root of the
    sum of both squared half-widths. What draws share does not show in their spread. The half-width of the draws is

        t(0.975; k - 1) * s * sqrt(1 / k + overlap / (1 - overlap))

    where s is the standard deviation of the k draws' rates. Draws of n out of N sentences share n / N of them, their
    variance is that of independent ones times (1 - n / N), and their mean can be off as the N sentences can. Where all
    draws are the same, nothing is known about the spread and nothing is added.

    Args:
        estimate: Of each item's mean credit over the draws.
        rates: Shape (draws,): the rate in each draw.
        overlap: The share of a draw's training sentences that are in another one too, in [0, 1].

    Source:
        Zou & Donner 2008 for adding intervals; Cochran 1977, §2.6, for draws from finitely many.
    """
    draws = len(rates)
    if draws < 2 or overlap >= 1:
        return estimate
    quantile = float(stdtrit(draws - 1, (1 + LEVEL) / 2))
    half = quantile * float(np.std(rates, ddof=1)) * sqrt(1 / draws + overlap / (1 - overlap))
    low = estimate.value - hypot(estimate.value - estimate.low, half)
    high = estimate.value + hypot(estimate.high - estimate.value, half)
    return Estimate(estimate.value, max(0.0, low), min(1.0, high), estimate.n)


def mean_over_draws(credited: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Return the items of all draws as one row each, whose accuracy is the mean over the draws.

    Args:
        credited: Columns feature, id, layer, draw, accuracy, and others, which do not depend on the draw.
        splits: Columns feature, split, draw, id: what each draw has in its training part.

    Returns:
        The same without draw. If there are several draws, also overlap (`overlaps`, of the item's feature) and the
        accuracy in each draw, a column each.
    """
    first = credited[credited["draw"] == 0].drop(columns=["draw", "accuracy"])
    key = ["feature", "id", "layer"]
    wide = credited.pivot(index=key, columns="draw", values="accuracy")
    if len(wide.columns) == 1:
        return credited.drop(columns="draw")
    named = wide.add_prefix(_CREDIT).assign(accuracy=wide.mean(axis=1)).reset_index()
    merged = first.merge(named, on=key, validate="one_to_one")
    return merged.assign(overlap=merged["feature"].map(overlaps(splits)))


def overlaps(splits: pd.DataFrame) -> dict[str, float]:
    """Return for each feature which share of a training draw's sentences another draw has too, the mean of all pairs.

    Args:
        splits: Columns feature, split, draw, id; at least two draws.
    """
    train = splits[splits["split"] == "train"]
    found = {}
    for feature, rows in train.groupby("feature", sort=False):
        drawn = [frozenset(own) for _, own in rows.groupby("draw")["id"]]
        shares = [len(one & other) / len(one) for one, other in combinations(drawn, 2)]
        found[str(feature)] = float(np.mean(shares))
    return found
