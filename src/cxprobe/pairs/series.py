"""Models that differ in one quantity: the checkpoints of a training, or the sizes of a family."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.lm.params import Series
from cxprobe.pairs.balance import pooled
from cxprobe.stats import rate_by, with_tie_rate

_RATES = ["accuracy", "low", "high", "n", "ties", "tie_rate"]


def with_series(rates: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the rows of a table that are about the models of series.

    Args:
        rates: Numbers of several models: the column model and any others.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis (what the quantity is), quantity, and the table's own columns; the rows of one series after those
        of the other, and none of a series of which the table has fewer than two models.
    """
    tables = [rates.head(0).assign(series="", axis="", quantity=0.0)]
    for name, models in series.items():
        own = rates[rates["model"].isin(models.models)]
        if own["model"].nunique() > 1:
            quantity = own["model"].map(models.models).astype(float)
            tables.append(own.assign(series=name, axis=models.axis, quantity=quantity))
    return pd.concat(tables[1:] or tables, ignore_index=True)[["series", "axis", "quantity", *rates.columns]]


def pairs_along_series(items: pd.DataFrame, rates: pd.DataFrame, series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the accuracies of pairs with real words along every series of models.

    Args:
        items: Judged pairs of several models.
        rates: Their accuracies by construction, see `cxprobe.pairs.judge.pair_tables`.
        series: Name -> the models, each with its quantity.

    Returns:
        series, axis (what the quantity is), model, quantity, construction, accuracy, low, high, n, ties and tie_rate;
        first by construction, then over all pairs of meaning, as construction "all". No rows for a series of which
        fewer than two models ran.
    """
    models = {model for one in series.values() for model in one.models}
    own = pooled(items[items["model"].isin(models) & (items["words"] == "real") & (items["tests"] == "meaning")])
    overall = with_tie_rate(rate_by(own.assign(construction="all"), "accuracy", ["model", "construction"]))
    both = pd.concat([rates[rates["words"] == "real"], overall], ignore_index=True)
    return with_series(both, series)[["series", "axis", "model", "quantity", "construction", *_RATES]]
