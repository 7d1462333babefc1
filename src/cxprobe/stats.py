"""Estimates with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, compress
from math import ceil, log2, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri, stdtr, stdtrit

from cxprobe.errors import DataError

CLUSTER = "cluster_"  # begins the names of the columns by which a table's rows are clustered
UNIT = "unit"  # the column that names what an interval is over, where a design makes answers offset one another


@dataclass(frozen=True)
class Estimate:
    """A rate in [0, 1], or a difference of two in [-1, 1], with its interval and the number of items it is about."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Mean:
    """A mean over units, such as frames, with its interval.

    Attributes:
        value: In the unit of what is measured, such as nats.
        low: Of the 95 % interval by Student's t.
        high: Likewise.
        standardised: The mean divided by the standard deviation of the units; NaN where these are all the same.
        n: The number of units.
    """

    value: float
    low: float
    high: float
    standardised: float
    n: int


LEVEL = 0.95
WORDINGS = f"{CLUSTER}wording:"  # how the names of these clusters begin, see clusters_of
FEWEST_WORDINGS = 6  # with fewer, no difference could be found: see PairedDifference.p
FEWEST_DEVIATING = 6  # with fewer clusters that hold an item of the rarer outcome, see `_effective_items`
_ROUNDING = 1e-12  # for each item: a sum of residuals that is 0 but for rounding is below, of up to a million items
EXACT, EXCHANGES, MOST_PERMUTED = 14, 20_000, 100  # see `_permutation_p`


def rate_by(table: pd.DataFrame, rate: str, by: Sequence[str]) -> pd.DataFrame:
    """Return a rate with its 95 % interval for each group of items; the only place that groups and then estimates.

    Where the table has the column ``unit``, such as the frame of a minimal pair, the rows of a group that have the same
    name there count once, by their mean, weighted by their number. Such rows may depend on one another negatively: a
    preference for a name is right in one order of two people and wrong in the other. So units may tell more than their
    rows would as independent items (see `_effective_items`). They share no clusters.

    Args:
        table: The column ``rate``, each item's credit in [0, 1]; columns that begin with ``cluster_`` (at least one),
            by which the items are clustered; the columns of ``by``; and perhaps ``unit``, where a row without a name
            is an item as in tables without this column.
        rate: What the credits are the rate of, such as "accuracy".
        by: The columns whose values make the groups.

    Returns:
        One row per group, in the order in which the groups first appear: the columns of ``by``; the rate, low and high
        in [0, 1]; n, the number of items; and ties, the number of items with half a credit.

    Raises:
        DataError: No column begins with ``cluster_``.
    """
    table, groups, keys = _grouped(table, by)
    credits = table[rate].to_numpy(dtype=np.float64)  # (n,)
    n = np.bincount(groups)
    ties = np.bincount(groups, weights=credits == 0.5).astype(np.int64)
    first, unit_of, clusters = _units(table, groups)
    answers = np.bincount(unit_of)  # (units,)
    means = np.bincount(unit_of, weights=credits) / answers  # (units,)
    value, low, high, _ = _estimates(means, clusters, groups[first], answers)
    estimates = zip(*(column.tolist() for column in (value, low, high, n, ties)), strict=True)
    rows = [(*key, *estimate) for key, estimate in zip(keys, estimates, strict=True)]
    return pd.DataFrame(rows, columns=[*by, rate, "low", "high", "n", "ties"])


def _units(
    table: pd.DataFrame, groups: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.object_]]:
    """Return the first row of each unit, (units,), each row's unit, (n,), and the clusters of units, (units, ways).

    The rows of a group that have one name in the column ``unit`` are a unit that shares no cluster with others; a row
    without a name, or any row of a table without this column, is one with its own clusters.
    """
    clusters = clusters_of(table)
    if UNIT not in table.columns:
        rows = np.arange(len(table))
        return rows, rows, clusters
    names, _ = pd.factorize(table[UNIT].where(table[UNIT] != ""))  # -1 for a row without a name
    codes = np.where(names < 0, len(names) + np.arange(len(names)), names)
    units = _renumbered(groups * (codes.max(initial=0) + 1) + codes)
    first = np.unique(units, return_index=True)[1]
    alone = np.array([f"unit {number}" for number in range(len(first))], dtype=object)
    return first, units, np.where((names[first] < 0)[:, None], clusters[first], alone[:, None])


