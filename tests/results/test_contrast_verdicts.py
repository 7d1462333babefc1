"""Verdicts on contrasts: oracles for the nearest rival and its intervals, and how often each is wrong."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from cxprobe.results.findings import mean_of
from cxprobe.results.rates import rates_of
from cxprobe.results.verdict import (
    EQUIVALENCE,
    SMALLEST_CONTROL,
    Effects,
    effects_of,
    frames_needed,
    share_of_control,
    verdicts_on,
)
from cxprobe.stats import Estimate, Mean
from cxprobe.tasks.contrasts.contrast import frame_contrasts
from cxprobe.tasks.contrasts.evaluate import BY_CONDITION, contrast_responses

CONTROL, SPREAD = 0.12, 0.1  # nats, of a frame; what SmolLM2 has in the ditransitive
ROUNDS = 300
AT_MOST = 0.05 + 2 * np.sqrt(0.05 * 0.95 / ROUNDS)
RIVALS = ("neutral", "rival", "rival_near")


def mean(values) -> Mean:
    """Return the mean with the 95 % interval by Student's t."""
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Mean.of(Estimate(values.mean(), values.mean() - half, values.mean() + half, len(values)))


def table_of(rng, frames, truth, *, samples=1, icc=0.5, words=None, share=0.0, spread=SPREAD):
    """Draw the margins of frames: all conditions share a part of their spread, and words that recur have a part.

    Args:
        rng: What draws.
        frames: How many there are.
        truth: Condition -> its mean.
        samples: How many are drawn, each as a construction.
        icc: The part of the variance that the conditions of a frame share.
        words: How many different words fill the slot that frames share; None for one a frame.
        share: The part that its word has of the variance which a condition does not share.
        spread: The standard deviation of a frame in a condition.
    """
    words = words or frames
    common = rng.normal(0, spread * np.sqrt(icc), (samples, frames))
    word = np.arange(frames) % words
    names = {
        "construction": np.repeat([f"toy{one}" for one in range(samples)], frames),
        "item": np.tile([f"f{one}" for one in range(frames)], samples),
        "cluster_verb": np.tile([f"w{one}" for one in word], samples),
    }
    parts = []
    for condition, value in truth.items():
        of_word = rng.normal(0, spread * np.sqrt((1 - icc) * share), (samples, words))[:, word]
        own = rng.normal(0, spread * np.sqrt((1 - icc) * (1 - share)), (samples, frames))
        parts.append(
            pd.DataFrame({**names, "margin": (value + common + of_word + own).ravel(), "condition": condition})
        )
    table = pd.concat(parts, ignore_index=True)
    return table.assign(cluster_frame=table["item"], wording="", id=[f"p{row}" for row in range(len(table))])


def effects_of_samples(table) -> list[Effects]:
    """Return the effects of each construction in a table of margins, by the way that the stage takes."""
    responses = contrast_responses(table).assign(task="contrasts", model="m")
    rates = rates_of(responses[responses["measure"] == "contrast"], [BY_CONDITION])
    levels: dict[str, dict[str, Mean]] = {}
    for row in rates.to_dict("records"):
        levels.setdefault(row["construction"], {})[row["condition"]] = mean_of(row)
    found = [effects_of(one) for one in levels.values()]
    return [one for one in found if one is not None]


def effects_in(table) -> Effects:
    """Return the effects in the margins of one construction."""
    [found] = effects_of_samples(table)
    return found


def truth_of(construction, *rivals, control=CONTROL):
    return {"construction": construction, "control": control, **dict(zip(RIVALS, rivals, strict=False))}


def shares(frames, truth, constructions=1, **how) -> Counter[str]:
    """Return each verdict -> the share of samples in which one of some constructions gets it."""
    rng = np.random.default_rng(frames)
    every = effects_of_samples(table_of(rng, frames, truth, samples=ROUNDS * constructions, **how))
    found = Counter[str]()
    for start in range(0, len(every), constructions):
        found.update({*verdicts_on(every[start : start + constructions])})
    return Counter({verdict: count / ROUNDS for verdict, count in found.items()})


def test_the_nearest_rival_is_the_one_with_the_highest_mean_and_adds_is_the_difference_frame_by_frame():
    table = table_of(np.random.default_rng(1), 24, truth_of(0.2, 0.02, -0.05, 0.12))
    wide = table.pivot(index="item", columns="condition", values="margin")
    nearest = wide[[*RIVALS]].mean().idxmax()
    expected = mean((wide["construction"] - wide[nearest]).to_numpy())
    effects = effects_in(table)
    assert effects.nearest == nearest == "rival_near"
    assert vars(effects.adds) == pytest.approx(vars(expected))
    rows = frame_contrasts(table, ["construction", "item"])
    adds = rows[rows["condition"] == "adds"].set_index("item")["value"]
    assert adds.to_dict() == pytest.approx((wide["construction"] - wide[nearest]).to_dict())


def test_an_interval_over_words_that_recur_is_that_of_the_means_of_equally_frequent_words():
    """With as many frames of each word and no spread beside it, the words are the draws."""
    table = table_of(np.random.default_rng(2), 40, truth_of(0.2, 0.1, 0.0), icc=0.0, words=8, share=1.0)
    wide = table.pivot(index="item", columns="condition", values="margin")
    word = table.drop_duplicates("item").set_index("item")["cluster_verb"]
    of_words = mean((wide["construction"] - wide["neutral"]).groupby(word).mean().to_numpy())
    found = effects_in(table).adds
    assert (found.low, found.high) == pytest.approx((of_words.low, of_words.high))
    assert (found.n, found.freedom) == (40, 7)


