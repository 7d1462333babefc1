"""Rates and differences with their intervals."""

from dataclasses import dataclass

CLUSTER = "cluster_"  # begins the names of the columns by which a table's rows are clustered


@dataclass(frozen=True)
class Estimate:
    """A rate in [0, 1] with its interval and the number of items that it is the mean of."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Difference:
    """A difference of two rates, in [-1, 1], with its interval and the number of items that have both."""

    value: float
    low: float
    high: float
    n: int
