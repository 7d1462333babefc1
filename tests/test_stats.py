from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, permutation_test, t, ttest_1samp

from cxprobe.errors import DataError
from cxprobe.stats import (
    Estimate,
    _estimates,
    clusters_by,
    clusters_of,
    compare_paired,
    credit,
    credits_of_margins,
    difference_by,
    differs_from_published,
    estimate_rate,
    holm,
    mean_by,
    rate_by,
)


def names(n: int) -> np.ndarray:
    return np.array([[f"cluster {i}"] for i in range(n)], dtype=object)


@given(st.integers(2, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_unclustered_interval_is_wilsons(n_and_right):
    n, right = n_and_right
    estimate = estimate_rate(np.repeat([1.0, 0.0], [right, n - right]), names(n))
    wilson = binomtest(right, n).proportion_ci(method="wilson")
    # Up to g / (g - 1): the variance between clusters is estimated, not known.
    assert estimate.low == pytest.approx(wilson.low, abs=0.6 / n)
    assert estimate.high == pytest.approx(wilson.high, abs=0.6 / n)
    assert estimate.n == n


def drawn(design, clusters, agreement, rate, samples, rng):
    """Draw credits, shape (n,), their clusters, (n, k), and samples, (n,); items of a cluster agree so much."""
    ranks = np.arange(1, clusters + 1)
    weights = {"Zipf": 1 / ranks, "lognormal": np.exp(np.random.default_rng(clusters).normal(size=clusters))}.get(
        design, np.ones(clusters)
    )
    sizes = np.maximum(1, np.round(10 * clusters * weights / weights.sum())).astype(int)
    cluster = np.broadcast_to(np.repeat(np.arange(clusters), sizes), (samples, sizes.sum()))
    sample = np.arange(samples)[:, None]
    columns = [sample * clusters + cluster]
    if design == "crossed":
        columns = [sample * clusters + rng.integers(0, clusters, cluster.shape) for _ in range(2)]
        common = sum(rng.normal(size=samples * clusters)[column] for column in columns)
        normal = np.sqrt(agreement / 2) * common + np.sqrt(1 - agreement) * rng.normal(size=cluster.shape)
        right = normal < norm.ppf(rate)
        columns[1] = columns[1] + samples * clusters
    elif design == "switched":  # a model that knows some clusters and else prefers one name, right in one order of two
        cluster = np.repeat(np.arange(clusters), 8)
        knows = rng.random((samples, clusters, 1)) < 2 * rate - 1
        prefers = rng.random((samples, clusters, 4)) < 0.5
        right = np.stack([knows | prefers, knows | ~prefers], axis=-1).reshape(samples, -1)
        columns = [sample * clusters + cluster]
    elif agreement:
        shape = 1 / agreement - 1
        of_clusters = rng.beta(rate * shape, (1 - rate) * shape, (samples, clusters))
        right = rng.random(cluster.shape) < of_clusters[sample, cluster]
    else:
        right = rng.random(cluster.shape) < rate
    names = np.stack([column.ravel() for column in columns], axis=1).astype(object)
    return right.ravel().astype(float), names, np.repeat(np.arange(samples), right.shape[1])


def coverage(design, clusters, agreement, rate, samples=1000) -> float:
    _, low, high = _estimates(*drawn(design, clusters, agreement, rate, samples, np.random.default_rng(clusters)))
    return np.mean((low <= rate) & (rate <= high)).item()


@pytest.mark.parametrize("clusters", [20, 48])
@pytest.mark.parametrize("agreement", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("design", ["equal", "lognormal", "crossed", "switched"])
def test_interval_covers_the_true_rate_as_often_as_it_says(design, agreement, clusters):
    assert 0.92 <= coverage(design, clusters, agreement, 0.6, samples=400) <= 0.99


@pytest.mark.slow
def test_the_page_shows_how_often_intervals_cover_the_true_rate():
    numbers, rows = (8, 20, 100), []
    for design, agreement in (("equal", 0.0), ("equal", 0.7), ("lognormal", 0.7), ("Zipf", 0.7), ("crossed", 0.7)):
        cells = [[coverage(design, m, agreement, rate) for rate in (0.5, 0.9, 0.98)] for m in numbers]
        rows.append((f"{design}, {agreement}", cells))
    for knows, rate in ((0, 0.5), (10, 0.55), (60, 0.8)):
        rows.append((f"switched, knows {knows} %", [[coverage("switched", m, 0.0, rate)] for m in numbers]))
    texts = [[name, *(", ".join(f"{100 * one:.1f}" for one in cell) for cell in cells)] for name, cells in rows]
    lines = [f"| {' | '.join(row)} |" for row in texts]
    page = Path(__file__).parents[1] / "docs" / "statistics.md"
    assert "\n".join(lines) in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("frames", [8, 48])
@pytest.mark.parametrize("rate", [0.5, 0.8])
def test_interval_over_units_of_a_model_that_prefers_a_name_is_about_that_of_a_t_test_of_their_means(rate, frames):
    credits, units, samples = drawn("switched", frames, 0.0, rate, 300, np.random.default_rng(7))
    table = pd.DataFrame({"accuracy": credits, "sample": samples, "unit": units[:, 0], "cluster_name": "all"})
    estimates = rate_by(table, "accuracy", ["sample"])
    half = ((estimates["high"] - estimates["low"]) / 2).mean()
    means = table.groupby(["sample", "unit"])["accuracy"].mean().groupby("sample")
    of_t = (t.ppf(0.975, frames - 1) * means.std() / np.sqrt(frames)).mean()
    assert 0.95 * of_t <= half <= max(1.2 * of_t, 2.1 / frames)


def test_a_unit_counts_by_the_mean_of_its_rows_and_one_of_a_row_is_an_item():
    rows = [("u", 1.0), ("u", 0.0), ("u", 1.0), ("v", 0.0), (None, 1.0), (None, 0.0)]
    table = pd.DataFrame(rows, columns=["unit", "accuracy"]).assign(cluster_frame="all", model="m")
    estimate = rate_by(table, "accuracy", ["model"]).iloc[0]
    assert (estimate["accuracy"], estimate["n"]) == (0.5, 6)
    assert clusters_by(table, ["model"])["clusters"].tolist() == [4]


def test_the_mean_over_units_has_the_interval_of_a_t_test_of_their_means():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"unit": np.repeat(range(9), 4), "margin": rng.normal(0.3, 1, 36), "model": "m"})
    row = mean_by(table, "margin", "unit", ["model"]).iloc[0]
    means = table.groupby("unit")["margin"].mean()
    of_t = ttest_1samp(means, 0).confidence_interval()
    assert (row["margin"], row["low"], row["high"]) == pytest.approx((means.mean(), of_t.low, of_t.high))
    assert mean_by(table[table["unit"] == 0], "margin", "unit", ["model"])[["low", "high"]].isna().all(axis=None)


def test_columns_of_one_kind_name_their_clusters_alike():
    table = pd.DataFrame({"cluster_ADJ1": ["old", "new"], "cluster_ADJ2": ["new", "big"], "cluster_frame": [1, 2]})
    names = clusters_of(table)
    assert names[1, 0] == names[0, 1]
    assert len(set(names.ravel())) == 5


def test_a_row_without_a_name_shares_its_cluster_with_no_other():
    names = clusters_of(pd.DataFrame({"cluster_verb": ["go", None, "go", None]}))
    assert names[0] == names[2]
    assert len(set(names.ravel())) == 3


def test_a_table_without_clusters_is_refused():
    with pytest.raises(DataError, match="no column begins with cluster_"):
        clusters_of(pd.DataFrame({"credit": [1.0]}))


def test_a_tie_is_half():
    probabilities = np.array([0.5, 0.5, 0.9, 0.2])
    assert credit(probabilities, np.array([True, False, True, True])).tolist() == [0.5, 0.5, 1.0, 0.0]


def test_a_margin_decides_strictly_unless_a_tie_is_wider():
    assert credits_of_margins(np.array([2.0, -0.1, 0.0, 1e-300])).tolist() == [1, 0, 0.5, 1]
    assert credits_of_margins(np.array([2.0, -0.1, 0.1, -0.2]), tie=0.1).tolist() == [1, 0.5, 0.5, 0]


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_margin_that_is_not_finite_names_its_row(broken):
    with pytest.raises(DataError, match=f"the margin at row 1 is {broken}"):
        credits_of_margins(np.array([1.0, broken, 2.0]))


def interval_by_definition(credits: list[float], clusters: list[list[str]]) -> tuple[float, float]:
    """Return the interval of one group's rate from the definitions alone."""
    n, columns = len(credits), [list(column) for column in zip(*clusters, strict=True)]
    wordings = [column for column in columns if column[0].startswith("cluster_wording:") and len(set(column)) < 6]
    columns = [column for column in columns if column not in wordings] or columns
    ways = list(columns)
    for inner, outer in permutations(range(len(columns)), 2):
        pairs = set(zip(columns[inner], columns[outer], strict=True))
        many, few = len(set(columns[inner])), len(set(columns[outer]))
        if len(pairs) == many and (many > few or inner > outer):
            ways[inner] = [f"item {row} of {inner}" for row in range(n)]
    rate = np.mean(credits)

    def squares(ways: list[list[str]]) -> list[tuple[float, int]]:
        totals, sizes = Counter(), Counter()
        for way in ways:
            sizes.update(way)
            for name, of_item in zip(way, credits, strict=True):
                totals[name] += of_item - rate
        return [(totals[name] ** 2 if abs(totals[name]) > 1e-12 * n else 0.0, size) for name, size in sizes.items()]

    def corrected(parts: list[tuple[float, int]]) -> float:
        return sum(square / max(1 - size / n, 1 / n) for square, size in parts)

    each, rows = [squares([way]) for way in ways], [f"item {row}" for row in range(n)]
    shared = [parts for parts in each if len(parts) < n]
    total = corrected(squares(ways)) - (len(ways) - 1) * corrected(squares([rows]))
    fewest = max(each, key=lambda parts: sum(size**2 for _, size in parts))
    evenness = sum(size**2 for _, size in fewest) / n**2
    fourth = sum(square**2 for square, _ in fewest)
    deviating = sum(square for square, _ in fewest) ** 2 / fourth if fourth else 0.0
    unseen = 2**-deviating * evenness
    variance = max([total, *map(corrected, shared)]) / n**2
    freedom = min(1 / evenness - 1, 3 * deviating) if shared and deviating else max(n - 1, 1)
    ratio = t.ppf(0.975, freedom) / t.ppf(0.975, max(n - 1, 1))
    effective = max(1.0, (rate * (1 - rate) + unseen) / (variance * ratio**2 + unseen * evenness))
    z2 = norm.ppf(0.975) ** 2
    centre = (rate + z2 / (2 * effective)) / (1 + z2 / effective)
    half = np.sqrt(z2 * (rate * (1 - rate) / effective + z2 / (4 * effective**2))) / (1 + z2 / effective)
    return max(0.0, centre - half), min(1.0, centre + half)


word = st.sampled_from(["u", "v", "w", "x", "y", "z", None])


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.5, 1.0]), word, word, word, word),
        min_size=1,
        max_size=60,
    )
)
def test_groups_estimated_at_once_have_the_intervals_of_the_definition(rows):
    columns = ["group", "accuracy", "cluster_verb1", "cluster_verb2", "cluster_frame", "cluster_wording"]
    table = pd.DataFrame(rows, columns=columns)
    table["cluster_frame"] = table["cluster_frame"].where(table["group"] != "a")
    rates, clusters = rate_by(table, "accuracy", ["group"]), clusters_of(table)
    assert rates["group"].tolist() == list(dict.fromkeys(table["group"]))
    for row in rates.itertuples():
        members = np.flatnonzero(table["group"] == row.group)
        credits = table["accuracy"].to_numpy()[members]
        assert (row.accuracy, row.n, row.ties) == (pytest.approx(credits.mean()), len(members), (credits == 0.5).sum())
        expected = interval_by_definition(credits.tolist(), clusters[members].tolist())
        assert (row.low, row.high) == pytest.approx(expected, abs=1e-9)
        assert estimate_rate(credits, clusters[members]).low == pytest.approx(row.low, abs=1e-12)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.5, 1.0]),
            st.sampled_from([0.0, 0.5, 1.0]),
            st.sampled_from(["a", "b", None]),
            st.integers(0, 1),
            *[st.sampled_from(["x", "y", "z", None])] * 3,
        ),
        min_size=1,
    )
)
# Residuals of the second group that are 0 are not rounded alike beside another group.
@example(
    [(0.0, 0.0, "a", 0, "x", word, "x") for word in "xxxxxxxxxyy"]
    + [(0.0, 0.0, "b", 1, "x", "y", "x"), (0.0, 0.0, "b", 1, "y", "y", "x"), (0.5, 0.5, "b", 1, "y", "y", "x")]
)
def test_differences_of_all_groups_at_once_are_those_of_each_group(items):
    clusters = ["cluster_word1", "cluster_word2", "cluster_wording"]
    table = pd.DataFrame(items, columns=["first", "second", "letter", "digit", *clusters], dtype=object)
    table = table.astype({"first": float, "second": float})
    differences = difference_by(table, "first", "second", ["letter", "digit"])
    groups = table.groupby(["letter", "digit"], sort=False)
    assert list(differences[["letter", "digit"]].itertuples(index=False, name=None)) == list(groups.groups)
    for row, (_, items) in zip(differences.itertuples(), groups, strict=True):
        halved = estimate_rate(((1 + items["first"] - items["second"]) / 2).to_numpy(), clusters_of(items))
        expected = 2 * np.array([halved.value, halved.low, halved.high]) - 1
        assert [row.difference, row.low, row.high] == pytest.approx(expected.tolist(), abs=1e-12)
        assert row.n == len(items)


