"""Controls of minimal pairs: the same questions about what the text says in plain words, without any construction.

A model that fails them cannot be asked in this format, so its rate on the construction does not tell what it knows.
"""

import pandas as pd

from cxprobe.report.findings import CHANCE_IN_BOTH, HALF, AgainstBlind, rate_of, verdict_beside_control
from cxprobe.stats import Estimate, difference_of_samples

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


def controls_of(rates: pd.DataFrame, both: pd.DataFrame) -> pd.DataFrame:
    """Return for each model the control of each construction, and how far its rate of meaning is from it.

    Args:
        rates: model, construction, tests, control (a construction, or ""), accuracy, low, high and n of pairs with real
            words.
        both: The rates of items that are right in both orders: the first four of these columns, both, low, high and n;
            without rows of constructions that have one order.

    Returns:
        One row a model and construction whose control the model was asked too: model, construction; control, its name;
        control_accuracy with its interval and control_n; passed, see `is_above_chance`; less_control, the accuracy less
        that of the control, with less_low and less_high, over frames (`difference_of_samples`, since the two have
        frames of their own); and above_chance, whether the accuracy is.
    """
    keys = ["model", "construction"]
    orders = {key: rate_of(row, "both") for key, row in both.set_index(keys).iterrows()}
    controls = {key: rate_of(row) for key, row in rates[rates["tests"] == "control"].set_index(keys).iterrows()}
    rows = []
    for _, row in rates[rates["tests"] == "meaning"].iterrows():
        key, of_control = tuple(row[keys]), (row["model"], row["control"])
        if of_control not in controls:
            continue
        rate, control = rate_of(row), controls[of_control]
        less = difference_of_samples(rate, control)
        passed = is_above_chance(control, orders.get(of_control))
        above = is_above_chance(rate, orders.get(key))
        numbers = (control.value, control.low, control.high, control.n, passed)
        rows.append((*key, row["control"], *numbers, less.value, less.low, less.high, above))
    return pd.DataFrame(rows, columns=[*keys, *OF_CONTROL])


def with_verdicts(
    rates: pd.DataFrame, controls: pd.DataFrame, against: dict[tuple[str, ...], AgainstBlind]
) -> pd.DataFrame:
    """Return rates with their controls and verdicts; those of pseudowords, and without a control, have none (NaN, "").

    Args:
        rates: model, construction, words and any others.
        controls: What `controls_of` returns.
        against: (model, construction) -> how the model compares with the best blind one; where the two were not
            compared, there is no verdict.
    """
    beside = rates.merge(controls.assign(words="real"), "left", ["model", "construction", "words"])
    settled = []
    for _, row in beside.iterrows():
        compared = against.get((row["model"], row["construction"]))
        if compared is None or pd.isna(row["passed"]):
            settled.append("")
        else:
            settled.append(verdict_beside_control(row["above_chance"], compared.ahead, row["passed"]).words)
    return beside.drop(columns="above_chance").assign(verdict=settled)
