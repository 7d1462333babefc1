"""Scenarios: rates of several models beside published ones, as tables."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.results.words import cell
from cxprobe.stats import Estimate, differs_from_published
from cxprobe.tasks.scenarios.rules import Scenarios


def published_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return a published table in the long form: model, scenario, calibration, published, a rate in [0, 1], and items.

    Args:
        table: Columns model and scenario; items, the number of items of each rate, NaN or no column where it is not
            known; then percentages: "none" and one for each calibration, whose name the column begins with, as
            S5_short. Empty cells were not reported.
    """
    keys = ["model", "scenario", "items"]
    known = table if "items" in table else table.assign(items=np.nan)
    named = known.rename(columns=lambda column: column if column in keys else column.split("_")[0])
    long = named.melt(keys, var_name="calibration", value_name="published").dropna(subset="published")
    return long.assign(published=long["published"] / 100).reset_index(drop=True)


def rates_by_calibration(rates: pd.DataFrame, construction: str, measure: str) -> pd.DataFrame:
    """Return the rates of the scenarios of a construction, without calibration ("none") and with each.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of scenarios.
        construction: The construction.
        measure: accuracy or flips.

    Returns:
        model, scenario, calibration, value, low, high and n.
    """
    of_it = rates[(rates["construction"] == construction) & (rates["measure"] == measure)]
    return of_it[["model", "scenario", "calibration", "value", "low", "high", "n"]].reset_index(drop=True)


def tables_beside_published(
    rates: pd.DataFrame, scenarios: Mapping[str, Scenarios], use: Callable[[Path], Path]
) -> dict[str, pd.DataFrame]:
    """Return tables/<construction>/<measure>_beside_published -> see `scenarios_beside_published`.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of scenarios.
        scenarios: Construction -> its scenarios.
        use: Notes a file before it is read, and returns it.
    """
    tables = {}
    for name, of_it in scenarios.items():
        for measure in ("accuracy", "flips"):
            content, source = pd.DataFrame(columns=["model", "scenario"]), ""
            if of_it.published:
                table = getattr(of_it.published, measure)
                content = pd.read_csv(use(Path(table.file)), sep="\t")
                source = f"{of_it.published.source}, {table.title}"
            ran = rates_by_calibration(rates, name, measure)
            beside = scenarios_beside_published(ran, published_rates(content), source)
            tables[f"tables/{name}/{measure}_beside_published"] = beside
    return tables


def scenarios_beside_published(rates: pd.DataFrame, published: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return a table for reading, in percent: each model that ran, its published row below it, then all others.

    Args:
        rates: What `rates_by_calibration` returns.
        published: What `published_rates` returns; a model is the one that ran if its name in lower case is the slug.
        source: The source of the published rates.

    Returns:
        model, scenario, source ("this run" or the published one), n (items; those with a candidate that is not one
        token of the model's tokenizer are left out), and a column for each calibration. An asterisk marks a rate that
        differs from the published one: the 95 % interval of the difference, to which both have added their own error,
        does not contain 0 (`cxprobe.stats.differs_from_published`). Absent values are empty texts.
    """
    keys, names = ["key", "scenario", "calibration"], ["model", "scenario", "source", "n"]
    ran = rates.assign(key=rates["model"].str.lower(), source="this run")
    theirs = published.assign(key=published["model"].str.lower(), source=source, n=published["items"].astype(float))
    theirs["cell"] = theirs["published"].map(lambda value: f"{100 * value:.2f}")
    ran = ran.merge(theirs[[*keys, "published", "items"]], on=keys, how="left", validate="many_to_one")
    cells, numbers = [], ran[["value", "low", "high", "n", "published", "items"]]
    for *estimate, value, items in numbers.to_numpy(np.float64).tolist():
        # A rate printed to a hundredth of a percent is exact to half of that. NaN, not reported, never differs.
        differs = differs_from_published(Estimate(*estimate), value, None if np.isnan(items) else int(items), 5e-5)
        cells.append(cell(*estimate[:3]) + (" *" if differs else ""))
    both = pd.concat([ran.assign(cell=cells), theirs])
    both = both.iloc[np.argsort(pd.factorize(both["key"])[0], kind="stable")]
    both["n"] = both["n"].map(lambda n: "" if np.isnan(n) else str(int(n)))
    cells_of = both.set_index([*names, "calibration"])["cell"].unstack(sort=False)
    table = cells_of.reindex(columns=list(dict.fromkeys(ran["calibration"]))).fillna("")
    return table.rename_axis(columns=None).reset_index()
