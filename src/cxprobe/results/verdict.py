"""Verdicts on rates, by stated rules. No other module decides them; verdict.yaml has what they say.

Those on contrasts say what the conditions of a construction say together. Their questions are about effects in nats,
each the mean over frames with a 95 % interval by Student's t.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from ruamel.yaml import YAML
from scipy.special import stdtr, stdtrit

from cxprobe.models.params import Member
from cxprobe.results.schema import HAS_VERDICT, in_columns
from cxprobe.stats import LEVEL, WIDEST, Estimate, holm

Style: TypeAlias = Literal["found", "explained", "absent", "undecided"]
"""What a verdict comes down to: there is knowledge; nothing that needs it; there is none; the data do not decide."""


CONDITION = "condition"
"""The facet whose levels are the conditions of a contrast: construction, control, neutral, rival, "less_neutral" ..."""
EQUIVALENCE = 0.2
"""The share of the control's effect within which a difference counts as none."""

SMALLEST_CONTROL = 1e-4
"""In nats: the effect of a control below which it is nothing but rounding, which reaches 1e-5."""

FEWEST_FRAMES = 16
"""With fewer frames there is no verdict: they would show almost nothing."""


class Verdict(NamedTuple):
    """A verdict on a rate.

    Attributes:
        style: How pages and pictures show it.
        words: In words.
        rule: When a rate says so.
        sentence: The verdict as a sentence, see `cxprobe.results.sentences.sentence`.
    """

    style: Style
    words: str
    rule: str
    sentence: str

    @property
    def sign(self) -> str:
        """A sign that needs no colour."""
        return SIGNS[self.style]


SIGNS: Mapping[Style, str] = {"found": "▲", "explained": "◆", "absent": "○", "undecided": "?"}
"""Style -> its sign in texts."""

_TEXTS = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml"))
VERDICTS: Mapping[str, Verdict] = {key: Verdict(**texts) for key, texts in _TEXTS["without_control"].items()}
"""Key -> what it says, of rates without a control."""
BESIDE_CONTROL: Mapping[str, Verdict] = {key: Verdict(**texts) for key, texts in _TEXTS["beside_control"].items()}
"""Key -> what it says, of rates that have a control."""
EVERY_VERDICT: Mapping[str, Verdict] = {**VERDICTS, **BESIDE_CONTROL}


def with_verdicts(rates: pd.DataFrame, members: Sequence[Member]) -> pd.DataFrame:
    """Return rates with the key of the verdict on each, "" for none.

    Args:
        rates: The columns of `cxprobe.results.schema.RATES` but verdict, those of facets, and has_verdict, whether
            there may be one. Where the task knows more: verdict, which it has decided itself ("" elsewhere); prefers,
            whether the model has a fixed preference; passes_control, whether the control is passed, None where there
            is none.
        members: The models; baselines have no verdict.

    Returns:
        All columns of `cxprobe.results.schema.RATES`, and those of facets.
    """
    baselines = [member.slug for member in members if member.is_baseline]
    may_have = rates[HAS_VERDICT].astype(bool) & rates["chance"].notna() & ~rates["model"].isin(baselines)
    rows = rates.assign(**{HAS_VERDICT: may_have}).to_dict("records")
    return in_columns(rates.assign(verdict=[_verdict(row) for row in rows]))


def _verdict(row: Mapping[Any, Any]) -> str:
    if not row[HAS_VERDICT]:
        return ""
    decided, passes_control = row.get("verdict", ""), row.get("passes_control")
    has_rule = bool(decided) or passes_control is not None
    if row.get("prefers") and not has_rule and row["low"] <= row["chance"]:
        return "preference"
    if row["high"] - row["low"] > WIDEST:
        return "smoke_test"
    if decided:
        return str(decided)
    is_above = row["low"] > row["chance"]
    untested = pd.isna(row["p_adjusted"])
    beats = row["diff_low"] > 0 if untested else row["difference"] > 0 and row["p_adjusted"] < 1 - LEVEL
    if passes_control is not None:
        if is_above and not beats:
            return "without_construction"
        if not passes_control:
            return "fails_control"
        return "knows" if is_above else "does_not"
    if is_above:
        if not row["baseline"]:
            return "no_baseline"
        return "above_baseline" if beats else "above_chance"
    return "below_chance" if row["high"] < row["chance"] else "no_difference"


