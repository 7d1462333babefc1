"""Controls of minimal pairs: the same questions about what the text says in plain words, without any construction.

A model that fails them cannot be asked in this format, so its rate on the construction does not tell what it knows.
"""

from collections.abc import Mapping
from typing import TypeAlias

import pandas as pd

from cxprobe.results.findings import estimate_of
from cxprobe.results.schema import CHANCE_IN_BOTH, HALF
from cxprobe.results.verdict import beats_baseline, beside_control
from cxprobe.stats import Estimate, difference_of_samples

Place: TypeAlias = tuple[str, str]
"""A model and a construction."""

OF_CONTROL = [
    *("control", "control_accuracy", "control_low", "control_high", "control_n", "passed"),
    *("less_control", "less_low", "less_high", "above_chance"),
]


def is_above_chance(rate: Estimate, both: Estimate | None) -> bool:
    """Return whether a model answers above chance, and no preference for a name or a place is enough for that.

    So a control is passed, and a construction answered.

    Args:
        rate: Of all pairs; its interval must lie above 50 %, which one place, or one answer, gets.
        both: Of the items that are right in both orders of two people; its interval must lie above 25 %, which guesses
            get. None where there is one order.
    """
    return rate.low > HALF and (both is None or both.low > CHANCE_IN_BOTH)


def controls_of(
    accuracy: Mapping[Place, Estimate], both: Mapping[Place, Estimate], control_of: Mapping[str, str]
) -> pd.DataFrame:
    """Return for each model the control of each construction, and how far its rate of meaning is from it.

    Args:
        accuracy: (model, construction) -> the rate of pairs with real words.
        both: The rate of items that are right in both orders; none of constructions that have one order.
        control_of: Construction -> its control, "" for none.

    Returns:
        One row a model and construction whose control the model was asked too: model, construction; control, its name;
        control_accuracy with its interval and control_n; passed, see `is_above_chance`; less_control, the accuracy less
        that of the control, with less_low and less_high, over frames (`difference_of_samples`, since the two have
        frames of their own); and above_chance, whether the accuracy is.
    """
    rows = []
    for (model, construction), rate in accuracy.items():
        of_control = (model, control_of.get(construction, ""))
        control = accuracy.get(of_control)
        if control is None:
            continue
        less = difference_of_samples(rate, control)
        passed = is_above_chance(control, both.get(of_control))
        above = is_above_chance(rate, both.get((model, construction)))
        numbers = (control.value, control.low, control.high, control.n, passed)
        rows.append((model, construction, of_control[1], *numbers, less.value, less.low, less.high, above))
    return pd.DataFrame(rows, columns=["model", "construction", *OF_CONTROL])


def control_verdicts(rates: pd.DataFrame, control_of: Mapping[str, str]) -> pd.DataFrame:
    """Return rates with control, its interval and number of items, and verdict: "" where there is no control.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`.
        control_of: Construction -> its control, "" for none.
    """
    whole = rates[(rates["facet"] == "") & (rates["source"] == "real")]
    found = dict[str, dict[Place, Estimate]](accuracy={}, both_orders={})
    beats = {}
    for row in whole[whole["measure"].isin([*found])].to_dict("records"):
        place = (row["model"], row["construction"])
        found[row["measure"]][place] = estimate_of(row)
        if row["measure"] == "accuracy" and row["baseline"]:
            beats[place] = beats_baseline(row)
    table = controls_of(found["accuracy"], found["both_orders"], control_of)
    verdicts = []
    for model, construction, above, passed in table[["model", "construction", "above_chance", "passed"]].to_numpy():
        is_above = beats.get((model, construction))
        verdicts.append("" if is_above is None else beside_control(above, is_above, passed))
    numbers = {"control_accuracy": "control"}
    named = table.drop(columns="control").rename(columns=numbers).assign(verdict=verdicts)
    columns = ["control", "control_low", "control_high", "control_n", "verdict"]
    both = pd.concat([named.assign(measure=measure) for measure in found], ignore_index=True)
    keys = ["model", "construction", "source", "facet", "measure"]
    joined = rates.merge(both.assign(source="real", facet="")[[*keys, *columns]], on=keys, how="left")
    return joined.assign(verdict=joined["verdict"].fillna(""))