@pytest.mark.parametrize("clusters", [5, 9, 13, 30])
def test_the_p_value_is_at_least_that_of_a_permutation_of_the_clusters(clusters):
    rng = np.random.default_rng(15)
    for _ in range(5):
        first, second = np.repeat(rng.binomial(1, [[0.8], [0.5]], size=(2, clusters)).astype(float), 4, axis=1)
        paired = compare_paired(first, second, np.repeat(names(clusters), 4, axis=0))
        sums = (first - second).reshape(clusters, 4).sum(axis=1)
        if not sums.any():
            continue
        oracle = permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=20_000, rng=rng).pvalue
        by_t = ttest_1samp(sums, 0).pvalue
        assert paired.p == pytest.approx(max(oracle, by_t), abs=0.01 if clusters > 14 else 1e-9)


def test_the_p_value_of_equal_clusters_is_that_of_the_t_test_of_their_means_and_so_is_the_interval():
    rng = np.random.default_rng(7)
    lean = rng.normal(scale=0.2, size=15)
    first, second = (rng.binomial(1, np.repeat(0.5 + sign * lean, 6)).astype(float) for sign in (1, -1))
    paired = compare_paired(first, second, np.repeat(names(15), 6, axis=0))
    oracle = ttest_1samp((first - second).reshape(15, 6).mean(axis=1), 0)
    assert oracle.pvalue <= paired.p < oracle.pvalue + 0.06  # a permutation test of 15 signs is a little more careful
    assert (paired.low, paired.high) == pytest.approx(tuple(oracle.confidence_interval()), abs=0.005)
    assert paired.n == 90


