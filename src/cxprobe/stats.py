"""Estimates with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import nan, sqrt
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

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
class Mean(Estimate):
    """A mean in nats with its interval by Student's t, and the degrees of freedom of it."""

    freedom: float

    @classmethod
    def of(cls, rate: Estimate, freedom: float = nan) -> "Mean":
        """Return an estimate with its degrees of freedom; n - 1 for NaN."""
        return cls(rate.value, rate.low, rate.high, rate.n, rate.n - 1 if np.isnan(freedom) else freedom)

    @property
    def error(self) -> float:
        """The standard error."""
        return float((self.high - self.low) / 2 / stdtrit(self.freedom, (1 + LEVEL) / 2))

    def p_above(self) -> float:
        """Return the one-sided p value of Student's t test of a mean above 0."""
        if self.error == 0:
            return float(not self.value > 0)
        return float(stdtr(self.freedom, -self.value / self.error))


Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Names: TypeAlias = NDArray[np.object_]
LEVEL = 0.95
WORDINGS = f"{CLUSTER}wording:"  # how the names of these clusters begin, see clusters_of
WIDEST = 0.5  # interval of a rate; what is wider is a smoke test
FEWEST_WORDINGS = 6  # with fewer, no difference could be found: see PairedDifference.p
_ROUNDING = 1e-12  # for each item: a sum of residuals that is 0 but for rounding is below, of up to a million items
DRAWS = 1_000  # of a bootstrap
EXACT, EXCHANGES, MOST_PERMUTED = 14, 20_000, 100  # see `_permutation_p`


def rate_by(table: pd.DataFrame, rate: str, by: Sequence[str]) -> pd.DataFrame:
    """Return a rate with its 95 % interval for each group of items; the only place that groups and then estimates.

    Where the table has the column ``unit``, such as the frame of a minimal pair, the rows of a group that have the same
    name there are one cluster and share no other (see `estimate_rate` for the interval). Such rows may depend on one
    another negatively: a preference for a name is right in one order of two people and wrong in the other.

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
    value, low, high = _estimates(credits, _clusters_or_units(table), groups)
    ties = np.bincount(groups, weights=credits == 0.5).astype(np.int64)
    return keys.assign(**{rate: value, "low": low, "high": high, "n": np.bincount(groups), "ties": ties})


def _clusters_or_units(table: pd.DataFrame) -> Names:
    """Return the clusters of a table's rows, as `clusters_of`, but its unit alone for a row that has one."""
    if UNIT not in table.columns:
        return clusters_of(table)
    named = table[UNIT].notna() & (table[UNIT] != "")
    others = table[cluster_columns(table)].mask(named).dropna(axis=1, how="all")
    return clusters_of(others.assign(**{f"{CLUSTER}{UNIT}": table[UNIT].where(named)}))


def mean_by(
    table: pd.DataFrame, column: str, units: str, by: Sequence[str], *, over_words: bool = False
) -> pd.DataFrame:
    """Return the mean of a column, with its 95 % interval by Student's t over units, for each group of rows.

    Args:
        table: The two columns and those of ``by``.
        column: The one with the numbers, such as a margin in nats.
        units: The one that names the units, such as the frames of minimal pairs.
        by: The columns whose values make the groups.
        over_words: Whether the interval is also over the words that units share: the columns that begin with
            ``cluster_``, one name a unit. The wider one of the two counts, see `_variances`.

    Returns:
        One row per group: the columns of ``by``; the column's mean over the means of its units; low and high, NaN where
        there is one unit; n, the number of units; and freedom, the degrees of freedom of the interval.
    """
    names = cluster_columns(table) if over_words else []
    divided = table.groupby([*by, units], sort=False)
    of_units = divided[[column]].mean().join(divided[names].first()) if names else divided[[column]].mean()
    means = of_units.groupby([*by], sort=False)[column]
    n, value = means.size(), means.mean()
    freedom = (n - 1).to_numpy(np.float64)
    error: Floats = (means.std() / np.sqrt(n)).to_numpy(np.float64)
    if names:
        groups = means.ngroup().to_numpy(np.int64)
        codes, _, _ = _ways(clusters_of(of_units), groups)
        variance, of_words, _, _ = _variances(of_units[column].to_numpy(np.float64), codes, groups)
        of_words, robust, quantile = np.maximum(of_words, 1.0), np.sqrt(variance), (1 + LEVEL) / 2
        wider = stdtrit(of_words, quantile) * robust > stdtrit(freedom, quantile) * error
        freedom, error = np.where(wider, of_words, freedom), np.where(wider, robust, error)
    half = stdtrit(freedom, (1 + LEVEL) / 2) * error
    columns = {column: value, "low": value - half, "high": value + half, "n": n, "freedom": freedom}
    return pd.DataFrame(columns).reset_index()