def unit_means(table: pd.DataFrame, columns: Sequence[str]) -> tuple[list[NDArray[np.float64]], NDArray[np.object_]]:
    """Return the means of columns over each unit, (units,) each, and the units' clusters, (units, ways), as `rate_by`.

    Args:
        table: The columns, those that begin with ``cluster_`` (at least one), and perhaps ``unit``.
        columns: Numbers.

    Raises:
        DataError: No column begins with ``cluster_``.
    """
    _, unit_of, clusters = _units(table, np.zeros(len(table), dtype=np.int64))
    sums = (np.bincount(unit_of, weights=table[column].to_numpy(dtype=np.float64)) for column in columns)
    return [total / np.bincount(unit_of) for total in sums], clusters


def mean_by(table: pd.DataFrame, column: str, units: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean of a column, with its 95 % interval by Student's t over units, for each group of rows.

    Args:
        table: The two columns and those of ``by``.
        column: The one with the numbers, such as a margin in nats.
        units: The one that names the units, such as the frames of minimal pairs.
        by: The columns whose values make the groups.

    Returns:
        One row per group: the columns of ``by``; the column's mean over the means of its units; low and high, NaN where
        there is one unit; standardised, the mean divided by the standard deviation of the units' means (NaN where this
        is 0 or there is one unit); and n, the number of units.
    """
    means = table.groupby([*by, units], sort=False)[column].mean().groupby([*by], sort=False)
    n, value, deviation = means.size(), means.mean(), means.std()
    half = stdtrit(n - 1, (1 + LEVEL) / 2) * deviation / np.sqrt(n)
    numbers = {column: value, "low": value - half, "high": value + half}
    numbers |= {"standardised": value / deviation.where(deviation > 0), "n": n}
    return pd.DataFrame(numbers).reset_index()


def with_tie_rate(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of `rate_by` with a column tie_rate, the share of items with half a credit, in [0, 1]."""
    return rates.assign(tie_rate=rates["ties"] / rates["n"])


def credits_of_margins(margins: NDArray[np.float64], tie: float = 0.0) -> NDArray[np.float64]:
    """Return 1 where the right one of two scores higher, 0 where the wrong one does and 0.5 for a tie, shape (n,).

    Args:
        margins: Shape (n,): the score of the right one less that of the wrong one, in any unit.
        tie: The largest absolute margin that is a tie; 0 for a strict comparison.

    Raises:
        DataError: A margin is not finite; the message names its row.
    """
    finite = np.isfinite(margins)
    if not finite.all():
        row = int(np.argmin(finite))
        raise DataError(f"the margin at row {row} is {margins[row]}; every decision needs two scores, so score both")
    return np.where(np.abs(margins) <= tie, 0.5, margins > 0)


