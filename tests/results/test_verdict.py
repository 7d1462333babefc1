"""Verdicts by their stated rules."""

import pandas as pd
import pytest

from cxprobe.results.verdict import with_verdicts

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
        (ABOVE | BEATS | {"passes_control": True}, "knows"),
        (ABOVE | BEATS | {"passes_control": False}, "fails_control"),
        (ABOVE | LOSES | {"passes_control": True}, "without_construction"),
        (AROUND | LOSES | {"passes_control": True}, "does_not"),
        (AROUND | LOSES | {"passes_control": False, "prefers": True}, "fails_control"),
        (ABOVE | BEATS | {"verdict": "adds_part"}, "adds_part"),
        (ABOVE | BEATS | {"has_verdict": False}, ""),
    ],
)
def test_a_rate_says_what_the_rules_say(row, expected):
    table = pd.DataFrame([{"chance": 0.5, "has_verdict": True, "model": "m"} | row])
    assert with_verdicts(table, [])["verdict"].tolist() == [expected]