def test_words_that_recur_never_make_an_interval_narrower_and_change_no_mean():
    table = table_of(np.random.default_rng(3), 24, truth_of(0.2, 0.1, 0.0), words=6, share=0.5)
    plain, wider = effects_in(table.drop(columns="cluster_verb")), effects_in(table)
    for name, one in plain.less.items():
        assert wider.less[name].value == pytest.approx(one.value)
        assert wider.less[name].high >= one.high - 1e-12
    assert wider.construction == plain.construction


def test_words_that_only_another_condition_has_are_no_cluster_of_a_difference():
    table = table_of(np.random.default_rng(4), 24, truth_of(0.2, 0.1, 0.0), words=4, share=0.9)
    lacks = table["condition"].isin(["construction", "rival"])
    table.loc[lacks, "cluster_verb"] = table.loc[lacks, "id"]  # as `without_gaps` fills them
    less = effects_in(table).less
    assert (less["rival"].freedom, less["neutral"].freedom) == (23, 3)


def test_a_share_of_the_control_holds_the_true_one_in_nineteen_of_twenty_samples():
    rng, held = np.random.default_rng(5), 0
    for _ in range(1000):
        adds, control = mean(rng.normal(0.06, SPREAD, 24)), mean(rng.normal(CONTROL, SPREAD, 24))
        found = share_of_control(adds, control)
        held += found.low <= 0.5 <= found.high
        assert (found.low > 0) == (adds.low > 0)
    assert held / 1000 == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("how", [{"icc": 0.1}, {"icc": 0.7}, {"words": 12, "share": 0.5}, {"spread": 0.8}], ids=str)
@pytest.mark.parametrize("frames", [24, 40])
@pytest.mark.parametrize(
    ("verdict", "truth"),
    [
        ("adds_part", truth_of(0.1, 0.0, 0.1, 0.1)),  # as two rivals
        ("adds_most", truth_of(0.1, 0.0, 0.05, 0.05)),  # half of the effect, which is not most of it
        ("adds_nothing", truth_of(EQUIVALENCE * CONTROL, 0, 0, 0)),  # a difference at the bound
    ],
)  # fmt: skip
def test_a_verdict_is_given_where_it_is_not_true_in_one_of_twenty_at_most(verdict, truth, frames, how):
    found = shares(frames, truth, **how)
    adds = found["adds_most"] + (found["adds_part"] if verdict == "adds_part" else 0)
    assert (found[verdict] if verdict == "adds_nothing" else adds) <= AT_MOST


@pytest.mark.parametrize("words", [4, 8, 12, None])
def test_words_that_all_frames_share_do_not_make_false_additions_also_among_nine_constructions(words):
    truth = truth_of(0.1, 0.1, 0.0, 0.1)
    for constructions in (1, 9):
        found = shares(24, truth, constructions, words=words, share=0.9)
        assert found["adds_part"] + found["adds_most"] <= AT_MOST


def test_a_control_whose_frames_share_their_words_is_not_passed_by_chance():
    truth = truth_of(0.0, 0.0, 0.0, control=0.0)
    assert 1 - shares(24, truth, words=4, share=0.9, icc=0.0)["fails_control"] <= AT_MOST


def test_each_verdict_is_found_where_it_is_true():
    assert shares(40, truth_of(0.15, 0.03, 0.0, 0.02))["adds_most"] > 0.8
    assert shares(40, truth_of(0.17, 0.04, 0.1, 0.0), icc=0.7)["adds_part"] > 0.6
    assert shares(160, truth_of(0.1, 0.1, 0.0, 0.1), icc=0.7)["adds_nothing"] > 0.8
    assert shares(24, truth_of(0.0, 0.1, 0.0, 0.0))["adds_nothing"] > 0.8  # below its rival
    assert shares(40, truth_of(0.1, 0.0, 0.0, control=0.0))["fails_control"] > 0.9
    assert shares(16, truth_of(0.1, 0.1, 0.0, 0.0), icc=0.1)["too_few"] > 0.6


def test_the_p_value_is_that_of_scipy():
    values = np.random.default_rng(1).normal(0.1, 0.2, 30)
    assert mean(values).p_above() == pytest.approx(ttest_1samp(values, 0, alternative="greater").pvalue)


@pytest.mark.parametrize(("found", "verdict"), [(0.004, "adds_nothing"), (0.02, "adds_part")])
def test_the_frames_that_are_needed_decide_for_the_difference_that_was_found(found, verdict):
    def with_half(value, half, n):
        return Mean.of(Estimate(value, value - half, value + half, n))

    def effects(n):
        difference = with_half(found, 0.06 * np.sqrt(16 / n), n)
        contrasts = [with_half(value, 0.02, n) for value in (0.1, CONTROL, 0.1 - found)]
        return Effects(*contrasts[:2], {"neutral": contrasts[2]}, {"neutral": difference})

    assert verdicts_on([effects(16)]) == ["too_few"]
    assert verdicts_on([effects(frames_needed(effects(16)))]) == [verdict]


def test_without_a_control_or_a_neutral_condition_there_are_no_effects():
    rate = Mean.of(Estimate(0.1, 0.05, 0.15, 20))
    levels = {"construction": rate, "control": rate}
    assert effects_of(levels) is None
    found = effects_of(levels | {"neutral": rate, "less_neutral": rate, "shuffled": rate, "less_shuffled": rate})
    assert found == Effects(rate, rate, {"neutral": rate}, {"neutral": rate})


def test_a_control_that_is_nothing_but_rounding_is_not_passed():
    """As with random weights, whose margins are some millionths of a nat."""
    noise = Mean.of(Estimate(2.3e-6, 2e-7, 4.4e-6, 32))
    assert noise.high < SMALLEST_CONTROL / 10
    assert verdicts_on([Effects(noise, noise, {"neutral": noise}, {"neutral": noise})]) == ["fails_control"]
