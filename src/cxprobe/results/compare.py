"""Models beside each other on the same items, and the best baseline beside each rate: the only place that does so."""

from collections.abc import Mapping, Sequence

import pandas as pd

from cxprobe.models.params import Member, Series
from cxprobe.results.comparisons import BEST_BASELINE, COMPARISON, compare_models
from cxprobe.results.params import Families
from cxprobe.results.rates import ALL, Facet
from cxprobe.stats import CLUSTER, UNIT

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

    Where an item of a group was asked about in several ways, a model has the mean of its credits.

    Args:
        responses: What `cxprobe.results.rates.rates_of` takes.
        facets: Those of the task.
        members: The models.
        series: Name -> models that differ in one quantity.
        tested: Which comparisons are tested; those of all constructions together are not.

    Returns:
        `GROUP`, and the columns of `cxprobe.results.comparisons.compare_models`.
    """
    untested = Families(random_weights=False, best_baseline=False, neighbours=False, models=[])
    accuracies, tables = responses[responses["measure"] == "accuracy"], []
    for facet in facets:
        if not (facet.has_verdicts and facet.is_compared):
            continue
        compared = accuracies.query(facet.compared) if facet.compared else accuracies
        by = [*dict.fromkeys([*GROUP, *facet.family])]
        divided = _by_item(facet.of(compared), by)
        is_all = divided["construction"] == ALL
        parts = [(divided[~is_all], tested), (divided[is_all], untested)]
        if facet.is_all_tested:
            parts = [(divided, tested)]
        for items, families in parts:
            if len(items):
                table = compare_models(items.reset_index(drop=True), by, members, series, families, facet.family)
                tables.append(table.drop(columns=by[len(GROUP) :]))
    if not tables:
        return pd.DataFrame(columns=[*GROUP, *COMPARISON]).astype(dict.fromkeys(COMPARISON[3:], float))
    return pd.concat(tables, ignore_index=True)


def _by_item(divided: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean credit of each model on each item of a group, with the clusters of the item."""
    kept = [str(name) for name in divided if str(name).startswith(CLUSTER) or name == UNIT]
    items = divided.groupby([*by, "model", "item"], sort=False, as_index=False)
    means = items.agg(accuracy=("value", "mean"), **{name: (name, "first") for name in kept})
    return means.rename(columns={"item": "id"})


def with_baselines(rates: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the best baseline and the difference from it, where they were compared.

    Args:
        rates: What `cxprobe.results.rates.rates_of` returns.
        comparisons: What `compare` returns.

    Returns:
        ``rates`` with baseline ("" for none), difference, diff_low, diff_high, p_adjusted and detectable.
    """
    of_baselines = comparisons[comparisons["compares"] == BEST_BASELINE].rename(columns=_OF_BASELINE)
    columns = [*GROUP, "model", "baseline", "difference", "diff_low", "diff_high", "p_adjusted", "detectable"]
    joined = rates.merge(of_baselines[columns], on=[*GROUP, "model"], how="left", validate="many_to_one")
    # Models are compared by their accuracy.
    other = joined["measure"] != "accuracy"
    joined.loc[other, columns[len(GROUP) + 2 :]] = float("nan")
    return joined.assign(baseline=joined["baseline"].mask(other).fillna(""))