def credit(probabilities: NDArray[np.float64], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 where a decision is right, 0 where it is wrong and 0.5 where there is none.

    Args:
        probabilities: Shape (n,), of "positive"; exactly 0.5 is a tie.
        labels: Shape (n,), True for positive.
    """
    return np.where(probabilities == 0.5, 0.5, (probabilities > 0.5) == labels)


def clusters_of(table: pd.DataFrame) -> NDArray[np.object_]:
    """Return the clusters of a table's rows, shape (rows, ways): the columns that begin with ``cluster_``.

    Columns that differ in a number at their end, such as cluster_ADJ1 and cluster_ADJ2, hold clusters of one kind: a
    row with a word in the first place and one with it in the second have a cluster in common. A row without a name,
    as in a column that only other rows' constructions have, shares no cluster of that kind.

    Raises:
        DataError: There is no such column.
    """
    columns = [column for column in table.columns if column.startswith(CLUSTER)]
    if not columns:
        raise DataError(f"no column begins with {CLUSTER}; items that share a premise or a word are not independent")
    alone = np.array([f"row {number}" for number in range(len(table))], dtype=object)
    ways = []
    for column in columns:
        codes, names = pd.factorize(table[column])  # -1 for a row without a name
        texts = np.array([*names.astype(str), ""], dtype=object)
        ways.append(column.rstrip("0123456789") + ":" + np.where(codes < 0, alone, texts[codes]))
    return np.column_stack(ways)


def clusters_by(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return how many clusters the intervals of each group rest on.

    The wordings of one construction's questions (cluster_wording) are few by design. Two or three of
    them cannot estimate how much an accuracy varies over wordings: with one there is no variance, and the t quantile
    of one degree of freedom makes an interval of 5 to 95 % of any number of items. So where a group has fewer than
    `FEWEST_WORDINGS`, they are left out, and the interval is about these wordings and no others.

    Args:
        table: Columns that begin with ``cluster_``, and those of ``by``.
        by: The columns whose values make the groups.

    Returns:
        One row per group, in the order of `rate_by`: the columns of ``by``; clusters, the number of clusters of the
        coarsest way that counts (n where no two items share one), or of units if the table has the column ``unit``;
        and left_out, the kinds of clusters that are left out ("wording"), or "".

    Source:
        Cameron & Miller 2015, section VI, for what few clusters cannot tell.
    """
    table, group_of_row, keys = _grouped(table, by)
    first, _, clusters = _units(table, group_of_row)
    groups = group_of_row[first]  # (units,)
    kinds = [column.removeprefix(CLUSTER) for column in table.columns if column.startswith(CLUSTER)]
    few = [", ".join(compress(kinds, left_out)) for left_out in _few_wordings(clusters, groups)]
    fewest = np.zeros(len(keys), dtype=np.int64)
    for rows, ways in _ways(clusters, groups):
        present = groups[rows]
        fewest[present] = _fewest_clusters(ways, present)[present]
    rows_of = [(*key, *columns) for key, *columns in zip(keys, fewest.tolist(), few, strict=True)]
    return pd.DataFrame(rows_of, columns=[*by, "clusters", "left_out"])


def estimate_rate(credits: NDArray[np.float64], clusters: NDArray[np.object_]) -> Estimate:
    """Estimate a rate from items that come in clusters.

    The interval is Wilson's score interval at 95 %, taken for the effective number of items. It needs no resampling,
    stays inside [0, 1], and is not empty at 0 or 1. There no variance can be seen, so that the effective number of
    items is the number of clusters.

    Args:
        credits: Shape (n,): 1 for right, 0 for wrong, 0.5 for a tie.
        clusters: Shape (n, k): the names of each item's clusters. The same name is the same cluster in every column.

    Raises:
        DataError: There are no items, or not one row of clusters for each.

    Source:
        Wilson 1927; Korn & Graubard 1998 for the effective sample size; Franco, Little, Louis & Slud 2019 find
        this combination among those that keep their coverage in clustered samples.
    """
    n = len(credits)
    if n == 0 or clusters.ndim != 2 or n != len(clusters):
        raise DataError(f"a rate needs items with a row of clusters each; got {n} items, clusters {clusters.shape}")
    rate, low, high, _ = _estimates(credits, clusters, np.zeros(n, dtype=np.int64))
    return Estimate(float(rate[0]), float(low[0]), float(high[0]), n)


def estimate_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], clusters: NDArray[np.object_]
) -> Estimate:
    """Estimate the difference of two rates of the same items, first less second.

    The interval is built from those of the two rates (`estimate_rate`) by the method of variance estimates recovery,
    with the correlation of the two between clusters; like them it is not empty where all items agree. Of all ways of
    clustering together, each alone and none, the one with the lowest correlation, which leaves the widest interval,
    decides.

    Args:
        first: Shape (n,): each item's credit in one way of asking.
        second: Shape (n,): in the other.
        clusters: Shape (n, k), see `estimate_rate`.

    Raises:
        DataError: The two do not have the same items, or see `estimate_rate`.

    Source:
        Newcombe 1998 for paired differences of score intervals; Zou & Donner 2008 for the general method.
    """
    _require_paired(first, second, clusters)
    value, low, high, n = _differences(first, second, clusters, np.zeros(len(first), dtype=np.int64))
    return Estimate(float(value[0]), float(low[0]), float(high[0]), int(n[0]))


