from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from cxprobe.errors import DataError
from cxprobe.models.params import Member, ModelSpec, Rule
from cxprobe.results.comparisons import best_baseline, compare_contrasts, compare_models
from cxprobe.stats import clusters_of, compare_paired, holm, rate_by


def checkpoint(slug, name, weights="trained"):
    seed = None if weights == "trained" else 1
    spec = ModelSpec(name=name, revision=None, sha256=None, dtype="float32", weights=weights, seed=seed)
    return Member(slug, spec, slug)


MEMBERS = [
    checkpoint("small", "models/small"),
    checkpoint("large", "models/large"),
    checkpoint("small-random", "models/small", "random"),
    checkpoint("small-redrawn", "models/small", "random"),
    checkpoint("orphan", "models/elsewhere", "random"),
    *(Member(slug, Rule(kind="shorter"), "panel") for slug in ("shorter", "first-mentioned")),
]
RATES = dict(zip((member.slug for member in MEMBERS), (0.7, 0.9, 0.5, 0.5, 0.5, 0.4, 0.6), strict=True))


def compared(items, series=None):
    """Return the comparisons of models in the constructions of items."""
    return compare_models(items, ["construction"], MEMBERS, series or {})


def answered(rates=RATES, groups=("let-alone", "conative"), items=60, seed=0):
    """Return the responses of several models to the same items."""
    rng = np.random.default_rng(seed)
    rows = [
        (model, group, f"{group}-{item}", f"{group}-{item % 12}", float(rng.random() < rate))
        for model, rate in rates.items()
        for group in groups
        for item in range(items)
    ]
    return pd.DataFrame(rows, columns=["model", "construction", "id", "cluster_frame", "accuracy"])


def test_a_random_control_of_another_precision_is_compared_with_no_model():
    half = MEMBERS[2]._replace(spec=MEMBERS[2].spec.model_copy(update={"dtype": "bfloat16"}))
    items = answered({"small": 0.7, "small-random": 0.5}, ["let-alone"])
    with pytest.raises(DataError, match=r"small-random: it differs from small in dtype .*, so it is no control"):
        compare_models(items, ["construction"], [MEMBERS[0], half], {})
    other = half._replace(slug="small-half", spec=half.spec.model_copy(update={"weights": "trained", "seed": None}))
    items = pd.concat([items, answered({"small-half": 0.6}, ["let-alone"])])
    table = compare_models(items, ["construction"], [MEMBERS[0], half, other], {})
    random = table[table["compares"] == "random weights"]
    assert random[["first", "second"]].to_numpy().tolist() == [["small-half", "small-random"]]


def test_models_are_compared_with_each_other_with_the_best_of_the_baseline_and_with_their_random_controls():
    table = compared(answered(groups=["let-alone"]))
    assert table[["compares", "first", "second"]].to_numpy().tolist() == [
        ["models", "small", "large"],
        ["best baseline", "small", "first-mentioned"],
        ["best baseline", "large", "first-mentioned"],
        *(["best baseline", control, "first-mentioned"] for control in ("small-random", "small-redrawn", "orphan")),
        ["random weights", "small", "small-random"],
        ["random weights", "small", "small-redrawn"],
    ]


def test_each_comparison_is_paired_on_the_items_of_its_group():
    items = answered()
    table = compared(items)
    wide = items.pivot(index=["construction", "id", "cluster_frame"], columns="model", values="accuracy").reset_index()
    for row in table.to_dict("records"):
        if row["compares"] == "best baseline" and row["first"] not in ("small", "large"):
            # The comparison of a random-weights control is not tested.
            assert np.isnan([row["p"], row["p_holm"]]).all()
            continue
        own = wide[wide["construction"] == row["construction"]]
        paired = compare_paired(own[row["first"]].to_numpy(), own[row["second"]].to_numpy(), clusters_of(own))
        found = [row[name] for name in ("difference", "low", "high", "n", "p")]
        assert found == pytest.approx([paired.value, paired.low, paired.high, 60, paired.p])


def test_p_values_are_corrected_within_the_groups_of_a_model_and_stay_visible():
    table = compared(answered())
    for _, family in table[table["p"].notna()].groupby(["compares", "first"]):
        assert family["p_holm"].tolist() == holm(family["p"].to_numpy()).tolist()
    best = table[(table["compares"] == "best baseline") & table["p"].notna()]
    assert (best["p_holm"] <= np.minimum(1, 2 * best["p"]) + 1e-12).all()  # two constructions, whatever other models do
    by_tests = answered().assign(tests=lambda items: items["construction"])
    apart = compare_models(by_tests, ["construction", "tests"], MEMBERS, {}, family=["tests"])
    best = apart[(apart["compares"] == "best baseline") & apart["p"].notna()]
    assert best["p_holm"].tolist() == best["p"].tolist()
    random_controls = table[table["compares"] == "random weights"]
    assert len(random_controls) == 4
    assert random_controls["p_holm"].min() == pytest.approx(4 * random_controls["p"].min())


def test_every_two_of_eight_models_are_tested_over_their_constructions_and_of_nine_none():
    rates = {"small": 0.5, "large": 0.9, **{f"model-{number}": 0.6 for number in range(7)}}
    nine = compared(answered(rates))
    models = nine[nine["compares"] == "models"]
    assert len(models) == 2 * 36
    assert models["p"].isna().all()
    eight = compared(answered(dict([*rates.items()][:8])))
    models = eight[eight["compares"] == "models"]
    assert len(models) == 2 * 28
    for _, of_two in models.groupby(["first", "second"]):
        assert of_two["p_holm"].tolist() == holm(of_two["p"].to_numpy()).tolist()