def correlation(
    first: "pd.Series[float]", second: "pd.Series[float]", clusters: pd.Series, seed: int
) -> dict[str, float]:
    """Return Spearman's correlation of two columns, with the 95 % interval of a bootstrap over clusters.

    Args:
        first: Shape (n,), numbers.
        second: Shape (n,), numbers.
        clusters: Shape (n,): what rows share.
        seed: Of the 1,000 draws.

    Returns:
        value, low and high in [-1, 1], NaN where a column has one value alone; and n, the number of rows.

    Source:
        Field & Welsh 2007 (the bootstrap over clusters).
    """

    def rho(rows: Ints) -> float:
        one, other = (column.iloc[rows].rank().to_numpy() for column in (first, second))
        return float(np.corrcoef(one, other)[0, 1]) if np.ptp(one) and np.ptp(other) else nan

    members = [*pd.Series(np.arange(len(first))).groupby(pd.factorize(clusters)[0]).indices.values()]
    generator = np.random.default_rng(seed)
    draws = [
        rho(np.concatenate([members[one] for one in generator.integers(0, len(members), len(members))]))
        for _ in range(DRAWS)
    ]
    ends = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if np.isfinite(draws).any() else (nan, nan)
    return {"value": rho(np.arange(len(first))), "low": float(ends[0]), "high": float(ends[1]), "n": len(first)}


