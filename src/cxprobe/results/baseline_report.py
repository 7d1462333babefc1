"""The rates of baselines on data sets, which they solve without the construction."""

from collections.abc import Mapping, Sequence

import pandas as pd

from cxprobe.models.params import Member
from cxprobe.results.words import cell

BASELINE_COLUMNS = ["dataset", "model", "accuracy", "low", "high", "n", "chance", "limit", "solved", "says"]
SOLVED = "is answered above chance without the construction by"


def baseline_table(
    rates: pd.DataFrame, *, chance: float | Mapping[str, float], limit: float, members: Sequence[Member]
) -> pd.DataFrame:
    """Return the rate of every baseline on every data set, with a sentence on each that a baseline solves.

    Args:
        rates: Columns dataset, model (a slug), accuracy in [0, 1], low, high and n; rows of models that are not
            baseline are left out.
        chance: What the best constant answer gets, in [0, 1): of all data sets, or data set -> its own.
        limit: The accuracy above which a data set is solved where chance is 0.5 (`report.limit` of params.yaml); where
            chance is c, the limit is c + (limit - 0.5) / 0.5 * (1 - c).
        members: The models.

    Returns:
        dataset, model, accuracy, low, high, n, chance, limit; solved, whether the accuracy is above the limit and its
        interval above chance, since a few items say nothing; and says, such as "is answered above chance without the
        construction by character-ngrams: 97.7 % (95.0 to 99.0)", or an empty text.
    """
    baseline = {member.slug for member in members if member.is_baseline}
    table = rates[rates["model"].isin(baseline)].reset_index(drop=True)
    chances = table["dataset"].map(chance) if isinstance(chance, Mapping) else pd.Series(chance, index=table.index)
    chances = chances.astype(float)
    limits = chances + (limit - 0.5) / 0.5 * (1 - chances)
    solved = ((table["accuracy"] > limits) & (table["low"] > chances)).astype(bool)
    says = []
    for is_solved, row in zip(solved, table.to_dict("records"), strict=True):
        percent, interval = cell(row["accuracy"], row["low"], row["high"]).split(" ", 1)
        says.append(f"{SOLVED} {row['model']}: {percent} % {interval}" if is_solved else "")
    return table.assign(chance=chances, limit=limits, solved=solved, says=says)[BASELINE_COLUMNS]
