"""Contrasts from the margins of their pairs, and the verdict on each construction."""

import numpy as np
import pandas as pd

from cxprobe.results.contrast_verdicts import CONDITION, Effects, effects_of, verdicts_on
from cxprobe.results.findings import estimate_of
from cxprobe.results.schema import HALF, OF_CONTROL, OF_DIFFERENCE
from cxprobe.stats import UNIT, credits_of_margins
from cxprobe.tasks.pairs.sources import FRAME

SUM = "sum"
"""The score of a contrast: the log probability of the whole text."""
_OF_FRAME = ["construction", "tests", "words", "item", FRAME, "noun_type", "scheme", "score"]


def contrast_rows(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the contrast of each frame and condition, and how far the construction's is above that of the others.

    Args:
        pairs: The pairs of contrasts that `cxprobe.tasks.pairs.evaluate.credit_pairs` has decided for one model, by one
            scheme and one score: `SUM`, or the preference of a rule.

    Returns:
        Two rows a frame and condition, with the columns of the pairs that a frame has: the measure contrast, the mean
        margin over all cells in nats (value in the column accuracy), and above_zero, whether it is above 0 (a half
        where it is 0). sentence is the condition, or "less_" and one: the construction's contrast less that.
    """
    if pairs.empty:
        return pairs
    of_frame = [name for name in _OF_FRAME if name in pairs]
    long = with_differences(pairs.groupby([*of_frame, "sentence"], sort=False)["margin"].mean().unstack("sentence"))
    long = long.melt(var_name="sentence", value_name="margin", ignore_index=False).dropna().reset_index()
    long = long.assign(id=long["item"], chance=np.nan, **{UNIT: long[FRAME]}, variant="", order="")
    long = long.assign(origin="own", deciding=False, decides=False)
    signs = credits_of_margins(long["margin"].to_numpy(np.float64))
    contrasts = long.assign(measure="contrast", accuracy=long["margin"])
    sums_up = long["sentence"] == "construction"
    above = long.assign(measure="above_zero", accuracy=signs, chance=HALF, deciding=sums_up, decides=sums_up)
    return pd.concat([contrasts, above], ignore_index=True)


def with_differences(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return contrasts with the construction's less that of each other condition but the control, frame by frame.

    Args:
        contrasts: One row a frame; a column for each condition, in nats.
    """
    others = contrasts.columns.difference(["construction", "control"])
    less = {f"less_{other}": contrasts["construction"] - contrasts[other] for other in others}
    return contrasts.assign(**less)


def with_contrast_verdicts(rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the verdict on each construction that has contrasts ("" elsewhere), and the rates beside it.

    The rows of the construction, of both measures, get control (the rate of the condition control) and baseline, the
    name of the neutral condition or the rival, whichever the construction is the less above; difference is that in
    nats, on the row of the contrast. has_verdict is False for the other conditions.
    """
    is_condition = rates["facet"] == CONDITION
    result = rates.assign(verdict="", **dict.fromkeys(OF_CONTROL, np.nan))
    result["has_verdict"] = ~is_condition | (rates["level"] == "construction")
    of_conditions = rates[is_condition]
    for _, of_model in of_conditions.groupby("model", sort=False):
        effects: dict[str, Effects] = {}
        for construction, rows in of_model[of_model["measure"] == "contrast"].groupby("construction", sort=False):
            levels = {row["level"]: estimate_of(row) for row in rows.to_dict("records")}
            if (found := effects_of(levels)) is not None:
                effects[str(construction)] = found
        for (construction, of), verdict in zip(effects.items(), verdicts_on([*effects.values()]), strict=True):
            nearest, difference = "neutral", of.less_neutral
            if of.less_rival is not None and of.less_rival.value < difference.value:
                nearest, difference = "rival", of.less_rival
            rows = of_model[of_model["construction"] == construction]
            for measure, of_measure in rows.reset_index().groupby("measure"):
                by_level = of_measure.set_index("level")
                at = by_level.loc["construction", "index"]
                result.loc[at, ["verdict", "baseline"]] = verdict, nearest
                result.loc[at, OF_CONTROL] = list(by_level.loc["control", ["value", "low", "high", "n"]])
                if measure == "contrast":
                    result.loc[at, OF_DIFFERENCE[:3]] = difference.value, difference.low, difference.high
    return result