def credits_of_margins(margins: ArrayLike, tie: float = 0.0) -> Floats:
    """Return 1 where the right one of two scores higher, 0 where the wrong one does and 0.5 for a tie, shape (n,).

    Args:
        margins: Shape (n,): the score of the right one less that of the wrong one, in any unit.
        tie: The largest absolute margin that is a tie; 0 for a strict comparison.

    Raises:
        DataError: A margin is not finite; the message names its row.
    """
    numbers = np.asarray(margins, dtype=np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise DataError(f"the margin at row {row} is {numbers[row]}; every decision needs two scores, so score both")
    return np.where(np.abs(numbers) <= tie, 0.5, numbers > 0)


def credit(probabilities: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Return 1 where a decision is right, 0 where it is wrong and 0.5 where there is none.

    Args:
        probabilities: Shape (n,), of "positive"; exactly 0.5 is a tie.
        labels: Shape (n,), True for positive.
    """
    return credits_of_margins(np.where(labels, 1, -1) * (probabilities - 0.5))


def cluster_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that begin with ``cluster_``."""
    return [str(name) for name in table if str(name).startswith(CLUSTER)]


def clusters_of(table: pd.DataFrame) -> Names:
    """Return the clusters of a table's rows, shape (rows, ways): the columns that begin with ``cluster_``.

    Columns that differ in a number at their end, such as cluster_ADJ1 and cluster_ADJ2, hold clusters of one kind: a
    row with a word in the first place and one with it in the second have a cluster in common. A row without a name,
    as in a column that only other rows' constructions have, shares no cluster of that kind.

    Raises:
        DataError: There is no such column.
    """
    columns = cluster_columns(table)
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
        and left_out, the kind of clusters that are left out ("wording"), or "".

    Source:
        Cameron & Miller 2015, section VI, for what few clusters cannot tell.
    """
    table, groups, keys = _grouped(table, by)
    _, counts, few = _ways(_clusters_or_units(table), groups)
    return keys.assign(clusters=counts.min(axis=1), left_out=np.where(few.any(axis=1), "wording", ""))


def estimate_rate(credits: Floats, clusters: Names) -> Estimate:
    """Estimate a rate from items that come in clusters.

    The interval is Wilson's score interval at 95 % for the effective number of items, rate * (1 - rate) / variance,
    with the cluster-robust variance of the rate. The effective number is corrected for the degrees of freedom of this
    variance, as Student's t. Where nearly all clusters have one rate, the variance shows less than chance may bring
    about: 2 to the power of -d, for d clusters that deviate, is the weight of one more cluster that is all wrong, or
    all right. So m clusters that are all right are worth m items, and a rate of one half of all clusters m * m / 4.
    One cluster is worth one item.

    Args:
        credits: Shape (n,): 1 for right, 0 for wrong, 0.5 for a tie.
        clusters: Shape (n, k): the names of each item's clusters. The same name is the same cluster in every column.

    Raises:
        DataError: There are no items.

    Source:
        Korn & Graubard 1998 for the effective number of items and its degrees of freedom; Wilson 1927; Franco, Little,
        Louis & Slud 2019 find this combination among those that keep their coverage in clustered samples. See
        `_variances` for the variance. The weight of one more cluster is ours, and docs/statistics.md has
        its coverage in simulations.
    """
    n = len(credits)
    if n == 0:
        raise DataError("a rate of no items has no estimate; give one item or more")
    value, low, high = _estimates(credits, clusters, np.zeros(n, dtype=np.int64))
    return Estimate(float(value[0]), float(low[0]), float(high[0]), n)


def difference_by(table: pd.DataFrame, first: str, second: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the difference of two rates with its interval for each group of items, all groups at once.

    An item whose first credit is larger by d counts as a credit of (1 + d) / 2, and the difference is twice the rate of
    these less 1, with the interval of `estimate_rate`. So it is not empty where all items agree.

    Args:
        table: The columns ``first`` and ``second``, each item's credits in [0, 1]; columns that begin with
            ``cluster_`` (at least one); and the columns of ``by``.
        first: The column of one rate's credits.
        second: Of the other's, which is subtracted.
        by: The columns whose values make the groups.

    Returns:
        One row per group, in the order of `rate_by`: the columns of ``by``; difference, low and high, in [-1, 1];
        and n, the number of items.

    Raises:
        DataError: No column begins with ``cluster_``.
    """
    table, groups, keys = _grouped(table, by)
    differences = (table[first] - table[second]).to_numpy(dtype=np.float64)  # (n,)
    rate, low, high = _estimates((1 + differences) / 2, clusters_of(table), groups)
    return keys.assign(difference=2 * rate - 1, low=2 * low - 1, high=2 * high - 1, n=np.bincount(groups))


@dataclass(frozen=True)
class PairedDifference(Estimate):
    """The difference of two rates of the same items, first less second, with the interval that fits its test.

    The interval is Student's t, and excludes 0 where p is below 5 %, and only there. The standard error is that of the
    mean of the items' differences, robust to clusters, as for a rate; it is above 0 also where all items differ alike.

    Attributes:
        p: The two-sided p value: the larger one of Student's t test and of a permutation test over clusters, see
            `_permutation_p`. So m clusters that all differ alike have 2 to the power of 1 - m at least, which is above
            5 % for five. NaN where there is one cluster, which says nothing about others.
    """

    p: float


def compare_paired(first: Floats, second: Floats, clusters: Names) -> PairedDifference:
    """Compare two rates of the same items, first less second.

    Args:
        first: Shape (n,): each item's credit of one model, in [0, 1].
        second: Shape (n,): of the other.
        clusters: Shape (n, k), see `estimate_rate`.
    """
    n = len(first)
    everything = np.zeros(n, dtype=np.int64)  # one group
    codes, counts, _ = _ways(clusters, everything)
    differences = first - second  # (n,)
    value = float(np.mean(differences))
    parts = _variances((1 + differences) / 2, codes, everything)
    variance, freedom, unseen, worth = (float(numbers[0]) for numbers in parts)
    error = 2 * sqrt(variance + unseen / worth)
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * error
    p = 1.0
    if value != 0:
        by_t = 2 * float(stdtr(freedom, -abs(value) / error))
        p = max(by_t, *(_permutation_p(differences, way) for way in codes.T))
    kept = [0.0] if p >= 1 - LEVEL else []
    low, high = max(-1.0, min([value - half, *kept])), min(1.0, max([value + half, *kept]))
    return PairedDifference(value, low, high, n, p if counts.min() > 1 else nan)


def compare_shared(first: pd.DataFrame, second: pd.DataFrame) -> tuple[int, PairedDifference | None]:
    """Compare two models on the items that both have.

    Args:
        first: The credits of one model: id, which no two rows share; accuracy, in [0, 1]; the columns that begin with
            ``cluster_``, and perhaps ``unit``, whose rows are compared by their mean.
        second: id and accuracy of the other.

    Returns:
        The number of items that both have; and the difference on these, None if there are none.
    """
    shared = first.merge(second[["id", "accuracy"]].rename(columns={"accuracy": "second"}), on="id")
    if shared.empty:
        return 0, None
    clusters = _clusters_or_units(shared)
    units = _renumbered(clusters[:, -1]) if UNIT in shared.columns else np.arange(len(shared))  # (n,)
    means = shared[["accuracy", "second"]].groupby(units).mean()
    one, other = (means[column].to_numpy(dtype=np.float64) for column in means)  # (units,) each
    first_of_unit = np.unique(units, return_index=True)[1]
    return len(shared), compare_paired(one, other, clusters[first_of_unit])


def _permutation_p(differences: Floats, codes: Ints) -> float:
    """Return the two-sided p value of a sum over clusters among those with other signs, in (0, 1].

    If two models do not differ, exchanging their answers to all items of a cluster changes nothing but a sign. All
    2 to the power of m exchanges of m clusters that differ are counted up to `EXACT`, and `EXCHANGES` drawn ones above.
    For more than `MOST_PERMUTED` the test adds nothing to Student's t and is not made: 0.
    """
    sums = np.bincount(codes, weights=differences)  # (clusters,)
    sizes = np.abs(sums)
    sizes = np.sort(sizes[sizes > 1e-9])  # (m,); sorted, so that the order of clusters does not count
    if len(sizes) > MOST_PERMUTED:
        return 0.0
    totals = _exchanges(len(sizes)) @ sizes  # (exchanges,)
    return float(np.mean(np.abs(totals) >= abs(sums.sum()) - 1e-9))


@lru_cache(maxsize=4)
def _exchanges(m: int) -> Floats:
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
        Newcombe 1998 (Interval estimation for the difference between independent proportions), method 10.
    """
    if np.isnan(published):
        return False
    ends = (np.array(published), np.array(published)) if n is None else _wilson(np.array(published), np.array(n))
    low, high = map(float, ends)
    value = rate.value - published
    below = sqrt((rate.value - rate.low) ** 2 + (high - published) ** 2)
    above = sqrt((rate.high - rate.value) ** 2 + (published - low) ** 2)
    return not value - below - rounding <= 0 <= value + above + rounding


def holm(p: Sequence[float] | Floats) -> Floats:
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


def _grouped(table: pd.DataFrame, by: Sequence[str]) -> tuple[pd.DataFrame, Ints, pd.DataFrame]:
    """Return the rows that have a key, the group of each, shape (n,), and the keys, one row per group."""
    table = table.dropna(subset=list(by))
    groups = np.array(table.groupby(list(by), sort=False).ngroup(), dtype=np.int64)
    first = np.unique(groups, return_index=True)[1]
    keys = list(table[[*by]].iloc[first].itertuples(index=False, name=None))
    return table, groups, pd.DataFrame(keys, columns=[*by])


def _wilson(rate: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's 95 % score interval of rates of n items each."""
    z = ndtri((1 + LEVEL) / 2)
    scale = 1 + z**2 / n
    centre = (rate + z**2 / (2 * n)) / scale
    half = z / scale * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    low = np.maximum(0.0, centre - half)
    high = np.minimum(1.0, centre + half)
    # Rounding must not push the rate itself out of its interval when it is 0 or 1.
    return np.minimum(rate, low), np.maximum(rate, high)


def _estimates(credits: Floats, clusters: Names, groups: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the rates of all groups and the low and high ends of their intervals, (groups,) each: `estimate_rate`."""
    n = np.bincount(groups)
    rate = np.bincount(groups, weights=credits) / n
    codes, _, _ = _ways(clusters, groups)
    variance, freedom, unseen, worth = _variances(credits, codes, groups)
    quantile = (1 + LEVEL) / 2
    of_items = np.maximum(n - 1, 1)
    correction = (stdtrit(freedom, quantile) / stdtrit(of_items, quantile)) ** 2
    effective = (rate * (1 - rate) + unseen) / (variance * correction + unseen / worth)
    low, high = _wilson(rate, np.maximum(effective, 1.0))
    return rate, low, high


def _variances(credits: Floats, codes: Ints, groups: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the variance of each group's mean, its degrees of freedom, the unseen and m, (groups,) each.

    The variance sums the products of the residuals of all pairs of items once for each cluster that they share, and the
    squares of residuals once. It is at least that of each way of clustering alone. Each cluster's squared sum is
    divided by 1 less its share of the items, so that the variance of independent items is unbiased.

    Clusters are worth m, 1 over the sum of squares of their shares of the items: their number if they are equally
    large. Of these, d deviate from the mean: the squared sum of their squared residuals over the sum of squares of
    these. The degrees of freedom are m - 1, but at most 3 * d, which is what the spread of the squared residuals says;
    and n - 1 for n independent items. Where d is small, the variance shows less than chance may bring about. Then one
    more cluster of 1 / m of the items might be all right or all wrong; it has the weight 2 to the power of -d. The
    unseen is this weight over m, and the unseen over m is to be added to the variance. Both m and d are those of the
    way with the fewest clusters.

    Args:
        credits: Shape (n,), in [0, 1].
        codes: Shape (n, ways), the clusters of each item, of `_ways`.
        groups: Shape (n,), from 0 on without a gap.

    Source:
        Cameron, Gelbach & Miller 2011 for several ways of clustering; Aronow, Samii & Assenova 2015 for the sum over
        clusters less the repeated squares, also of items that are pairs of one kind of thing; MacKinnon, Nielsen & Webb
        2021 for the largest of the variances; Bell & McCaffrey 2002, CR2, for the division by 1 less a share; Carter,
        Schnepel & Steigerwald 2017 for clusters of unequal size; Fay & Graubard 2001 and Pan & Wall 2002 for degrees
        of freedom from the spread of the squared residuals. The unseen is ours.
    """
    n, columns = np.bincount(groups), codes.shape[1]
    means = np.bincount(groups, weights=credits) / n
    residuals = credits - means[groups]
    together, _, _ = _squares(residuals, codes, groups, n)
    ways = [_squares(residuals, codes[:, [way]], groups, n) for way in range(columns)]
    each, evenness, deviations = (np.stack(numbers, axis=1) for numbers in zip(*ways, strict=True))  # (groups, ways)
    singles = np.bincount(groups, weights=residuals**2) / np.maximum(1 - 1 / n, 1 / n)
    shared = 1 / evenness < n[:, None] - 0.5  # two items of n have a cluster in common
    largest = np.where(shared, each, 0.0).max(axis=1)
    fewest = np.arange(len(n)), evenness.argmax(axis=1)
    worth, deviating = 1 / evenness[fewest], deviations[fewest]
    unseen = 2.0**-deviating / worth
    variance = np.maximum(together - (columns - 1) * singles, largest) / n**2
    estimated = shared.any(axis=1) & (deviating > 0)
    freedom = np.where(estimated, np.minimum(worth - 1, 3 * deviating), np.maximum(n - 1, 1))
    return variance, freedom, unseen, worth


def _squares(residuals: Floats, codes: Ints, groups: Ints, n: Ints) -> tuple[Floats, Floats, Floats]:
    """Return what `_variances` sums over the clusters of each group, (groups,) each.

    That is the corrected squared sums of residuals, the squared shares, and how many clusters deviate.
    """
    sizes = np.bincount(codes.ravel())  # (clusters,)
    group_of = np.zeros(len(sizes), dtype=np.int64)
    group_of[codes] = groups[:, None]
    of_group = n[group_of]
    shares = sizes / of_group
    sums = np.bincount(codes.ravel(), weights=np.repeat(residuals, codes.shape[1]))
    squares = np.where(np.abs(sums) > _ROUNDING * of_group, sums**2, 0.0)
    corrected = squares / np.maximum(1 - shares, 1 / of_group)

    def summed(numbers: Floats | Ints) -> Floats:
        return np.bincount(group_of, weights=numbers, minlength=len(n)).astype(np.float64)

    second, fourth = summed(squares), summed(squares**2)
    deviating = np.divide(second**2, fourth, out=np.zeros(len(n)), where=fourth > 0)
    return summed(corrected), summed(sizes**2) / n**2, deviating


def _ways(clusters: Names, groups: Ints) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the clusters that count, (n, ways), how many of each way the groups have, (groups, ways), and few.

    Clusters are numbers, which two groups never have in common. Each item is a cluster alone in a column whose wordings
    are few, and in one whose clusters are each inside one cluster of another column: a sentence inside its template
    says nothing that the template does not. Columns in which no two items of a group share a cluster are left out.
    ``few``, (groups, k), says which columns have too few wordings (see `clusters_by`).
    """
    n = np.bincount(groups)[:, None]  # (groups, 1)
    names = _renumbered(clusters)
    codes = _renumbered(groups[:, None] * (names.max(initial=0) + 1) + names)
    codes_end = codes.max(initial=0) + 1
    counts = np.stack([_count_clusters(column, groups) for column in codes.T], axis=1)
    first = np.unique(groups, return_index=True)[1]
    few = np.char.startswith(clusters[first].astype(str), WORDINGS) & (counts < FEWEST_WORDINGS)
    few &= ~few.all(axis=1, keepdims=True)  # they count where the group has no other column
    alone = few | (counts == n)
    for one, other in combinations(np.flatnonzero(~alone.all(axis=0)), 2):
        pairs = _count_clusters(codes[:, one] * codes_end + codes[:, other], groups)
        inside = (pairs == counts[:, other]) & ~few[:, one]
        outside = (pairs == counts[:, one]) & ~few[:, other] & ~inside
        alone[:, other] |= inside
        alone[:, one] |= outside
    kept = ~alone.all(axis=0)
    kept[0] |= not kept.any()
    items = codes_end + np.arange(codes.size).reshape(codes.shape)
    codes, counts = np.where(alone[groups], items, codes), np.where(alone, n, counts)
    return codes[:, kept], counts[:, kept], few


def _count_clusters(codes: Ints, groups: Ints) -> Ints:
    """Return how many clusters each group has, (groups,); codes, (n,), differ from group to group."""
    first = np.unique(codes, return_index=True)[1]
    return np.bincount(groups[first])


def _renumbered(names: Names | Ints) -> Ints:
    """Return an array of the same shape with each name's number, from 0 on, in its place."""
    return pd.factorize(names.ravel())[0].reshape(names.shape)
