import numpy as np
import pandas as pd
import pytest
from judged_pairs import ANSWERS, SCORED, TEXTS, as_run, credited, crossed, metrics_of, tokens
from judged_pairs import own as how_to_judge
from toy_pairs import load_toy

from cxprobe.errors import DataError
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec
from cxprobe.lm.texts import token_table
from cxprobe.pairs.judge import (
    JudgedPairs,
    accuracy_by_group,
    bias_by,
    biases_of,
    biases_of_all,
    both_orders,
    decide_pairs,
    pair_tables,
    pairs_for,
)
from cxprobe.pairs.make import pair_table, render_pairs
from cxprobe.stats import estimate_rate, rate_by


def scored(margin, items=40, seed=0):
    """Return judged pairs, two noun types x two variants x two orders, whose margins ``margin`` gives."""
    rng = np.random.default_rng(seed)
    axes = {"number": range(items), "variant": ["A", "B"], "order": ["original", "switched"]}
    table = crossed(noun_type=["female", "male"], **axes)
    table["item"] = table["noun_type"] + "-" + table["number"].astype(str)
    margins = [margin(rng, *row) for row in table[["noun_type", "variant", "order"]].itertuples(index=False)]
    frames = "f" + (table.pop("number") % 8).astype(str)
    ids = table["item"] + "-" + table["variant"] + "-" + table["order"]
    return credited(table.assign(id=ids, cluster_frame=frames, margin=margins))


def test_a_model_that_always_names_the_first_person_is_half_right_and_wholly_biased():
    table = scored(lambda _, kind, variant, order: 1.0 if order == "original" else -1.0)
    assert rate_by(table, "accuracy", ["noun_type"])["accuracy"].tolist() == [0.5, 0.5]
    order = bias_by(table, "order", ["noun_type"])
    assert order["bias"].tolist() == [1, 1]
    assert (order["low"] > 0.3).all()
    assert order[["first", "second"]].to_numpy().tolist() == [["original", "switched"]] * 2
    assert order["n"].tolist() == [80, 80]  # each of 40 items in both variants
    assert order["changed"].tolist() == [1, 1]
    assert bias_by(table, "variant", ["noun_type"])["bias"].tolist() == [0, 0]


