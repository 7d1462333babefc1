import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import DataError
from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.stats import clusters_of, compare_paired, holm, rate_by


def checkpoint(slug, name, weights="trained"):
    seed = None if weights == "trained" else 1
    spec = ModelSpec(name=name, revision=None, sha256=None, dtype="float32", weights=weights, seed=seed)
    return Member(slug, spec, slug)


def blind(slug):
    return Member(slug, Rule(kind="shorter"), "panel")


MEMBERS = [
    checkpoint("small", "models/small"),
    checkpoint("large", "models/large"),
    checkpoint("small-random", "models/small", "random"),
    checkpoint("small-shuffled", "models/small", "shuffled"),
    checkpoint("orphan", "models/elsewhere", "random"),
    blind("shorter"),
    blind("first-mentioned"),
]
RATES = {
    "small": 0.7,
    "large": 0.9,
    "small-random": 0.5,
    "small-shuffled": 0.5,
    "orphan": 0.5,
    "shorter": 0.4,
    "first-mentioned": 0.6,
}


def answered(rates=RATES, groups=("let-alone", "conative"), items=60, seed=0):
    """Return judged items of several models on the same items."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "model": model,
            "construction": group,
            "id": f"{group}-{item}",
            "cluster_frame": f"{group}-{item % 12}",
            "accuracy": float(rng.random() < rate),
        }
        for model, rate in rates.items()
        for group in groups
        for item in range(items)
    ]
    return pd.DataFrame(rows)


def test_models_are_compared_with_each_other_with_the_best_of_the_blind_and_with_their_twins():
    table = compare_models(answered(groups=["let-alone"]), ["construction"], MEMBERS)
    assert table.columns.tolist() == [
        "construction",
        *("compares", "first", "second", "difference", "low", "high", "n", "p", "p_holm", "detectable"),
    ]
    assert table[["compares", "first", "second"]].to_numpy().tolist() == [
        ["models", "small", "large"],
        ["best blind", "small", "first-mentioned"],
        ["best blind", "large", "first-mentioned"],
        ["twin", "small", "small-random"],
        ["twin", "small", "small-shuffled"],
    ]


def test_each_comparison_is_paired_on_the_items_of_its_group():
    items = answered()
    table = compare_models(items, ["construction"], MEMBERS)
    wide = items.pivot(index=["construction", "id", "cluster_frame"], columns="model", values="accuracy").reset_index()
    for row in table.to_dict("records"):
        own = wide[wide["construction"] == row["construction"]]
        paired = compare_paired(own[row["first"]].to_numpy(), own[row["second"]].to_numpy(), clusters_of(own))
        found = [row[name] for name in ("difference", "low", "high", "n", "p", "detectable")]
        assert found == pytest.approx([paired.value, paired.low, paired.high, 60, paired.p, paired.detectable()])


def test_p_values_are_corrected_for_the_whole_table_and_stay_visible():
    items = answered()
    table = compare_models(items, ["construction"], MEMBERS)
    assert table["p_holm"].tolist() == holm(table["p"].to_numpy()).tolist()
    assert (table["p_holm"] >= table["p"]).all()
    alone = compare_models(items[items["construction"] == "let-alone"], ["construction"], MEMBERS)
    both = table[table["construction"] == "let-alone"]
    assert (both["p"].min(), len(both)) == (alone["p"].min(), len(alone))
    assert both["p_holm"].min() > alone["p_holm"].min()


def test_items_that_one_of_the_two_lacks_are_left_out_and_n_says_so():
    items = answered(groups=["let-alone"])
    undecided = items["id"].isin(["let-alone-3", "let-alone-4"]) & (items["model"] == "large")
    lacking = (items["id"] == "let-alone-5") & (items["model"] == "small")
    items.loc[undecided, "accuracy"] = np.nan
    table = compare_models(items[~lacking], ["construction"], MEMBERS)
    n = table.set_index(["first", "second"])["n"]
    assert n["small", "large"] == 57
    assert n["large", "first-mentioned"] == 58
    assert n["small", "small-random"] == 59


def test_an_item_that_a_model_has_twice_in_a_group_is_refused():
    items = answered(groups=["let-alone"])
    with pytest.raises(DataError, match=r"small has the item let-alone-0 2 times; compare within the groups"):
        compare_models(pd.concat([items, items.iloc[:1]]), ["construction"], MEMBERS)


def test_the_best_of_the_blind_has_the_highest_rate_of_its_group():
    rates = rate_by(answered(), "accuracy", ["construction", "model"])
    found = best_blind(rates, ["construction"], MEMBERS)
    blind_rates = rates[rates["model"].isin(["shorter", "first-mentioned"])]
    expected = blind_rates.loc[blind_rates.groupby("construction", sort=False)["accuracy"].idxmax()]
    columns = ["construction", "model", "accuracy", "low", "high", "n"]
    assert found.columns.tolist() == columns
    assert found.to_numpy().tolist() == expected[columns].to_numpy().tolist()


def test_of_equally_good_blind_models_the_first_is_named_and_a_group_without_any_has_no_row():
    rates = pd.DataFrame(
        [("x", "first-mentioned", 0.5), ("x", "shorter", 0.5), ("x", "small", 0.9), ("y", "small", 0.9)],
        columns=["construction", "model", "accuracy"],
    ).assign(low=0.0, high=1.0, n=9)
    assert best_blind(rates, ["construction"], MEMBERS)[["construction", "model"]].to_numpy().tolist() == [
        ["x", "shorter"]
    ]
    assert best_blind(rates, [], MEMBERS)["model"].tolist() == ["shorter"]
