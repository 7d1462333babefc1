"""Controls of minimal pairs, and what may be said of a model beside them."""

import numpy as np
import pandas as pd
import pytest
from judged_pairs import crossed

from cxprobe.lm.params import Member, NgramFeatures, PairClassifier
from cxprobe.pairs.controls import is_above_chance
from cxprobe.pairs.judge import JudgedPairs, controls_of_pairs, every_variant, several, with_answered_by_words
from cxprobe.report.findings import CANNOT_BE_TOLD, DOES_NOT, KNOWS, WITHOUT_CONSTRUCTION, verdict_beside_control
from cxprobe.stats import Estimate, difference_of_samples


def rate(value, n=100, half=0.05):
    return Estimate(value, max(0.0, value - half), min(1.0, value + half), n)


@pytest.mark.parametrize(
    ("of_all", "in_both", "passed"),
    [
        (0.9, 0.8, True),
        (0.5, 0.5, False),  # always the person who is named first
        (0.5, 0.0, False),  # always one of two names
        (0.6, 0.25, False),
        (0.52, 0.4, False),
        (0.6, None, True),  # there is one order
    ],
)
def test_a_control_is_passed_above_chance_in_all_pairs_and_in_both_orders(of_all, in_both, passed):
    assert is_above_chance(rate(of_all), None if in_both is None else rate(in_both)) == passed


@pytest.mark.parametrize(
    ("above_chance", "ahead", "passed", "verdict"),
    [
        (True, True, True, KNOWS),
        (False, False, True, DOES_NOT),
        (False, True, True, DOES_NOT),
        (True, True, False, CANNOT_BE_TOLD),
        (True, False, True, WITHOUT_CONSTRUCTION),
    ],
)
def test_four_verdicts_follow_from_the_rate_the_best_blind_model_and_the_control(above_chance, ahead, passed, verdict):
    assert verdict_beside_control(above_chance, ahead, passed) == verdict


def answered(construction, tests, right, control=""):
    """Return judged pairs of a model that is right in some variants: (variant, order) -> credit."""
    frames = [f"{construction} {frame}" for frame in range(24)]
    items = crossed(order=["original", "switched"], cluster_frame=frames, variant=["A", "B"])
    items = items.assign(construction=construction, tests=tests, control=control)
    items["accuracy"] = [right(*key) for key in zip(items["variant"], items["order"], strict=True)]
    return items.assign(
        item=items["cluster_frame"], unit=items["cluster_frame"], model="m", balanced=True, scheme="pll"
    )


def test_a_rate_of_meaning_has_its_control_beside_it_and_their_difference():
    items = pd.concat(
        [
            answered("giving", "meaning", lambda variant, _: float(variant == "A"), "plain"),
            answered("moving", "meaning", lambda *_: 1.0, "other"),
            answered("alone", "meaning", lambda *_: 1.0, "absent"),
            answered("plain", "control", lambda *_: 1.0),
            answered("other", "control", lambda variant, _: float(variant == "A")),
        ]
    ).assign(margin=0.0)
    table = controls_of_pairs(items).set_index("construction")
    assert table.index.tolist() == ["giving", "moving"]  # a control that the model was not asked is no control
    assert table["control"].tolist() == ["plain", "other"]
    assert table["control_accuracy"].tolist() == [1.0, 0.5]
    assert table["less_control"].tolist() == [-0.5, 0.5]
    assert table["passed"].tolist() == [True, False]
    assert table["above_chance"].tolist() == [False, True]
    assert table["less_control"].between(table["less_low"], table["less_high"], inclusive="neither").all()


def test_the_difference_of_two_samples_covers_the_true_one_as_often_as_it_says():
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(1000):
        ends = []
        for p, n in ((0.7, 80), (0.9, 60)):
            value = rng.binomial(n, p) / n
            centre, half = (value + 1.96**2 / (2 * n)), 1.96 * np.sqrt(value * (1 - value) / n + 1.96**2 / (4 * n * n))
            scale = 1 + 1.96**2 / n
            ends.append(Estimate(value, (centre - half) / scale, (centre + half) / scale, n))
        difference = difference_of_samples(*ends)
        inside += difference.low <= -0.2 <= difference.high
    assert 0.93 <= inside / 1000 <= 0.97


def test_variants_that_a_trained_bag_of_words_answers_stay_out_of_rates_of_several_constructions():
    counts = NgramFeatures(kind="word_ngrams", lengths=[1, 1])
    words = Member("words", PairClassifier(kind="pair_classifier", folds=5, counts=counts), "panel")
    asked = answered("giving", "meaning", lambda variant, _: 1.0 if variant == "A" else 0.5)
    other = answered("plain", "control", lambda *_: 1.0)  # words may answer a control
    items = pd.concat([asked, other, asked.assign(model="other", accuracy=1.0)])
    judged = with_answered_by_words(
        JudgedPairs(items.assign(model=items["model"].replace("m", "words")), items), [words], 0.6
    )
    found = judged.items.groupby(["construction", "variant"])["answered_by_words"].agg(set).to_dict()
    assert found == {("giving", "A"): {"words"}, ("giving", "B"): {""}, ("plain", "A"): {""}, ("plain", "B"): {""}}
    assert set(several(judged.items[judged.items["tests"] == "meaning"])["variant"]) == {"B"}


def test_an_item_of_form_is_right_in_every_variant_or_not():
    def right(variant, order):
        return float(variant == "A" or order == "switched")

    form = answered("giving", "form", right).query("order == 'original'")
    assert every_variant(form, ["model"])["every_variant"].tolist() == [0.0]
    form = form.assign(accuracy=np.where(form["cluster_frame"] == "giving 0", 1.0, form["accuracy"]))
    row = every_variant(form, ["model"]).iloc[0]
    assert (row["every_variant"], row["n"]) == (pytest.approx(1 / 24), 24)
