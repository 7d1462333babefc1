"""Verdicts on rates, by stated rules. No other module decides them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.stats import LEVEL, WIDEST


class Verdict(NamedTuple):
    """A verdict on a rate.

    Attributes:
        style: How pages show it.
        sign: A sign that needs no colour.
        words: In words.
        rule: When a rate says so.
    """

    style: str
    sign: str
    words: str
    rule: str


VERDICTS: Mapping[str, Verdict] = {
    "above_baseline": Verdict(
        "above-baseline",
        "▲",
        "above the best baseline",
        "the interval lies above chance, and the difference from the best baseline that ran, on the same items, "
        "above 0, after Holm's correction where it is tested; where the two were not compared, their intervals do not "
        "overlap; a baseline that did not run may be right as often",
    ),
    "above_chance": Verdict(
        "above-chance",
        "◆",
        "above chance, not shown to be above the best baseline",
        "the interval lies above chance, and the difference from the best baseline that ran is not shown to be above 0",
    ),
    "no_baseline": Verdict(
        "above-chance",
        "◇",
        "above chance; no baseline ran",
        "the interval lies above chance, and no baseline ran",
    ),
    "preference": Verdict(
        "preference",
        "⇄",
        "a fixed preference",
        "not above chance, and in most items the same answer is chosen, whether or not it is right: the model is "
        "mostly right where that answer is right, and mostly wrong where it is not",
    ),
    "some_variants": Verdict(
        "preference",
        "⇄",
        "above chance in some variants only",
        "of form: the interval lies above chance, but items are not shown to be right in all of their variants more "
        "often than by guessing",
    ),
    "no_control": Verdict(
        "preference",
        "?",
        "cannot be told, no control",
        "of meaning: the construction has no control, or the model was not asked it, so that a wrong answer may be due "
        "to the format and a right one to something else; `control:` in pairs.yaml names one",
    ),
    "no_difference": Verdict(
        "none", "○", "not distinguishable from chance", "the interval contains chance, which is no proof of ignorance"
    ),
    "below_chance": Verdict("below", "▼", "below chance", "the interval lies below chance"),
    "smoke_test": Verdict(
        "none", "·", "too few items", "the interval is wider than 50 points: a smoke test, of which a count is shown"
    ),
    "no_rate": Verdict(
        "none",
        "–",
        "no rate",
        "in each wording one answer is always right, so a rate over all of them would say nothing",
    ),
}
"""Key -> what it says, of rates without a control."""

BESIDE_CONTROL: Mapping[str, Verdict] = {
    "knows": Verdict(
        "above-baseline",
        "▲",
        "knows",
        "the control is passed: the same questions about what is said in plain words are answered above chance, in "
        "both orders too; so are those about the construction, and better than by the best baseline that ran. Of "
        "contrasts: the control is above 0, and the construction is above 0, above the neutral condition and above the "
        "rival, after Holm's correction over the constructions of the model",
    ),
    "does_not": Verdict(
        "none",
        "○",
        "does not",
        "the control is passed, and the rate is not above chance. Of contrasts: the control is above 0, and the "
        "construction differs from the neutral condition by less than a fifth of the control's effect (90 % interval)",
    ),
    "cannot_be_told": Verdict(
        "preference",
        "?",
        "cannot be told",
        "the control is not passed: nothing is found even where the answer is said in plain words",
    ),
    "too_wide": Verdict(
        "preference",
        "?",
        "cannot be told, the interval is too wide",
        "of contrasts: the control is above 0, and the intervals show neither that the construction is above the other "
        "conditions nor that it is like them",
    ),
    "without_construction": Verdict(
        "above-chance",
        "◆",
        "answered without the construction",
        "the rate is above chance, and not shown to be above the best baseline, which cannot know the construction. "
        "Of contrasts: the construction is above 0, and more than half of that is there in the neutral condition or "
        "the rival (95 % interval)",
    ),
}
"""Key -> what it says, of rates that have a control."""


def with_verdicts(rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the key of the verdict on each, "" for none.

    Args:
        rates: The columns of `cxprobe.results.schema.RATES` but verdict; has_verdict, whether there is one. Where the
            task knows more: verdict, which it has decided itself ("" elsewhere); prefers, whether the model has a fixed
            preference; is_above, whether it is above chance, if other rates count too; passes_control, whether the
            control is passed, None where there is none.
    """
    return rates.assign(verdict=[_verdict(row) for row in rates.to_dict("records")])


def _verdict(row: Mapping[Any, Any]) -> str:
    if not row["has_verdict"]:
        return ""
    decided, passes_control = row.get("verdict", ""), row.get("passes_control")
    has_rule = bool(decided) or passes_control is not None
    if row.get("prefers") and not has_rule and row["low"] <= row["chance"]:
        return "preference"
    if row["high"] - row["low"] > WIDEST:
        return "smoke_test"
    if decided:
        return str(decided)
    is_above = row.get("is_above", row["low"] > row["chance"])
    beats = beats_baseline(row)
    if passes_control is not None:
        return beside_control(is_above, beats, passes_control)
    if is_above:
        if not row["baseline"]:
            return "no_baseline"
        return "above_baseline" if beats else "above_chance"
    return "below_chance" if row["high"] < row["chance"] else "no_difference"


def beside_control(is_above: bool, beats: bool, passed: bool) -> str:
    """Return the key of `BESIDE_CONTROL` that a rate has beside its control.

    Args:
        is_above: Whether the rate is above chance.
        beats: Whether it is above the best baseline.
        passed: Whether the control is passed.
    """
    if is_above and not beats:
        return "without_construction"
    if not passed:
        return "cannot_be_told"
    return "knows" if is_above else "does_not"


def beats_baseline(row: Mapping[Any, Any]) -> bool:
    """Return True if a rate is above that of the best baseline on the same items."""
    if pd.isna(row["p_adjusted"]):
        return bool(row["diff_low"] > 0)
    return bool(row["difference"] > 0 and row["p_adjusted"] < 1 - LEVEL)