class Effects(NamedTuple):
    """The effects of one construction on one model, in nats a frame.

    Attributes:
        construction: The contrast after the sentence with the construction.
        control: After its meaning in plain words.
        less_neutral: The contrast of the construction less that of the neutral condition, frame by frame.
        less_rival: Less that of the same words without the construction; None where there is no such condition.
    """

    construction: Estimate
    control: Estimate
    less_neutral: Estimate
    less_rival: Estimate | None


def verdicts_on(effects: Sequence[Effects]) -> list[str]:
    """Return the verdict on each construction of a model, a key of `BESIDE_CONTROL`.

    A model *knows* a construction if its contrast is above 0, above the neutral condition and above the rival; the
    largest of the three p values counts (an intersection-union test), corrected over the constructions by Holm. It
    answers *without the construction* if its contrast is above 0, and the neutral condition or the rival is above it by
    less than half of that: most of the effect is there without the construction. It *does not* if the construction
    differs from the neutral condition by less than `EQUIVALENCE` of the control's effect: the 90 % interval lies within
    (two one-sided tests at 5 %). None is said unless the control is above `SMALLEST_CONTROL`.

    Args:
        effects: Those of all constructions of one model.
    """
    p = [
        max(p_above_zero(one) for one in (of.construction, of.less_neutral, of.less_rival) if one is not None)
        for of in effects
    ]
    return [_verdict_on(of, corrected) for of, corrected in zip(effects, holm(p), strict=True)]


def _verdict_on(effects: Effects, p: float) -> str:
    if not effects.control.low > SMALLEST_CONTROL:
        return "fails_control"
    if p < 1 - LEVEL:
        return "knows"
    if effects.construction.low > 0 and is_mostly_without(effects):
        return "without_construction"
    return "does_not" if is_equivalent(effects) else "too_wide"


def p_above_zero(effect: Estimate) -> float:
    """Return the two-sided p value of Student's t test against 0 for an effect above it; 1 for one that is not."""
    error = _error_of(effect)
    if not effect.value > 0 or error == 0:
        return float(not effect.value > 0)
    return float(2 * stdtr(effect.n - 1, -effect.value / error))


def is_mostly_without(effects: Effects) -> bool:
    """Return whether more than half of the effect is there in the neutral condition or the rival: 95 % intervals."""
    differences = [one for one in (effects.less_neutral, effects.less_rival) if one is not None]
    return min(difference.high for difference in differences) < effects.construction.value / 2


def is_equivalent(effects: Effects) -> bool:
    """Return whether the construction and the neutral condition differ by less than the bound."""
    difference = effects.less_neutral
    half = stdtrit(difference.n - 1, LEVEL) * _error_of(difference)
    return bool(abs(difference.value) + half < EQUIVALENCE * effects.control.value)


def frames_needed(effects: Effects) -> int:
    """Return with how many frames a construction that is like the neutral condition would be found equivalent.

    The spread over frames is taken to stay, and the difference to be 0.
    """
    difference, bound = effects.less_neutral, EQUIVALENCE * effects.control.value
    spread = _error_of(difference) * np.sqrt(difference.n)
    needed = ((stdtrit(difference.n - 1, LEVEL) + 1) * spread / bound) ** 2
    return ceil(float(needed))


def _error_of(effect: Estimate) -> float:
    return float((effect.high - effect.low) / 2 / stdtrit(effect.n - 1, (1 + LEVEL) / 2))


def effects_of(levels: Mapping[str, Estimate]) -> Effects | None:
    """Return the effects among the rates of one model and construction by condition; None if one is missing.

    Args:
        levels: Condition, or "less_" and a condition -> its contrast.
    """
    if not {"construction", "control", "less_neutral"} <= levels.keys():
        return None
    return Effects(levels["construction"], levels["control"], levels["less_neutral"], levels.get("less_rival"))
