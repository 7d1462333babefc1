"""The rates of baselines on data sets, which they solve without the construction."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.models.params import Member
from cxprobe.results.rates import ALL, Facet
from cxprobe.results.runs import part_names
from cxprobe.results.words import cell

BASELINE_COLUMNS = ["dataset", "model", "accuracy", "low", "high", "n", "chance", "limit", "solved", "says"]
SOLVED = "is answered above chance without the construction by"


def baseline_table(
    rates: pd.DataFrame, facets: Sequence[Facet], *, limit: float, members: Sequence[Member]
) -> pd.DataFrame:
    """Return the rate of every baseline on the items of each construction, with a sentence on each that it solves.

    Args:
        rates: The columns of `cxprobe.results.schema.RATES`, of all models.
        facets: Those of the task; the table has the rates of those that are of baselines, or else of those with
            verdicts.
        limit: The accuracy above which a data set is solved where chance is 0.5 (report.limit of params.yaml); where
            chance is c, the limit is c + (limit - 0.5) / 0.5 * (1 - c).
        members: The models.

    Returns:
        dataset, model, accuracy, low, high, n; chance, the greatest one of the data set; limit; solved, whether the
        accuracy is above the limit and its interval above chance, since a few items say nothing; and says, such as "is
        answered above chance without the construction by character-ngrams: 97.7 % (95.0 to 99.0)", or an empty text.
    """
    shown = [facet.name for facet in facets if facet.of_baselines]
    shown = shown or [facet.name for facet in facets if facet.has_verdicts]
    each = rates[(rates["construction"] != ALL) & rates["facet"].isin(shown) & rates["chance"].notna()]
    each = each.assign(dataset=part_names(each, ["construction", "source", "level", "measure"]), accuracy=each["value"])
    each["chance"] = each.groupby("dataset")["chance"].transform("max")
    baselines = [member.slug for member in members if member.is_baseline]
    table = each[each["model"].isin(baselines)].reset_index(drop=True)
    limits = table["chance"] + (limit - 0.5) / 0.5 * (1 - table["chance"])
    solved = ((table["accuracy"] > limits) & (table["low"] > table["chance"])).astype(bool)
    says = []
    for is_solved, row in zip(solved, table.to_dict("records"), strict=True):
        percent, interval = cell(row["accuracy"], row["low"], row["high"]).split(" ", 1)
        says.append(f"{SOLVED} {row['model']}: {percent} % {interval}" if is_solved else "")
    return table.assign(limit=limits, solved=solved, says=says)[BASELINE_COLUMNS]