def contrasts(frames=20) -> pd.DataFrame:
    """Return contrasts of two models and a baseline: one is better at c throughout, at d not beside its rival."""
    rng, rows = np.random.default_rng(1), []
    gains = {("large", "c", "construction"): 2, ("large", "c", "less_neutral"): 2, ("large", "c", "less_rival"): 1.5}
    gains |= {("large", "d", "construction"): 2, ("large", "d", "less_neutral"): 2, ("large", "d", "less_rival"): -1}
    for model in ("large", "small", "shorter"):
        for name in ("c", "d"):
            for condition in ("construction", "less_neutral", "less_rival", "control"):
                values = rng.normal(gains.get((model, name, condition), 0), 1, frames)
                rows += [(model, name, condition, f"frame {at}", value) for at, value in enumerate(values)]
    table = pd.DataFrame(rows, columns=["model", "construction", "condition", "unit", "value"])
    return table.assign(task="contrasts", source="own", measure="contrast")


def test_contrasts_are_compared_frame_by_frame_and_the_largest_p_value_of_all_contexts_counts():
    table, made = compare_contrasts(contrasts(), MEMBERS, {}), contrasts()
    assert set(zip(table["first"], table["second"], strict=True)) == {("large", "small")}
    plain = {}
    for row in table.to_dict("records"):
        of_it = made[(made["construction"] == row["construction"]) & (made["condition"] == row["condition"])]
        large, small = (of_it[of_it["model"] == model]["value"].to_numpy() for model in ("large", "small"))
        test = ttest_rel(large, small)
        interval = test.confidence_interval()
        found = [row[name] for name in ("difference", "low", "high", "n")]
        assert found == pytest.approx([(large - small).mean(), interval.low, interval.high, 20])
        plain.setdefault(row["construction"], []).append(float(test.pvalue))
    tested = table[table["condition"] == "construction"].set_index("construction")
    assert tested["p"].to_dict() == pytest.approx({"c": max(plain["c"]), "d": 1})  # the differences of d disagree
    assert tested["p_holm"].tolist() == holm(tested["p"].to_numpy()).tolist()
    assert table.loc[table["condition"] != "construction", "p_holm"].isna().all()


def test_checkpoints_are_compared_with_the_one_before_and_only_the_last_with_other_models():
    items = answered({"small": 0.6, "early": 0.5, "middle": 0.55, "late": 0.6, "shorter": 0.5}, ["conative"])
    series = {"training": SimpleNamespace(axis="training_tokens", models={"late": 3.0, "early": 1.0, "middle": 2.0})}
    table = compared(items, series=series)
    assert table[["compares", "first", "second"]].to_numpy().tolist() == [
        ["models", "small", "late"],
        ["best baseline", "small", "shorter"],
        ["best baseline", "late", "shorter"],
        ["neighbour", "middle", "early"],
        ["neighbour", "late", "middle"],
    ]
    assert table["p"].notna().all()


def test_items_of_a_unit_are_compared_by_their_mean():
    items = answered({"small": 0.7, "shorter": 0.4}, ["let-alone"]).assign(unit=lambda items: items["cluster_frame"])
    [row] = compared(items).to_dict("records")
    means = items.pivot_table(index="unit", columns="model", values="accuracy")
    paired = compare_paired(means["small"].to_numpy(), means["shorter"].to_numpy(), means.index.to_numpy()[:, None])
    found = [row[name] for name in ("difference", "low", "high", "p")]
    assert found == pytest.approx([paired.value, paired.low, paired.high, paired.p])


def test_items_that_one_of_the_two_lacks_are_left_out_and_n_says_so():
    items = answered(groups=["let-alone"])
    lacking = items["id"].isin(["let-alone-3", "let-alone-4"]) & (items["model"] == "large")
    lacking |= (items["id"] == "let-alone-5") & (items["model"] == "small")
    table = compared(items[~lacking])
    n = table.set_index(["first", "second"])["n"]
    assert n["small", "large"] == 57
    assert n["large", "first-mentioned"] == 58
    assert n["small", "small-random"] == 59


def test_a_baseline_model_that_was_asked_about_fewer_items_is_not_the_best_of_the_baseline():
    """It may have been asked about the easier ones; of a model that was asked about these alone it is the best."""
    items = answered({"small": 0.7, "large": 0.9, "shorter": 0.4, "first-mentioned": 1.0}, ["conative"])
    easy = items["id"].isin([f"conative-{item}" for item in range(20)])
    items = items[easy | ~items["model"].isin(["large", "first-mentioned"])]
    table = compared(items)
    best = table[table["compares"] == "best baseline"].set_index("first")
    assert best["second"].to_dict() == {"small": "shorter", "large": "first-mentioned"}
    assert best["n"].to_dict() == {"small": 60, "large": 20}
    rates = rate_by(items, "accuracy", ["construction", "model"])
    assert best_baseline(rates, ["construction"], MEMBERS)["model"].tolist() == ["shorter"]
    few = rates[rates["model"].isin(["large", "first-mentioned"])]
    assert best_baseline(few, ["construction"], MEMBERS)["model"].tolist() == ["first-mentioned"]
