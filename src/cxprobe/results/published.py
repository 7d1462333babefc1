"""Published numbers beside the rates of a run: they have the key of a rate, by which both are joined."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.results.rates import ALL
from cxprobe.results.schema import KEYS, MEASURES, facet_columns
from cxprobe.results.words import cell, with_blanks
from cxprobe.stats import Estimate, differs_from_published

PUBLISHED = Path("published")
"""The folder of the published numbers of each task: <task>.tsv."""
BESIDE = "tables/beside_published"
"""The table of a task that `beside_published` returns, in the folder of its results."""
NUMBER = ["value", "items", "paper"]
"""Columns of published numbers beside the key: a number as it is printed, of how many items it is, and who gives it."""


class Beside(NamedTuple):
    """How pages show the table of a task that `beside_published` returns.

    Attributes:
        title: What the table says.
        left_out: A facet that says nothing on a page.
        of_both: Whether its rows have both numbers; else all rows about what has a published number are shown.
        is_whole: Whether the page of all constructions together has the rows of each.
    """

    title: str = "Percent beside published values (*: differs from the published rate)"
    left_out: str = ""
    of_both: bool = False
    is_whole: bool = False

    def rows_about(self, construction: str, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the table that the page of a construction shows, or of all together."""
        rows = table.drop(columns=self.left_out or [])
        if not self.is_whole or construction != ALL:
            rows = rows[rows["construction"] == construction].drop(columns="construction")
        if self.of_both:
            rows = rows.dropna(subset=["this_run", "published"])
        return rows if rows["published"].notna().any() else rows.head(0)


def read_published(path: Path) -> pd.DataFrame:
    """Read a table of published numbers: texts, empty where something is not reported.

    Returns:
        The columns task, construction, source, measure, model, and those of facets, as rates have them; and `NUMBER`,
        in the unit of the measure, so that 37.65 % is 0.3765.
    """
    return pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)


def beside_published(rates: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return published numbers and the rates of a run, a row for each number that one of them or both have.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, and of facets.
        published: See `read_published`. Rates of what it has no number of, by measure and facets, are left out.

    Returns:
        The columns of the key, with those of facets; this_run, with its interval, and n; published; items, of the
        published number; and paper. Shares are in percent, what is absent is empty. An asterisk marks a share that
        differs from the published one: the 95 % interval of the difference, to which both have added their own error,
        does not contain 0 (`cxprobe.stats.differs_from_published`).
    """
    levels = [str(name) for name in published if name not in (*KEYS, *NUMBER)]
    rates = rates.assign(**{name: "" for name in levels if name not in rates})  # facets of what is not asked
    others = [name for name in facet_columns(rates) if name not in levels]
    ours = rates[(rates[others] == "").all(axis=1)].merge(published[levels].drop_duplicates(), on=levels)
    key = [*(name for name in KEYS if name != "model"), *levels, "model"]
    theirs = published.rename(columns={"value": "published"})
    both = ours[[*key, "value", "low", "high", "n"]].merge(theirs, on=key, how="outer", validate="one_to_one")
    cells, both = [], with_blanks(both.astype({"n": "Int64"}))
    for row in both.to_dict("records"):
        ran, printed = "", row["published"]
        digits = len(printed.partition(".")[2])
        if not MEASURES[row["measure"]].is_share:
            cells.append((f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})" if row["n"] else "", printed))
            continue
        if row["n"]:
            rate, items = Estimate(row["value"], row["low"], row["high"], row["n"]), int(row["items"] or 0) or None
            # A number is as exact as it is printed.
            differs = printed and differs_from_published(rate, float(printed), items, 0.5 / 10**digits)
            ran = cell(rate.value, rate.low, rate.high) + (" *" if differs else "")
        cells.append((ran, f"{100 * float(printed):.{digits - 2}f}" if printed else ""))
    both[["this_run", "published"]] = cells
    return both[[*key, "this_run", "n", "published", "items", "paper"]].drop(columns="task")
