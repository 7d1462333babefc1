"""Models beside each other on the same items, and the best baseline beside each rate: the only place that does so."""

from collections.abc import Mapping, Sequence

import pandas as pd

from cxprobe.lm.params import Member, Series
from cxprobe.report.comparisons import BEST_BLIND, compare_models
from cxprobe.report.params import Families
from cxprobe.report.rates import ALL, Facet

GROUP = ["task", "construction", "source", "facet", "level"]
_OF_BASELINE = {
    "first": "model",
    "second": "baseline",
    "low": "diff_low",
    "high": "diff_high",
    "p_holm": "p_adjusted",
}


def compare(
    responses: pd.DataFrame,
    facets: Sequence[Facet],
    members: Sequence[Member],
    series: Mapping[str, Series],
    tested: Families,
) -> pd.DataFrame:
    """Return the paired differences of models on the same items, by each facet by which models are compared.

    Args:
        responses: What `cxprobe.report.rates.rates_of` takes.
        facets: Those of the task.
        members: The models.
        series: Name -> models that differ in one quantity.
        tested: Which comparisons are tested; those of all constructions together are not.

    Returns:
        `GROUP`, and the columns of `cxprobe.report.comparisons.compare_models`.
    """
    untested = Families(twins=False, best_blind=False, neighbours=False, models=[])
    tables = []
    for facet in facets:
        if not facet.has_verdicts:
            continue
        compared = responses.query(facet.compared) if facet.compared else responses
        divided = facet.of(compared[compared["measure"] == "accuracy"])
        divided = divided.rename(columns={"item": "id", "value": "accuracy"})
        by = [*dict.fromkeys([*GROUP, *facet.family])]
        is_all = divided["construction"] == ALL
        for items, families in ((divided[~is_all], tested), (divided[is_all], untested)):
            if len(items):
                table = compare_models(items.reset_index(drop=True), by, members, series, families, facet.family)
                tables.append(table.drop(columns=by[len(GROUP) :]))
    return pd.concat(tables, ignore_index=True)


def with_baselines(rates: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the best baseline and the difference from it, where they were compared.

    Args:
        rates: What `cxprobe.report.rates.rates_of` returns.
        comparisons: What `compare` returns.

    Returns:
        ``rates`` with baseline ("" for none), difference, diff_low, diff_high, p_adjusted and detectable.
    """
    of_baselines = comparisons[comparisons["compares"] == BEST_BLIND].rename(columns=_OF_BASELINE)
    columns = [*GROUP, "model", "baseline", "difference", "diff_low", "diff_high", "p_adjusted", "detectable"]
    joined = rates.merge(of_baselines[columns], on=[*GROUP, "model"], how="left", validate="many_to_one")
    # Models are compared by their accuracy.
    other = joined["measure"] != "accuracy"
    joined.loc[other, columns[len(GROUP) + 2 :]] = float("nan")
    return joined.assign(baseline=joined["baseline"].mask(other).fillna(""))