def difference_by(table: pd.DataFrame, first: str, second: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the difference of two rates with its interval for each group of items, all groups at once.

    Args:
        table: The columns ``first`` and ``second``, each item's credits in [0, 1]; columns that begin with
            ``cluster_`` (at least one); and the columns of ``by``.
        first: The column of one rate's credits.
        second: Of the other's, which is subtracted.
        by: The columns whose values make the groups.

    Returns:
        One row per group, in the order of `rate_by`: the columns of ``by``; difference, low and high, in [-1, 1], the
        numbers of `estimate_difference`; and n, the number of items.

    Raises:
        DataError: No column begins with ``cluster_``.
    """
    table, groups, keys = _grouped(table, by)
    credits, others = (table[column].to_numpy(dtype=np.float64) for column in (first, second))  # (n,) each
    columns = _differences(credits, others, clusters_of(table), groups)
    rows = [(*key, *numbers) for key, *numbers in zip(keys, *(column.tolist() for column in columns), strict=True)]
    return pd.DataFrame(rows, columns=[*by, "difference", "low", "high", "n"])


@dataclass(frozen=True)
class PairedDifference:
    """The difference of two rates of the same items, tested and with the interval that fits the test.

    The standard error is that of the mean of the items' differences, robust to clusters. Of all ways of clustering, the
    one with the largest variance counts, as for a rate; the way with the fewest clusters has the degrees of
    freedom of Student's t, one less than it has clusters (`even`).

    Attributes:
        value: First less second, in [-1, 1].
        error: Its standard error; 0 where all items differ alike, NaN where there is one cluster.
        low: Of the 95 % interval. It excludes 0 where p is below 5 %, and only there. Where Student's t alone
            would exclude it, or all items differ alike, it holds that of `estimate_difference` as well.
        high: Likewise.
        n: The number of items.
        groups: The number of clusters, in the way that has the fewest.
        even: How many equally large clusters these are worth, see `_even_clusters`, of the way with the fewest.
        p: The two-sided p value: the larger one of Student's t test and of a permutation test over clusters, see
            `_permutation_p`. So m clusters that all differ alike have 2 to the power of 1 - m at least, which is above
            5 % for five. NaN where there is one cluster, which says nothing about others.
        step: The mean size of the differences of the items that differ, in (0, 1]; 1 where none does.
        uneven: The sum of squares of the clusters' shares of the items, in (0, 1], of the way with the largest one, and
            1 / m for m equal clusters; 0 where there are more than `MOST_PERMUTED` clusters.

    Source:
        Cameron, Gelbach & Miller 2011 for several ways of clustering; Cameron & Miller 2015 for Student's t with the
        number of clusters less one.
    """

    value: float
    error: float
    low: float
    high: float
    n: int
    groups: int
    even: float
    p: float
    step: float
    uneven: float

    def detectable(self, power: float = 0.8, tests: int = 1) -> float:
        """Return the smallest difference that these items would probably have shown, at a level of 5 %.

        It is (c + t_power) standard errors, and at least what lets as many items differ with that probability as a
        permutation test needs to reach the level. c is the critical value of the test that finds less: Student's t, or
        the permutation test, whose critical value grows with the share of the items that single clusters have.

        Args:
            power: The probability with which a difference of this size is found, in (0.5, 1).
            tests: How many comparisons are tested together. The level is 5 % divided by their number, as for the
                smallest p value under Holm's correction, so that the power is at least the one that is asked for.

        Returns:
            A number above 0; NaN where no difference could be found, since there are too few clusters, or one of them
            has most of the items: fewer than six for one test.

        Source:
            Bloom 1995, the minimum detectable effect.
        """
        level = (1 - LEVEL) / tests
        fewest = ceil(1 - log2(level))  # as many clusters that differ alike have a p value of at most the level
        if self.groups < fewest:
            return float("nan")
        z = ndtri(1 - level / 2)
        if (rest := 1 - z**2 * self.uneven) <= 0:
            return float("nan")
        # Of the permutation test: value ** 2 > z ** 2 * (error ** 2 + uneven * value ** 2).
        critical = max(stdtrit(self.even - 1, 1 - level / 2), z / sqrt(rest))
        enough = betaincinv(fewest, self.n - fewest + 1, power)  # so many of n items differ, or more
        return float(max((critical + stdtrit(self.even - 1, power)) * self.error, enough * self.step))


def compare_paired(
    first: NDArray[np.float64], second: NDArray[np.float64], clusters: NDArray[np.object_]
) -> PairedDifference:
    """Compare two rates of the same items, first less second.

    Args:
        first: Shape (n,): each item's credit of one model, in [0, 1].
        second: Shape (n,): of the other.
        clusters: Shape (n, k), see `estimate_rate`.

    Raises:
        DataError: The two do not have the same items, or see `estimate_rate`.
    """
    _require_paired(first, second, clusters)
    n, everything = len(first), np.zeros(len(first), dtype=np.int64)
    [(_, ways)] = _ways(clusters, everything)
    groups = int(_fewest_clusters(ways, everything)[0])
    differences = first - second  # (n,)
    value = float(np.mean(differences, dtype=np.float64))
    if groups == 1:
        wide = estimate_difference(first, second, clusters)
        low, high = min(value, wide.low, 0.0), max(value, wide.high, 0.0)
        return PairedDifference(value, float("nan"), low, high, n, groups, 1.0, float("nan"), 1.0, 1.0)
    alone = [way[:, 0] for way in ways if way.shape[1] == 1]  # (n,) each
    even = min(float(_even_clusters(codes, everything, np.ones(n))[0]) for codes in alone)
    residuals = differences - value
    dependent = max(float(_sum_over_shared(residuals, residuals, way, everything)[0]) for way in ways)
    constant = np.ptp(differences) == 0  # rounding may leave an error that is not 0
    error = 0.0 if constant else sqrt(even / (even - 1) * dependent) / n
    by_t = 2 * float(stdtr(even - 1, -abs(value) / error)) if error else 0.0
    by_permutation = [_permutation_p(np.bincount(codes, weights=differences).astype(np.float64)) for codes in alone]
    p = max(by_t, *by_permutation) if value else 1.0
    half = float(stdtrit(even - 1, (1 + LEVEL) / 2)) * error
    low, high = value - half, value + half
    if by_t < 1 - LEVEL <= p or not error:  # Student's t is too narrow
        wide = estimate_difference(first, second, clusters)
        low, high = min(low, wide.low), max(high, wide.high)
    if p >= 1 - LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    sizes = np.abs(differences[differences != 0])
    step = float(sizes.mean()) if len(sizes) else 1.0
    shares = [np.bincount(codes) / n for codes in alone]  # (clusters,) each
    uneven = max((float(share @ share) for share in shares if len(share) <= MOST_PERMUTED), default=0.0)
    return PairedDifference(value, error, max(-1.0, low), min(1.0, high), n, groups, even, p, step, uneven)


def _permutation_p(sums: NDArray[np.float64]) -> float:
    """Return the two-sided p value of a sum over clusters, (clusters,), among those with other signs, in (0, 1].

    If two models do not differ, exchanging their answers to all items of a cluster changes nothing but a sign. All
    2 to the power of m exchanges of m clusters that differ are counted up to `EXACT`, and `EXCHANGES` drawn ones above.
    For more than `MOST_PERMUTED` the test adds nothing to Student's t and is not made: 0.
    """
    sizes = np.sort(np.abs(sums[np.abs(sums) > 1e-9]))  # (m,); sorted, so that the order of clusters does not count
    if len(sizes) > MOST_PERMUTED:
        return 0.0
    totals = _exchanges(len(sizes)) @ sizes  # (exchanges,)
    return float(np.mean(np.abs(totals) >= abs(sums.sum()) - 1e-9))


@lru_cache(maxsize=4)
def _exchanges(m: int) -> NDArray[np.float64]:
    """Return the signs of m clusters in all exchanges, (2**m, m), or in as many as are drawn, (`EXCHANGES`, m)."""
    if m <= EXACT:
        exchanged = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    else:
        exchanged = np.random.default_rng(0).integers(0, 2, (EXCHANGES, m))
        exchanged[0] = 0  # no sum is larger than this one, so that p is above 0
    return (1 - 2 * exchanged).astype(np.float64)


def differs_from_published(rate: Estimate, published: float, n: int | None, rounding: float = 0.0) -> bool:
    """Return whether a published rate differs from one of this project's: the 95 % interval of the difference lacks 0.

    A published rate is an estimate too. Its interval is Wilson's for its own n, as if its items were independent, since
    how they are clustered is not published; the two samples are independent of one another.

    Args:
        rate: The rate of this project.
        published: The published rate, in [0, 1]; NaN, not reported, never differs.
        n: The number of items of the published rate; None where it is not reported, which leaves only the error of
            ``rate``.
        rounding: How far the printed rate may be from the true one: half of its last digit.

    Source:
        Newcombe 1998 for differences of score intervals of independent samples.
    """
    if np.isnan(published):
        return False
    low_published, high_published = (published, published) if n is None else _wilson(np.array(published), np.array(n))
    value = rate.value - published
    low = value - sqrt((rate.value - rate.low) ** 2 + (high_published - published) ** 2) - rounding
    high = value + sqrt((rate.high - rate.value) ** 2 + (published - low_published) ** 2) + rounding
    return not low <= 0 <= high


def holm(p: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p values that are corrected for their number, shape (n,).

    The smallest is multiplied by the number of finite ones, the next by one less, and so on; none becomes less than one
    before it, or more than 1. The probability of any false finding among all of them is at most the level.

    Args:
        p: Shape (n,), in [0, 1]; NaN, where nothing was tested, does not count and stays NaN.

    Source:
        Holm 1979.
    """
    values = np.asarray(p, dtype=np.float64)
    corrected = np.full(values.shape, np.nan)
    tested = np.flatnonzero(np.isfinite(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return corrected


def _require_paired(first: NDArray[np.float64], second: NDArray[np.float64], clusters: NDArray[np.object_]) -> None:
    if first.shape != second.shape:
        raise DataError(f"a difference needs the same items twice; got {first.shape} and {second.shape}")
    if len(first) == 0 or clusters.ndim != 2 or len(first) != len(clusters):
        raise DataError(
            f"a difference needs items with a row of clusters each; got {len(first)} items, clusters {clusters.shape}"
        )


def _grouped(
    table: pd.DataFrame, by: Sequence[str]
) -> tuple[pd.DataFrame, NDArray[np.int64], list[tuple[object, ...]]]:
    """Return the rows that have a key, the group of each, shape (n,), and the keys of the groups."""
    table = table.dropna(subset=list(by))
    groups = np.array(table.groupby(list(by), sort=False).ngroup(), dtype=np.int64)
    first = np.unique(groups, return_index=True)[1]
    return table, groups, list(table[[*by]].iloc[first].itertuples(index=False, name=None))


def _wilson(rate: NDArray[np.float64], n: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of Wilson's 95 % score interval of rates of n items each."""
    z = ndtri((1 + LEVEL) / 2)
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    # Rounding must not push the rate itself out of its interval when it is 0 or 1.
    return np.minimum(rate, np.maximum(0.0, centre - half)), np.maximum(rate, np.minimum(1.0, centre + half))


def _estimates(
    credits: NDArray[np.float64],
    clusters: NDArray[np.object_],
    groups: NDArray[np.int64],
    answers: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the rates of all groups, their low and high ends and numbers of items, (groups,) each.

    The arguments are those of `_effective_items`.
    """
    n = np.bincount(groups, weights=answers).astype(np.int64)
    rate = np.bincount(groups, weights=credits if answers is None else credits * answers) / n
    low, high = _wilson(rate, _effective_items(credits, clusters, groups, answers))
    return rate, low, high, n


def _differences(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    clusters: NDArray[np.object_],
    groups: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the differences of the rates of all groups, their low and high ends and numbers of items, (groups,) each.

    The arguments are those of `estimate_difference` and `_effective_items`.
    """
    rate, low, high, n = _estimates(first, clusters, groups)
    other_rate, other_low, other_high, _ = _estimates(second, clusters, groups)
    value = rate - other_rate
    residuals, others = first - rate[groups], second - other_rate[groups]  # (n,) each
    correlation = np.ones(len(n))
    for rows, ways in _ways(clusters, groups):
        present = np.unique(groups[rows])
        for way in ways:
            both, alone, others_alone = (
                _sum_over_shared(left[rows], right[rows], way, groups[rows])[present]
                for left, right in ((residuals, others), (residuals, residuals), (others, others))
            )
            varied = np.minimum(alone, others_alone) > (_ROUNDING * n[present]) ** 2
            product = np.sqrt(np.where(varied, alone * others_alone, 1.0))
            in_way = np.where(varied, np.clip(both / product, -1, 1), 0.0)
            correlation[present] = np.minimum(correlation[present], in_way)
    down, up, other_down, other_up = rate - low, high - rate, other_rate - other_low, other_high - other_rate
    below = np.sqrt(np.maximum(0.0, down**2 - 2 * correlation * down * other_up + other_up**2))
    above = np.sqrt(np.maximum(0.0, up**2 - 2 * correlation * up * other_down + other_down**2))
    return value, np.maximum(-1.0, value - below), np.minimum(1.0, value + above), n


def _effective_items(
    credits: NDArray[np.float64],
    clusters: NDArray[np.object_],
    groups: NDArray[np.int64],
    answers: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return how many independent items tell as much about each group's mean as its clustered ones, (groups,).

    That is n / deff, at least 1, where the design effect deff is the ratio of the cluster-robust variance of the mean
    to the binomial one, and is corrected for the few degrees of freedom that few clusters leave. Two items may depend
    on one another if they have any cluster in common: the same template, or the same word, even in another place. Where
    that comes out below the variance under one of the ways of clustering alone, or under none, which chance can bring
    about, the larger counts. The way with the fewest clusters has the degrees of freedom; one cluster alone counts as
    one item. Here and below, clusters of unequal size count as `_even_clusters` says. The design effect is at least 1,
    except for the means of units: if these are 0.5 for a preference, they vary less than single answers do.

    Where nearly all items have the same credit, the variance cannot show how alike the items of a cluster are: if all
    items of ten clusters are right, or all but one, clusters that are wrong as a whole may be absent by chance. So
    where fewer than `FEWEST_DEVIATING` clusters hold an item with another credit than most, the design effect moves, in
    equal steps, towards that of m clusters whose items all agree; where no cluster holds one, it is that. There the
    effective number is m if most credits are 1, or 0, and m * m / 4 if most are 0.5: then the interval reaches about
    2 / m to either side, as if four more units could have been all right, or all wrong.

    Args:
        credits: Shape (n,).
        clusters: Shape (n, k). The same name in two groups is two clusters.
        groups: Shape (n,), from 0 on without a gap.
        answers: Shape (n,): how many answers each credit is the mean of; None for one each. A group in which any is
            the mean of several is one of units.

    Source:
        Cameron, Gelbach & Miller 2011 for several ways of clustering; Aronow, Samii & Assenova 2015 for items that
        are pairs of one kind of thing; Carter, Schnepel & Steigerwald 2017 for clusters of unequal size. The rule for
        credits that are nearly all the same is our own; tests and docs/explanation/statistics.md have its coverage in
        simulations.
    """
    weights = np.ones(len(credits)) if answers is None else answers  # (n,)
    n = np.bincount(groups, weights=weights)
    rate = np.bincount(groups, weights=credits * weights) / n
    residuals = (credits - rate[groups]) * weights  # (n,)
    united = np.bincount(groups, weights=weights > 1) > 0  # (groups,)
    most = np.where(united, np.round(2 * rate) / 2, rate >= 0.5)  # (groups,)
    deviates = credits != most[groups]  # (n,)
    quantile = (1 + LEVEL) / 2
    effective = np.ones(len(n))
    for rows, ways in _ways(clusters, groups):
        own = groups[rows]
        sums = np.max([_sum_over_shared(residuals[rows], residuals[rows], way, own) for way in ways], axis=0)
        even = [_even_clusters(way[:, 0], own, weights[rows]) for way in ways if way.shape[1] == 1]  # (groups,) each
        fewest = np.min(even, axis=0)
        several = np.flatnonzero(fewest > 1)  # of the groups
        items, fewest, binomial = n[several], fewest[several], (n * rate * (1 - rate))[several]
        variance = fewest / (fewest - 1) * sums[several]
        ratio = np.divide(variance, binomial, out=np.ones(len(several)), where=binomial > 0)
        few_clusters = (stdtrit(fewest - 1, quantile) / stdtrit(items - 1, quantile)) ** 2
        design_effect = np.where(united[several], 0.0, 1.0)
        seen = np.maximum(ratio, design_effect) * few_clusters  # (several,)
        for way, clusters_in in zip((way for way in ways if way.shape[1] == 1), even, strict=True):
            count = clusters_in[several]
            most_agree = np.where(most[several] == 0.5, np.maximum(count, count**2 / 4), count)
            alike = np.maximum(items / most_agree, seen)  # the design effect if all items of a cluster agreed
            deviating = _count_clusters(way[deviates[rows]], own[deviates[rows]], len(n))[several]
            unseen = np.maximum(0, 1 - deviating / FEWEST_DEVIATING)  # (several,), in [0, 1]
            design_effect = np.maximum(design_effect, unseen * alike + (1 - unseen) * seen)
        effective[several] = np.maximum(items / design_effect, 1.0)
    return effective


def _ways(
    clusters: NDArray[np.object_], groups: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.int64]]]]:
    """Yield the rows of groups with the same columns of clusters, and these clusters as numbers in all ways.

    The ways are all columns together, (rows, k), each alone and none, (rows, 1). A column in which no two items of a
    group share a cluster is left out. It says what no clustering says, and what is estimated must not depend on it: a
    table of several constructions has columns that are empty for most of them.
    """
    codes = _codes_within(groups, clusters)
    counted = ~_few_wordings(clusters, groups)[groups]  # (n, k)
    shared = counted & (np.bincount(codes[counted], minlength=codes.max(initial=-1) + 1)[codes] > 1)  # (n, k)
    telling = np.zeros((groups.max(initial=-1) + 1, clusters.shape[1]), dtype=bool)  # (groups, k)
    for column, has_shared in enumerate(shared.T):
        telling[groups[has_shared], column] = True
    sets, set_of = np.unique(telling, axis=0, return_inverse=True)  # (sets, k), (groups,)
    for number, columns in enumerate(sets):
        rows = np.flatnonzero(set_of[groups] == number)
        together = codes[np.ix_(rows, np.flatnonzero(columns))]  # (rows, telling columns)
        none = np.arange(len(rows))[:, None]  # (rows, 1)
        yield rows, [together, *np.split(together, together.shape[1], axis=1), none] if together.size else [none]


def _few_wordings(clusters: NDArray[np.object_], groups: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which columns of each group's wordings (see `clusters_by`) have too few of them, (groups, k).

    None has where the group has no other column.
    """
    first = np.unique(groups, return_index=True)[1]
    few = np.array(np.char.startswith(clusters[first].astype(str), WORDINGS), dtype=np.bool_)  # (groups, k)
    for column in np.flatnonzero(few.any(axis=0)):
        few[:, column] &= _count_clusters(_codes_within(groups, clusters[:, [column]]), groups) < FEWEST_WORDINGS
    few[few.all(axis=1)] = False
    return few


def _fewest_clusters(ways: list[NDArray[np.int64]], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of clusters in each group's way that has the fewest, (groups,)."""
    counts = np.stack([_count_clusters(way, groups) for way in ways])  # (ways, groups)
    return np.asarray(counts.min(axis=0), dtype=np.int64)


def _even_clusters(
    codes: NDArray[np.int64], groups: NDArray[np.int64], weights: NDArray[np.float64] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how many equally large clusters each group's clusters, (n,), are worth, (groups,).

    That is 1 over the sum of squares of their shares of the group: m for m equal ones, and few where one cluster has
    most items. The robust variance is too small by the factor 1 - 1 / this number.
    """
    sizes = np.bincount(codes, weights=weights)  # (clusters,)
    group_of = np.zeros(len(sizes), dtype=np.int64)
    group_of[codes] = groups
    total, squares = (np.bincount(group_of, weights=sizes**power) for power in (1, 2))  # (groups,) each
    return np.divide(total**2, squares, out=np.ones(len(total)), where=squares > 0)


def _count_clusters(codes: NDArray[np.int64], groups: NDArray[np.int64], least: int = 0) -> NDArray[np.int64]:
    """Return how many clusters each group has, (groups,); codes (n, k) that differ from group to group, groups (n,).

    The groups that are counted are those up to the largest number in ``groups``, and at least ``least`` of them.
    """
    first = np.unique(codes, return_index=True)[1]
    return np.bincount(groups[first // codes.shape[1]], minlength=max(least, groups.max(initial=-1) + 1))


def _codes_within(groups: NDArray[np.int64], clusters: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return clusters (n, k) as numbers from 0 on, which two groups (n,) never have in common."""
    codes = _renumbered(clusters)
    return _renumbered(groups[:, None] * (codes.max(initial=0) + 1) + codes)


def _sum_over_shared(
    first: NDArray[np.float64], second: NDArray[np.float64], codes: NDArray[np.int64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the sums of first[i] * second[j] over all i and j of a group that have a cluster in common, (groups,).

    Args:
        first: Shape (n,).
        second: Shape (n,).
        codes: Shape (n, k), the clusters of each item; no cluster has items of two groups.
        groups: Shape (n,).

    The sum does not iterate over pairs of items. Items that have t clusters in common are members of t subsets by one
    cluster, of t over 2 subsets by two, and so on; with alternating signs these numbers add up to one for each t above
    0.
    """
    codes = np.sort(codes, axis=1)
    # A name that is repeated in a row is one cluster; the repetition becomes one that no other item is in.
    rows, columns = np.nonzero(codes[:, 1:] == codes[:, :-1])
    codes[rows, columns + 1] = codes.max() + 1 + np.arange(len(rows))
    # Each item keeps the clusters that it shares, or one of its own, since the number of subsets doubles with each.
    shared = np.bincount(codes.ravel())[codes] > 1  # (n, k)
    codes = np.take_along_axis(codes, np.argsort(~shared, axis=1, kind="stable"), axis=1)
    codes = np.sort(codes[:, : max(1, shared.sum(axis=1).max())], axis=1)  # (n, most that an item shares)
    total = np.zeros(groups.max() + 1)
    for size in range(1, codes.shape[1] + 1):
        subsets = np.array(list(combinations(range(codes.shape[1]), size)))  # (subsets, size)
        chosen = codes[:, subsets]  # (n, subsets, size)
        members = chosen[..., 0]  # (n, subsets)
        for column in range(1, size):
            members = _renumbered(members * (codes.max() + 1) + chosen[..., column])
        one, other = (
            np.bincount(members.ravel(), weights=np.repeat(values, len(subsets))) for values in (first, second)
        )  # (clusters,)
        group_of = np.zeros(len(one), dtype=np.int64)
        group_of[members] = groups[:, None]
        total += (-1) ** (size + 1) * np.bincount(group_of, weights=one * other, minlength=len(total))
    return total


def _renumbered(names: NDArray[np.object_] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an array of the same shape with each name's number, from 0 on, in its place."""
    return pd.factorize(names.ravel())[0].reshape(names.shape)
