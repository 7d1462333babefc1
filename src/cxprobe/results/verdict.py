"""Verdicts on rates, by stated rules. No other module decides them; verdict.yaml has what they say.

Those on contrasts say what the conditions of a construction say together. Their questions are about effects in nats,
each the mean over frames with a 95 % interval.
"""

from collections.abc import Mapping, Sequence
from math import ceil, hypot, inf, sqrt
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from ruamel.yaml import YAML
from scipy.special import stdtr, stdtrit

from cxprobe.models.params import Member
from cxprobe.results.schema import HAS_VERDICT, in_columns
from cxprobe.stats import LEVEL, WIDEST, Estimate, Mean, holm

Style: TypeAlias = Literal["found", "explained", "absent", "undecided"]
"""What a verdict comes down to: there is knowledge; nothing that needs it; there is none; the data do not decide."""


CONDITION = "condition"
"""The facet whose levels are the conditions of a contrast: construction, control, neutral, rival, "less_neutral" ..."""
ADDS = "adds"
"""The level of what the construction adds to the nearest rival."""
CONTROL_OVER_WORDS = "control_over_words"
"""The level of the control with an interval that counts the words which frames share; the other's is over frames."""
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
        rivals: Condition -> the contrast after the neutral sentence, and after each rival.
        less: Condition -> the contrast of the construction less that of a rival, frame by frame.
    """

    construction: Mean
    control: Mean
    rivals: Mapping[str, Mean]
    less: Mapping[str, Mean]

    @property
    def nearest(self) -> str:
        """The rival after which the contrast is highest: what the construction adds, it adds to this one."""
        return min(self.less, key=lambda name: self.less[name].value)

    @property
    def adds(self) -> Mean:
        """What the construction adds to the nearest rival."""
        return self.less[self.nearest]

    @property
    def passes_control(self) -> bool:
        """Whether the control is above 0."""
        return self.control.low > SMALLEST_CONTROL


def verdicts_on(effects: Sequence[Effects]) -> list[str]:
    """Return the verdict on each construction of a model, a key of `BESIDE_CONTROL`; the first that holds.

    fails_control: the control is not above `SMALLEST_CONTROL`. adds_most and adds_part: the contrast of the
    construction is above 0, and so is its difference from each rival; the largest p value counts (an intersection-union
    test), corrected over the constructions by Holm. It adds most if each difference is also above half of the
    contrast. adds_nothing: its difference from some rival is less than `EQUIVALENCE` of the control, at 5 % by
    Bonferroni over the rivals. too_few: none of these.

    Args:
        effects: Those of all constructions of one model.
    """
    p = [2 * max(one.p_above() for one in (of.construction, *of.less.values())) for of in effects]
    return [_verdict_on(of, corrected) for of, corrected in zip(effects, holm(p), strict=True)]


def _verdict_on(effects: Effects, p: float) -> str:
    if not effects.passes_control:
        return "fails_control"
    if p < 1 - LEVEL:
        return "adds_most" if adds_most(effects) else "adds_part"
    return "adds_nothing" if adds_nothing(effects) else "too_few"


def adds_most(effects: Effects) -> bool:
    """Return whether what the construction adds to each rival is above half of its contrast: 95 % intervals.

    That is the contrast of the construction c less twice that of the rival r. The variance of c / 2 - r follows from
    those of c, r and c - r; that of c - r counts if it is larger.
    """
    of = effects.construction
    for name, less in effects.less.items():
        variance = less.error**2 / 2 - of.error**2 / 4 + effects.rivals[name].error ** 2 / 2
        half = stdtrit(less.freedom, (1 + LEVEL) / 2) * sqrt(max(variance, less.error**2))
        if less.value - of.value / 2 <= half:
            return False
    return True


def adds_nothing(effects: Effects) -> bool:
    """Return whether what the construction adds to some rival is less than the bound, or below 0."""
    least = effects.less[surest_below_bound(effects)]
    return _above_bound(least, effects.control) * len(effects.less) < 1 - LEVEL


def surest_below_bound(effects: Effects) -> str:
    """Return the rival that decides whether the construction adds nothing: the one with the smallest p value."""
    return min(effects.less, key=lambda name: _above_bound(effects.less[name], effects.control))


def _above_bound(less: Mean, control: Mean) -> float:
    """Return the p value of a difference that is the bound or more; both are taken to be independent."""
    error = hypot(less.error, EQUIVALENCE * control.error)
    return float(stdtr(less.freedom, (less.value - EQUIVALENCE * control.value) / error)) if error else 1.0


def share_of_control(effect: Mean, control: Mean) -> Estimate:
    """Return an effect as a share of the control's, with its 95 % interval.

    Args:
        effect: In nats.
        control: In nats, above 0; taken to be independent of the effect.

    Source:
        Fieller 1954.
    """
    t = stdtrit(effect.freedom, (1 + LEVEL) / 2)
    ratio, g = effect.value / control.value, (t * control.error / control.value) ** 2
    half = t / control.value * sqrt(effect.error**2 * max(1 - g, 0.0) + (ratio * control.error) ** 2)
    if g < 1:
        return Estimate(ratio, (ratio - half) / (1 - g), (ratio + half) / (1 - g), effect.n)
    return Estimate(ratio, -inf, inf, effect.n)


def frames_needed(effects: Effects) -> int:
    """Return with how many frames the difference that was found would decide, if it and the spread stay.

    It is shown to be above 0, or to be less than the bound, whichever needs fewer frames; 0 where nothing says how
    many, as for one frame, which has no spread.
    """
    adds, bound = effects.adds, EQUIVALENCE * effects.control.value
    gap = max(adds.value, bound - adds.value)
    spread = adds.error * np.sqrt(adds.n)
    if not (gap > 0 and np.isfinite(spread)):
        return 0
    return ceil(float(((stdtrit(adds.freedom, (1 + LEVEL) / 2) + 1) * spread / gap) ** 2))


def effects_of(levels: Mapping[str, Estimate]) -> Effects | None:
    """Return the effects among the rates of one model and construction by condition; None if one is missing.

    Args:
        levels: Condition, or "less_" and a condition -> its contrast. "control_over_words" is the control with the
            interval that counts, if it is there.
    """
    means = {name: one if isinstance(one, Mean) else Mean.of(one) for name, one in levels.items()}
    rivals = [name for name in means if is_rival(name) and f"less_{name}" in means]
    if not {"construction", "control"} <= means.keys() or "neutral" not in rivals:
        return None
    control = means.get(CONTROL_OVER_WORDS, means["control"])
    beside, less = ({name: means[f"{of}{name}"] for name in rivals} for of in ("", "less_"))
    return Effects(means["construction"], control, beside, less)


def is_rival(condition: str) -> bool:
    """Return whether a condition is the neutral one or a rival."""
    return condition in ("neutral", "rival") or condition.startswith("rival_")
