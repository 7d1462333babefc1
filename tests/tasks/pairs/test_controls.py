"""Controls of minimal pairs, and what may be said of a model beside them."""

import numpy as np
import pandas as pd
import pytest
from evaluated_pairs import crossed, rates_of_pairs, responses_of

from cxprobe.models.params import Member, NgramFeatures, PairClassifier
from cxprobe.stats import Estimate, difference_of_samples
from cxprobe.tasks.pairs.evaluate import override, with_controls


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
    rows = [("construction", "accuracy", 0.9, 0.5), ("plain", "accuracy", of_all, 0.5)]
    rows += [("construction", "both_orders", 0.9, 0.25)]
    rows += [("plain", "both_orders", in_both, 0.25)] * (in_both is not None)
    rates = pd.DataFrame(rows, columns=["construction", "measure", "value", "chance"])
    rates = rates.assign(model="m", source="real", facet="", low=rates["value"] - 0.05, high=1.0, n=9, difference=0.1)
    beside = with_controls(rates, {"construction": "plain"})
    known = beside[beside["construction"] == "construction"]
    assert known["passes_control"].tolist() == [passed, passed]
    assert known["control"].fillna(-1).tolist() == [of_all, -1 if in_both is None else in_both]  # of the same scale
    assert beside.drop(index=known.index)["passes_control"].tolist() == [None] * (len(rows) - 2)
    assert beside["is_above"].iloc[0]


def answered(construction, tests, right, control=""):
    """Return decided pairs of a model that is right in some variants: (variant, order) -> credit."""
    frames = [f"{construction} {frame}" for frame in range(24)]
    items = crossed(order=["original", "switched"], cluster_frame=frames, variant=["A", "B"])
    items = items.assign(construction=construction, tests=tests, control=control)
    items["accuracy"] = [right(*key) for key in zip(items["variant"], items["order"], strict=True)]
    ids = items["cluster_frame"] + items["variant"] + items["order"]
    deciding = {"scheme": "pll", "score": "sum", "deciding": True, "balanced": True, "margin": 0.0}
    return items.assign(id=ids, item=items["cluster_frame"], **deciding)


def test_a_rate_of_meaning_has_its_control_beside_it_and_their_difference():
    items = pd.concat(
        [
            answered("giving", "meaning", lambda variant, _: float(variant == "A"), "plain"),
            answered("moving", "meaning", lambda *_: 1.0, "other"),
            answered("alone", "meaning", lambda *_: 1.0, "absent"),
            answered("plain", "control", lambda *_: 1.0),
            answered("other", "control", lambda variant, _: float(variant == "A")),
        ]
    )
    rates = rates_of_pairs(responses_of({"m": items})).reset_index()
    differences = {"difference": 0.5, "diff_low": 0.4, "diff_high": 0.6, "p_adjusted": np.nan, "detectable": np.nan}
    compared = rates.assign(baseline="words", **differences)
    meaning = items[items["tests"] == "meaning"]
    control_of = dict(meaning[["construction", "control"]].drop_duplicates().to_numpy())
    result = override(compared, control_of, [])
    whole = result[(result["facet"] == "") & (result["measure"] == "accuracy")].set_index("construction")
    known = whole.dropna(subset="control")
    assert known.index.tolist() == ["giving", "moving"]  # a control that the model was not asked is no control
    assert known["control"].tolist() == [1.0, 0.5]
    assert known[["is_above", "passes_control"]].to_numpy().tolist() == [[False, True], [True, False]]
    assert whole.drop(index=known.index)["passes_control"].isna().all()
    assert whole["verdict"].to_dict() == dict.fromkeys(["giving", "moving", "plain", "other"], "") | {
        "alone": "no_control",
        "all": "",
    }
    assert whole["prefers"].to_dict()["giving"]  # right in one variant, wrong in the other
    both = result[(result["measure"] == "both_orders") & (result["construction"] == "giving")].iloc[0]
    assert (both["control"], both["passes_control"], both["diff_low"], both["prefers"]) == (1.0, True, 0.4, False)


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
    decided = {"words": pd.concat([asked, other]), "other": pd.concat([asked.assign(accuracy=1.0), other])}
    responses = responses_of(decided)
    rates = rates_of_pairs(responses, [words]).xs(("", "accuracy"), level=["facet", "measure"])
    assert rates.loc[("all", "real", "", "words"), "n"] == 48  # variant B alone
    assert rates.loc[("giving", "real", "", "words"), "n"] == 96


def test_an_item_of_form_is_right_in_every_variant_or_not():
    def right(variant, order):
        return float(variant == "A" or order == "switched")

    form = answered("giving", "form", right).query("order == 'original'")
    place = ("giving", "real", "", "", "every_variant", "m")
    assert rates_of_pairs(responses_of({"m": form})).loc[place, "value"] == 0.0
    form = form.assign(accuracy=np.where(form["cluster_frame"] == "giving 0", 1.0, form["accuracy"]))
    row = rates_of_pairs(responses_of({"m": form})).loc[place]
    assert (row["value"], row["n"], row["decides"]) == (pytest.approx(1 / 24), 24, False)
    assert row["chance"] == 0.25


@pytest.mark.parametrize(
    ("of_b", "verdict"),
    [(24, ""), (6, "some_variants")],  # of 24 items in variant B; guesses get a quarter in both
)
def test_form_is_above_chance_only_if_it_is_in_all_variants_together(of_b, verdict):
    form = answered("giving", "form", lambda *_: 1.0).query("order == 'original'")
    number = form["cluster_frame"].str.split().str[-1].astype(int)
    form = form.assign(accuracy=np.where((form["variant"] == "B") & (number >= of_b), 0.0, 1.0))
    rates = rates_of_pairs(responses_of({"m": form})).reset_index()
    nothing = dict.fromkeys(["difference", "diff_low", "diff_high", "p_adjusted", "detectable"], np.nan)
    result = override(rates.assign(baseline="", **nothing), {}, [])
    whole = result[(result["facet"] == "") & (result["construction"] == "giving")].set_index("measure")
    assert whole.loc["accuracy", "low"] > 0.5
    assert (whole.loc["accuracy", "verdict"], whole.loc["every_variant", "has_verdict"]) == (verdict, False)
