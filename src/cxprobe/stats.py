"""Estimates with intervals."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from cxprobe.errors import DataError
from cxprobe.records import Estimate

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

    The interval is Wilson's score interval at 95 %, taken for the effective number of items n / deff, where
    the design effect deff is the ratio of the cluster-robust (ultimate cluster) variance of the mean to the
    binomial one. It needs no resampling, stays inside [0, 1], is not empty at 0 or 1, and is Wilson's own
    interval when every item is a cluster (up to the factor g / (g - 1)). The design effect is never taken
    below 1: intervals may be too wide, not too narrow. One cluster alone counts as one item.

    Args:
        credits: Shape (n,): 1 for right, 0 for wrong, 0.5 for a tie.
        clusters: Shape (n,): the name of each item's cluster.

    Raises:
        DataError: There are no items, or the two arrays differ in length.

    Source:
        Wilson 1927; Korn & Graubard 1998 for the effective sample size; Franco, Little, Louis & Slud 2019 find
        this combination among those that keep their coverage in clustered samples.
    """
    n = len(credits)
    if n == 0 or n != len(clusters):
        raise DataError(f"a rate needs items with one cluster each; got {n} items, {len(clusters)} clusters")
    rate = float(np.mean(credits, dtype=np.float64))
    effective = n / design_effect(credits, clusters)
    z = float(norm.ppf((1 + LEVEL) / 2))
    centre = (rate + z**2 / (2 * effective)) / (1 + z**2 / effective)
    half = z / (1 + z**2 / effective) * sqrt(rate * (1 - rate) / effective + z**2 / (4 * effective**2))
    # Rounding must not push the estimate itself out of its interval when the rate is 0 or 1.
    return Estimate(rate, min(rate, max(0.0, centre - half)), max(rate, min(1.0, centre + half)), n)


def design_effect(credits: NDArray[np.float64], clusters: NDArray[np.object_]) -> float:
    """Return how many times the clustering inflates the variance of the mean, in [1, n].

    Where the rate is 0 or 1 no variance can be seen; where there is a single cluster none can be estimated, and
    the whole counts as one item.
    """
    n = len(credits)
    rate = float(np.mean(credits, dtype=np.float64))
    _, members = np.unique(clusters, return_inverse=True)
    residuals = np.bincount(members, weights=credits - rate)  # (g,) sums per cluster
    groups = len(residuals)
    if groups == 1:
        return float(n)
    if rate in (0.0, 1.0):
        return 1.0
    clustered = groups / (groups - 1) * float(residuals @ residuals) / n**2
    return min(max(clustered / (rate * (1 - rate) / n), 1.0), float(n))