def test_a_preference_for_names_is_never_right_in_both_orders_and_has_no_margin_while_knowledge_has_both():
    names = np.random.default_rng(1).normal(size=1000)

    def prefers(known):
        chosen = iter(range(1000))

        def margin(rng, kind, variant, order):
            preference = names[next(chosen) // 2]
            return known + rng.normal(0, 1e-6) + (preference if order == "original" else -preference)

        table = scored(margin).assign(construction="toy", tests="meaning", words="real", scheme="pll", model="m")
        tables = both_orders(table.assign(balanced=True), ["model"])
        return tables["both"].iloc[0], tables["margins"].iloc[0]

    both, margin = prefers(0.0)
    assert (both["both"], both["n"], margin["margin"]) == (0, 160, pytest.approx(0, abs=1e-5))
    assert both["high"] < 0.4  # eight frames
    both, margin = prefers(0.5)
    assert both["both"] == pytest.approx((abs(names[:160]) < 0.5).mean())
    assert (margin["low"], margin["margin"], margin["high"]) == pytest.approx((0.5, 0.5, 0.5), abs=1e-5)


def test_a_liking_for_one_name_in_either_seat_is_no_bias_of_means_and_changes_every_decision(tmp_path):
    pairs = render_pairs("x", *load_toy(tmp_path), 9, seed=0)
    table = pair_table([pair for pair in pairs if pair.groups["variant"] == "A"])
    named = table[["good", "bad"]].map(lambda text: text.split()[-1])  # the person that each member names
    liking = np.where(named["good"] < named["bad"], 1.0, -1.0)  # for whoever comes first in the alphabet
    judged = credited(table.assign(margin=liking))
    bias = bias_by(judged, "order", ["construction"])
    assert bias["changed"].tolist() == [1]
    assert bias["bias"].item() < 0.5
    assert rate_by(judged, "accuracy", ["construction"])["accuracy"].tolist() == [0.5]


def test_each_construction_has_names_of_its_own_for_its_two_variants():
    one = scored(lambda rng, kind, variant, order: 1.0 if variant == "A" else -1.0)
    other = one.assign(item="other" + one["item"], variant=one["variant"].map({"A": "plain", "B": "cleft"}))
    bias = bias_by(pd.concat([one, other], ignore_index=True), "variant", ["noun_type"])
    assert bias[["first", "second", "bias", "n"]].to_numpy().tolist() == [["A / plain", "B / cleft", 1.0, 160]] * 2


def judged_toy(seed=0, tests="meaning"):
    """Return judged pairs of a construction, some with pseudowords, under two scores and two schemes."""
    rng = np.random.default_rng(seed)
    parts = []
    for words in ("real", "pseudo"):
        own = scored(lambda rng, *_: rng.choice([-1.0, 0.0, 1.0]), items=8, seed=seed)
        own = own.assign(tests=tests, words=words, id=words + own["id"], item=words + own["item"])
        parts.append(own)
    items = pd.concat(parts, ignore_index=True).assign(scheme="pll", score="per_token")
    items = items.assign(balanced=True, right="so", wrong="not")
    others = [
        credited(items.assign(scheme=scheme, score=score, margin=rng.normal(size=len(items))))
        for scheme, score in (("pll", "sum"), ("pll_word_l2r", "per_token"), ("pll_word_l2r", "sum"))
    ]
    return JudgedPairs(items, pd.concat([items, *others], ignore_index=True))


def test_tables_are_the_rates_of_their_groups():
    judged = judged_toy()
    tables = pair_tables(judged, [])
    assert tables["constructions"][["construction", "tests", "words", "n"]].to_numpy().tolist() == [
        ["toy", "meaning", "real", 64],
        ["toy", "meaning", "pseudo", 64],
    ]
    cells = tables["cells"].set_index(["words", "variant", "noun_type", "order"])
    for key, group in judged.items.groupby(list(cells.index.names)):
        expected = estimate_rate(group["accuracy"].to_numpy(), group[["cluster_frame"]].to_numpy(object))
        row = cells.loc[key]
        assert (row["accuracy"], row["low"], row["high"]) == (expected.value, expected.low, expected.high)
        assert row["tie_rate"] == (group["margin"] == 0).mean()
    assert len(tables["scores"]) == 2 * 2 * 2
    assert tables["biases"][["compares", "noun_type"]].to_numpy().tolist() == [
        [way, kind] for way in ("order", "variant") for kind in ("female", "male")
    ]


def test_tables_of_several_models_are_those_of_each():
    parts = {name: judged_toy(seed) for seed, name in enumerate(("one", "two"))}
    both = JudgedPairs.joined(parts)
    for name, table in pair_tables(both).items():
        for model, own in parts.items():
            found = table[table["model"] == model].drop(columns="model").reset_index(drop=True)
            pd.testing.assert_frame_equal(found, pair_tables(own, [])[name])


def test_the_metrics_of_a_run_begin_with_the_accuracy_of_real_words_and_name_no_construction():
    judged = judged_toy()
    metrics = metrics_of(judged)
    assert list(metrics)[:5] == ["accuracy", "low", "high", "n", "tie_rate"]
    real = judged.where("words", "real").items
    assert metrics["accuracy"] == real["accuracy"].mean()
    assert metrics["n"] == 64
    assert metrics["variant.A"] == real.loc[real["variant"] == "A", "accuracy"].mean()
    assert metrics["noun_type.male"] == real.loc[real["noun_type"] == "male", "accuracy"].mean()
    assert metrics["words.pseudo"] == judged.where("words", "pseudo").items["accuracy"].mean()
    assert metrics["score.per_token"] == metrics["accuracy"]
    sums = judged.where("words", "real").where("score", "sum").scores
    assert metrics["score.sum"] == sums.loc[sums["scheme"] == "pll", "accuracy"].mean()
    by_order = real.groupby("order")["accuracy"].mean()
    assert metrics["bias_order"] == pytest.approx(abs(by_order["original"] - by_order["switched"]))
    assert metrics["bias_order_low"] <= metrics["bias_order"] <= metrics["bias_order_high"]
    assert metrics["changed_with_order_low"] <= metrics["changed_with_order"] <= metrics["changed_with_order_high"]
    assert len(metrics) <= 40
    assert not [name for name in metrics if "toy" in name]


def test_pairs_of_form_have_no_bias_and_a_single_group_is_not_repeated():
    judged = judged_toy(tests="form")
    single = judged.where("variant", "A").where("order", "original")
    metrics = metrics_of(single)
    assert not [name for name in metrics if "bias" in name or "changed" in name or "variant." in name]
    assert accuracy_by_group(as_run(single).items)["group"].tolist() == [
        "all",
        "noun_type.female",
        "noun_type.male",
        "words.pseudo",
    ]
    assert pair_tables(single, [])["biases"].empty


def test_a_construction_without_switched_pairs_has_no_bias_of_order():
    one, other = judged_toy().items, judged_toy(1).items
    other = other[other["order"] == "original"].assign(construction="other", item="other" + other["item"])
    biases = biases_of(pd.concat([one, other], ignore_index=True), ["construction"])
    assert biases[["compares", "construction"]].to_numpy().tolist() == [
        ["order", "toy"],
        ["variant", "toy"],
        ["variant", "other"],
    ]


def test_what_was_added_to_the_published_design_is_not_in_the_bias_across_variants():
    asked = scored(lambda *_: 1.0).assign(construction="toy", tests="meaning", words="real")
    rivals = asked.assign(sentence="rival", origin="own")
    own = rivals.assign(variant=rivals["variant"].map({"A": "C", "B": "D"}))
    biases = biases_of(pd.concat([asked, rivals, own]), ["noun_type"])
    assert set(biases.loc[biases["compares"] == "variant", "n"]) == {80}


def test_biases_of_all_constructions_are_those_of_the_balanced_ones_by_noun_type():
    names = ("toy", "other", "always")
    parts = [
        judged_toy(seed).items.assign(construction=name, model=model, balanced=name != "always")
        for seed, (name, model) in enumerate((name, model) for name in names for model in ("one", "two"))
    ]
    items = pd.concat(parts, ignore_index=True)
    items = items.assign(item=items["construction"] + items["item"], right="so", wrong="not")
    found = biases_of_all(items).set_index(["compares", "model", "noun_type"])
    counted = items[(items["words"] == "real") & items["balanced"]]
    assert len(found) == 2 * 2 * 2
    for way, (first, second) in {"order": ("original", "switched"), "variant": ("A", "B")}.items():
        for key, own in counted.groupby(["model", "noun_type"]):
            means, row = own.groupby(way)["accuracy"].mean(), found.loc[(way, *key)]
            assert row["bias"] == pytest.approx(abs(means[first] - means[second]))
            assert row["n"] == len(own) / 2
            halves = own.pivot(
                index=["item", {"order": "variant", "variant": "order"}[way]], columns=way, values="accuracy"
            )
            assert row["changed"] == pytest.approx((halves[first] - halves[second]).abs().mean())
            assert row["low"] <= row["bias"] <= row["high"]


@pytest.mark.parametrize(("scheme", "accuracy"), [("pll", 0.0), ("pll_word_l2r", 0.5)])
def test_the_scheme_and_the_score_decide_and_all_others_stay(scheme, accuracy):
    judged = decide_pairs(TEXTS, ANSWERS, how_to_judge(scheme, "sum", ("sum", "given_context")))
    assert judged.items["accuracy"].tolist() == [accuracy, accuracy]
    assert judged.items["good"].tolist() == [" so", "it is so"]
    assert judged.items[["right", "wrong", "balanced"]].to_numpy().tolist() == [["so", "not", False]] * 2
    assert not judged.scores["balanced"].any()
    assert judged.items[["scheme", "score"]].drop_duplicates().to_numpy().tolist() == [[scheme, "sum"]]
    counted = judged.scores.groupby(["scheme", "score"], sort=False).size().to_dict()
    assert counted == {
        (one, name): number for one in ("pll", "pll_word_l2r") for name, number in (("sum", 2), ("given_context", 1))
    }


def test_a_score_that_is_not_finite_names_its_pair():
    broken = token_table([tokens("it is so", "pll", [-1, -np.inf, -1]), SCORED[1]])
    with pytest.raises(DataError, match=r"pair a, sum: a score is not finite \(-inf, -5.0\)"):
        decide_pairs(TEXTS, broken, how_to_judge())


SPEC = ModelSpec(name="models/x", revision=None, sha256=None, dtype="float32")
ALONE = Member("alone", ContinuationAlone(kind="continuation_alone", checkpoint=SPEC), "blind")
MODEL = Member("x", SPEC, "x")
PREFERENCES = pd.DataFrame({"id": ["b", "a"], "margin": [0.0, 3.0]})


def test_a_preference_decides_and_an_undecided_pair_is_a_tie():
    judged = decide_pairs(TEXTS, PREFERENCES, how_to_judge())
    assert judged.items[["id", "accuracy", "scheme", "score"]].to_numpy().tolist() == [
        ["a", 1.0, "rule", "preference"],
        ["b", 0.5, "rule", "preference"],
    ]
    assert judged.items["good"].tolist() == [" so", "it is so"]
    assert judged.scores["accuracy"].tolist() == [1.0, 0.5]


def test_a_pair_without_a_preference_or_with_two_is_refused():
    with pytest.raises(DataError, match=r"1 of 2 pairs have no preference \(b\)"):
        decide_pairs(TEXTS, PREFERENCES[PREFERENCES["id"] == "a"], how_to_judge())
    with pytest.raises(DataError, match="a pair has several"):
        decide_pairs(TEXTS, pd.concat([PREFERENCES, PREFERENCES]), how_to_judge())


def test_a_model_that_is_shown_the_continuation_alone_is_asked_about_pairs_with_a_context():
    scored = token_table([tokens("it is so", "pll", [-1, -1, -4]), tokens("it is not", "pll", [-1, -1, -3])])
    assert decide_pairs(pairs_for(ALONE, TEXTS, {}), scored, how_to_judge()).items["id"].tolist() == ["a"]
    assert pairs_for(ALONE, TEXTS[TEXTS["context"] == ""], {}).empty
    assert pairs_for(MODEL, TEXTS, {}) is TEXTS
