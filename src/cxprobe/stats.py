"""Estimates with intervals."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from cxprobe.errors import DataError
from cxprobe.records import Difference, Estimate

LEVEL = 0.95


def credit(probabilities: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 where a decision is right, 0 where it is wrong and 0.5 where there is none.

    Args:
        probabilities: Shape (n,), of "positive"; exactly 0.5 is a tie.
        labels: Shape (n,), True for positive.
    """
    return np.where(probabilities == 0.5, 0.5, (probabilities > 0.5) == labels)


def estimate_rate(credits: NDArray[np.float64], clusters: NDArray[np.object_]) -> Estimate:
    """Estimate a rate from items that come in clusters.

    The interval is Wilson's score interval at 95 %, taken for the effective number of items. That is n / deff, where
    the design effect deff is the ratio of the cluster-robust (ultimate cluster) variance of the mean to the binomial
    one, and is corrected for the few degrees of freedom that few clusters leave. Items may be clustered in several
    ways at once, by template and by word: the way that leaves the fewest effective items decides. It needs no
    resampling, stays inside [0, 1], and is not empty at 0 or 1. There no variance can be seen, so that the
    design effect is taken as 1 and only the number of clusters widens the interval.

    Args:
        credits: Shape (n,): 1 for right, 0 for wrong, 0.5 for a tie.
        clusters: Shape (n, k): the name of each item's cluster, in k ways of clustering.

    Raises:
        DataError: There are no items, or not one row of clusters for each.

    Source:
        Wilson 1927; Korn & Graubard 1998 for the effective sample size; Franco, Little, Louis & Slud 2019 find
        this combination among those that keep their coverage in clustered samples.
    """
    n = len(credits)
    if n == 0 or clusters.ndim != 2 or n != len(clusters):
        raise DataError(f"a rate needs items with a row of clusters each; got {n} items, clusters {clusters.shape}")
    rate = float(np.mean(credits, dtype=np.float64))
    effective = min(effective_items(credits, way) for way in clusters.T)
    z = float(norm.ppf((1 + LEVEL) / 2))
    centre = (rate + z**2 / (2 * effective)) / (1 + z**2 / effective)
    half = z / (1 + z**2 / effective) * sqrt(rate * (1 - rate) / effective + z**2 / (4 * effective**2))
    # Rounding must not push the estimate itself out of its interval when the rate is 0 or 1.
    return Estimate(rate, min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half)), n)


def effective_items(credits: NDArray[np.float64], clusters: NDArray[np.object_]) -> float:
    """Return how many independent items tell as much about the mean as these clustered ones, in [1, n].

    Args:
        credits: Shape (n,).
        clusters: Shape (n,): the name of each item's cluster. One cluster alone counts as one item.
    """
    n = len(credits)
    rate = float(np.mean(credits, dtype=np.float64))
    _, members = np.unique(clusters, return_inverse=True)
    residuals = np.bincount(members, weights=credits - rate)  # (g,) sums per cluster
    groups = len(residuals)
    if groups == 1:
        return 1.0
    clustered = groups / (groups - 1) * float(residuals @ residuals) / n**2
    binomial = rate * (1 - rate) / n
    design_effect = max(clustered / binomial, 1.0) if binomial else 1.0
    quantile = (1 + LEVEL) / 2
    few_clusters = float(t.ppf(quantile, n - 1) / t.ppf(quantile, groups - 1)) ** 2
    return max(n / design_effect * few_clusters, 1.0)


def estimate_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], clusters: NDArray[np.object_]
) -> Difference:
    """Estimate the difference of two rates of the same items, first less second.

    The interval is built from those of the two rates (`estimate_rate`) by the method of variance estimates recovery,
    with the correlation of the two between clusters; like them it is not empty where all items agree. Of several ways
    of clustering, the one with the lowest correlation, which leaves the widest interval, decides.

    Args:
        first: Shape (n,): each item's credit in one way of asking.
        second: Shape (n,): in the other.
        clusters: Shape (n, k): the name of each item's cluster, in k ways of clustering.

    Raises:
        DataError: The two have not the same items, or see `estimate_rate`.

    Source:
        Newcombe 1998 for paired differences of score intervals; Zou & Donner 2008 for the general method.
    """
    if first.shape != second.shape:
        raise DataError(f"a difference needs the same items twice; got {first.shape} and {second.shape}")
    one, other = estimate_rate(first, clusters), estimate_rate(second, clusters)
    value = one.value - other.value
    together = min(_correlation(first - one.value, second - other.value, way) for way in clusters.T)
    down, up = one.value - one.low, one.high - one.value
    other_down, other_up = other.value - other.low, other.high - other.value
    low = value - sqrt(max(0.0, down**2 - 2 * together * down * other_up + other_up**2))
    high = value + sqrt(max(0.0, up**2 - 2 * together * up * other_down + other_down**2))
    return Difference(value, max(-1.0, low), min(1.0, high), one.n)


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64], clusters: NDArray[np.object_]) -> float:
    """Return the correlation of two sums of residuals over clusters, 0 where one does not vary."""
    _, members = np.unique(clusters, return_inverse=True)
    one, other = np.bincount(members, weights=first), np.bincount(members, weights=second)  # (g,), (g,)
    size = float(one @ one) * float(other @ other)
    return float(one @ other) / sqrt(size) if size else 0.0