@given(
    st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 2, st.sampled_from("abcdefgh")), min_size=1, max_size=40)
)
def test_the_interval_excludes_no_difference_exactly_where_p_is_below_a_twentieth_and_exchanging_mirrors(items):
    first, second, clusters = (np.array(column) for column in zip(*items, strict=True))
    there = compare_paired(first, second, clusters.astype(object)[:, None])
    back = compare_paired(second, first, clusters.astype(object)[:, None])
    assert (there.p < 0.05) == (not there.low <= 0 <= there.high)
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert there.p == pytest.approx(back.p, nan_ok=True)


def planted(rng, difference, clusters=30, size=8):
    """Return the credits of two models on the same clustered items, whose rates differ by so much, and the clusters.

    Items of a cluster are alike hard for both; and a cluster suits one model better than the other.
    """
    names_of, sizes = np.arange(clusters), rng.integers(1, 2 * size, clusters)
    hard, suits = rng.normal(scale=0.1, size=(2, clusters))
    rates = [0.6 + hard + sign * (suits / 2 + difference / 2) for sign in (1, -1)]
    first, second = (rng.binomial(1, np.clip(np.repeat(rate, sizes), 0, 1)).astype(float) for rate in rates)
    return first, second, np.repeat(names_of, sizes).astype(object)[:, None]


