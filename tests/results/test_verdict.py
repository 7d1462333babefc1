"""Verdicts by their stated rules, and those on contrasts under known truth: how often each is wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from cxprobe.results.verdict import (
    EQUIVALENCE,
    SMALLEST_CONTROL,
    Effects,
    effects_of,
    frames_needed,
    is_equivalent,
    p_above_zero,
    verdicts_on,
    with_verdicts,
)
from cxprobe.stats import Estimate

ABOVE = {"value": 0.8, "low": 0.6, "high": 0.9}
AROUND = {"value": 0.5, "low": 0.4, "high": 0.6}
BELOW = {"value": 0.2, "low": 0.1, "high": 0.3}
WIDE = {"value": 0.6, "low": 0.2, "high": 0.9}
BEATS = {"baseline": "rule", "difference": 0.3, "diff_low": 0.1, "p_adjusted": 0.01}
UNTESTED = {"baseline": "rule", "difference": 0.3, "diff_low": 0.1, "p_adjusted": float("nan")}
LOSES = {"baseline": "rule", "difference": 0.3, "diff_low": 0.1, "p_adjusted": 0.2}
NONE = {"baseline": "", "difference": float("nan"), "diff_low": float("nan"), "p_adjusted": float("nan")}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (ABOVE | BEATS, "above_baseline"),
        (ABOVE | UNTESTED, "above_baseline"),
        (ABOVE | LOSES, "above_chance"),
        (ABOVE | NONE, "no_baseline"),
        (AROUND | BEATS, "no_difference"),
        (BELOW | LOSES, "below_chance"),
        (WIDE | BEATS, "smoke_test"),
        (AROUND | LOSES | {"prefers": True}, "preference"),
        (ABOVE | BEATS | {"prefers": True}, "above_baseline"),
        (WIDE | LOSES | {"prefers": True}, "preference"),
        (ABOVE | BEATS | {"passes_control": True}, "knows"),
        (ABOVE | BEATS | {"passes_control": False}, "fails_control"),
        (ABOVE | LOSES | {"passes_control": True}, "without_construction"),
        (AROUND | LOSES | {"passes_control": True}, "does_not"),
        (AROUND | LOSES | {"passes_control": False, "prefers": True}, "fails_control"),
        (ABOVE | BEATS | {"verdict": "does_not"}, "does_not"),
        (ABOVE | BEATS | {"has_verdict": False}, ""),
    ],
)
def test_a_rate_says_what_the_rules_say(row, expected):
    table = pd.DataFrame([{"chance": 0.5, "has_verdict": True, "model": "m"} | row])
    assert with_verdicts(table, [])["verdict"].tolist() == [expected]


CONTROL, SPREAD = 0.12, 0.1  # nats, of a frame; what SmolLM2 has
ROUNDS = 300
AT_MOST = 0.05 + 2 * np.sqrt(0.05 * 0.95 / ROUNDS)


def estimate(values):
    """Return the mean with the 95 % interval by Student's t."""
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Estimate(values.mean(), values.mean() - half, values.mean() + half, len(values))


def drawn(rng, frames, icc, construction, neutral, rival, control=CONTROL):
    """Draw the contrasts of frames, whose conditions share a part of their spread, and return the effects."""
    shared = rng.normal(0, SPREAD * np.sqrt(icc), frames)

    def condition(mean):
        return mean + shared + rng.normal(0, SPREAD * np.sqrt(1 - icc), frames)

    of, plain, other, words = (condition(mean) for mean in (construction, control, neutral, rival))
    return Effects(estimate(of), estimate(plain), estimate(of - other), estimate(of - words))


def share_of(verdict, frames, icc, *truth, constructions=1):
    rng = np.random.default_rng([frames, int(10 * icc)])
    found = 0
    for _ in range(ROUNDS):
        found += verdict in verdicts_on([drawn(rng, frames, icc, *truth) for _ in range(constructions)])
    return found / ROUNDS


@pytest.mark.parametrize("icc", [0.1, 0.7])
@pytest.mark.parametrize("frames", [10, 40, 80])
@pytest.mark.parametrize(
    ("verdict", "truth"),
    [
        ("knows", (0, 0, 0)),
        ("knows", (0.1, 0.1, 0)),  # as the neutral verb
        ("knows", (0.1, 0, 0.1)),  # as the rival
        ("does_not", (EQUIVALENCE * CONTROL, 0, 0)),  # a difference at the bound
        ("without_construction", (0.1, 0.05, 0.05)),  # half of the effect, which is not most of it
    ],
)
def test_a_verdict_is_given_where_it_is_not_true_in_one_of_twenty_at_most(verdict, truth, frames, icc):
    assert share_of(verdict, frames, icc, *truth) <= AT_MOST


def test_nine_constructions_at_once_are_said_to_be_known_no_more_often_than_one():
    assert share_of("knows", 20, 0.5, 0.1, 0.1, 0, constructions=9) <= AT_MOST


def test_each_verdict_is_found_where_it_is_true():
    assert share_of("knows", 40, 0.5, 0.13, 0.04, 0.0) > 0.9
    assert share_of("does_not", 320, 0.7, 0, 0, 0) > 0.9
    assert share_of("without_construction", 80, 0.5, 0.1, 0.1, 0.0) > 0.9
    assert share_of("fails_control", 40, 0.5, 0.1, 0.0, 0.0, 0.0) > 0.9
    assert share_of("too_wide", 10, 0.1, 0, 0, 0) > 0.8


def test_the_p_value_is_that_of_scipy():
    values = np.random.default_rng(1).normal(0.1, 0.2, 30)
    assert p_above_zero(estimate(values)) == pytest.approx(ttest_1samp(values, 0).pvalue)
    assert p_above_zero(estimate(-values)) == 1


def test_the_frames_that_are_needed_are_enough_for_equivalence():
    rng = np.random.default_rng(3)
    effects = drawn(rng, 20, 0.5, 0, 0, 0)
    needed = frames_needed(effects)
    difference = effects.less_neutral
    half = (difference.high - difference.low) / 2 * np.sqrt(difference.n / needed)
    narrow = Estimate(0.0, -half, half, needed)
    assert not is_equivalent(effects)
    assert is_equivalent(effects._replace(less_neutral=narrow))


def test_without_a_control_or_a_neutral_condition_there_are_no_effects():
    rate = Estimate(0.1, 0.05, 0.15, 20)
    assert effects_of({"construction": rate, "control": rate}) is None
    found = effects_of({"construction": rate, "control": rate, "less_neutral": rate})
    assert found == Effects(rate, rate, rate, None)


def test_a_control_that_is_nothing_but_rounding_is_not_passed():
    """As with random weights, whose margins are some millionths of a nat."""
    noise = Estimate(2.3e-6, 2e-7, 4.4e-6, 32)
    assert noise.high < SMALLEST_CONTROL / 10
    assert verdicts_on([Effects(noise, noise, noise, None)]) == ["fails_control"]