def test_models_that_do_not_differ_are_told_apart_in_no_more_than_a_twentieth_of_all_samples():
    rng, repetitions = np.random.default_rng(10), 400
    found = sum(compare_paired(*planted(rng, 0)).p < 0.05 for _ in range(repetitions))
    assert found <= repetitions * 0.05 + 3 * np.sqrt(repetitions * 0.05 * 0.95)


def test_holm_corrects_each_p_value_for_those_that_are_left():
    # By hand: 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1, which may not fall below the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]).tolist() == [1, 1]
    assert holm([np.nan, 0.02, np.nan, 0.03]) == pytest.approx([np.nan, 0.04, np.nan, 0.04], nan_ok=True)
    assert holm([]).shape == (0,)


def test_the_difference_from_a_published_rate_is_newcombes_interval():
    # Newcombe 1998, Table II, (a): 56/70 against 48/80 has the interval 0.0524 to 0.3339.
    published = 48 / 80
    wilson = binomtest(56, 70).proportion_ci(method="wilson")
    for shift, differs in ((0, True), (0.052, True), (0.053, False)):
        ours = Estimate(56 / 70 - shift, wilson.low - shift, wilson.high - shift, 70)
        assert differs_from_published(ours, published, 80) is differs


def test_a_published_rate_is_as_exact_as_it_is_printed():
    rate = Estimate(0.5, 0.4, 0.6, 100)
    assert differs_from_published(rate, 0.6004, None)
    assert not differs_from_published(rate, 0.6004, None, rounding=0.0005)


def test_an_interval_says_what_it_rests_on_and_which_wordings_are_too_few_to_count():
    rows = pd.DataFrame(
        {"cluster_frame": list("aabbcc") * 4, "cluster_wording": ["x"] * 12 + ["y"] * 12, "group": "one"}
    )
    many = pd.DataFrame({"cluster_frame": list("aabbcc") * 4, "cluster_wording": list("uvwxyz") * 4, "group": "two"})
    alone = pd.DataFrame({"cluster_frame": list("pqrs"), "cluster_wording": list("pqrs"), "group": "three"})
    table = clusters_by(pd.concat([rows, many, alone], ignore_index=True), ["group"])
    assert table.to_dict("records") == [
        {"group": "one", "clusters": 3, "left_out": "wording"},
        {"group": "two", "clusters": 3, "left_out": ""},
        {"group": "three", "clusters": 4, "left_out": "wording"},
    ]
