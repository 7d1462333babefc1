"""Rates: the means of responses, with their intervals, over all that decide and by each facet."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.results.schema import HAS_VERDICT, KEYS, are_shares, facet_columns
from cxprobe.stats import UNIT, mean_by, rate_by

ALL = "all"  # in the place of a construction: all of them together
Estimator: TypeAlias = Callable[[pd.DataFrame, list[str]], pd.DataFrame]
"""Returns value, low, high, n and ties of each group of responses, and chance where it is another in each group.

It is given the responses and the columns that make the groups.
"""


class Facet(NamedTuple):
    """A way to divide responses.

    Attributes:
        columns: The columns of the responses whose values divide them; none for no division. No two facets of a task
            divide the same responses by the same columns.
        measures: What is divided so.
        where: A condition on the columns of responses, as pandas queries it; "" for all of them.
        steps: Whether the last of the columns is a quantity, such as a layer: in MLflow the rates are a curve over it.
        has_verdicts: Whether its accuracies get verdicts.
        is_compared: Whether models are compared by these accuracies; the comparisons on single constructions are
            tested.
        is_all_tested: Whether comparisons on all constructions together are tested too.
        compared: A condition on the responses by which models are compared, such as ``where``; "" for all of them.
        family: Columns of the responses whose values make families of tests of their own.
        over_words: Whether intervals of means are also over the words that units share, see `cxprobe.stats.mean_by`.
        in_git: Whether rates.csv, which git keeps, has its rates; rates.parquet has all.
    """

    columns: Sequence[str] = ()
    measures: Sequence[str] = ("accuracy",)
    where: str = ""
    steps: bool = False
    has_verdicts: bool = False
    is_compared: bool = True
    is_all_tested: bool = False
    compared: str = ""
    family: Sequence[str] = ()
    over_words: bool = False
    in_git: bool = True

    def divide(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the responses of a task that are divided, with texts in the columns that divide them."""
        kept = responses[responses["measure"].isin(self.measures)]
        if self.where:
            kept = kept.query(self.where)
        return kept.reset_index(drop=True).astype(dict.fromkeys(self.columns, str))

    def among(self, rates: pd.DataFrame) -> "pd.Series[bool]":
        """Return which rates of a task are those of this facet."""
        return _is_divided_by(rates, self.columns) & rates["measure"].isin(self.measures)


def columns_of(facets: Sequence[Facet]) -> list[str]:
    """Return the columns of all facets of a task, each once, in their order."""
    return list(dict.fromkeys(column for facet in facets for column in facet.columns))


def divided_by(rates: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the rates that some columns of facets divide, and no others.

    Args:
        rates: The columns of `cxprobe.results.schema.RATES`, and those of the facets of a task.
        *columns: Names of columns of facets; none for the rates of undivided responses.
    """
    return rates[_is_divided_by(rates, columns)]


def _is_divided_by(rates: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[bool]":
    every = facet_columns(rates)
    return ((rates[every] != "") == [name in columns for name in every]).all(axis=1)


def with_all(responses: pd.DataFrame) -> pd.DataFrame:
    """Return responses, and once more those of all constructions as of one that is called "all"."""
    return pd.concat([responses, responses.assign(construction=ALL)], ignore_index=True)


def rates_of(responses: pd.DataFrame, facets: Sequence[Facet], estimate: Estimator | None = None) -> pd.DataFrame:
    """Return the rates of all models by each facet, in the order of the facets.

    Args:
        responses: Columns of `cxprobe.results.schema.RESPONSES`, those of the facets, and clusters; and ``unit``, such
            as the frame, where a measure is no share.
        facets: How they are divided. A facet that leaves no response has no rate.
        estimate: How the shares of a task are estimated, see `Estimator`; None for `cxprobe.stats.rate_by`.

    Returns:
        The columns of `cxprobe.results.schema.RATES` up to chance; those of facets; has_verdict; and decides, whether
        the rate is of all responses that decide, and of no others; of two such rates the first one. n is the number of
        responses of a share, and the number of units of another measure.

    Raises:
        DataError: No facet leaves any response.
    """
    tables = []
    for facet in facets:
        divided = facet.divide(responses)
        by = [*KEYS, "measure", *facet.columns]
        is_share = are_shares(divided)
        if is_share.any():
            shares = divided[is_share].reset_index(drop=True)
            of_facet = estimate(shares, by) if estimate else rate_by(shares, "value", by)
            tables.append(_with_chance(of_facet, shares, by, facet))
        if not is_share.all():
            others = divided[~is_share].reset_index(drop=True)
            means = mean_by(others, "value", UNIT, by, over_words=facet.over_words).assign(ties=0)
            tables.append(_with_chance(means, others, by, facet))
    if not tables:
        raise DataError("no response counts, as where one answer is always right in each group; ask other items")
    rates = pd.concat(tables, ignore_index=True)
    every = columns_of(facets)
    undivided = rates.columns.difference(every, sort=False)
    rates = rates.reindex(columns=[*undivided, *every], fill_value="").fillna(dict.fromkeys(every, ""))
    of_model = [*KEYS, "measure"]
    deciding = responses[responses["decides"]].groupby(of_model).size().rename("deciding").reset_index()
    sizes = rates.merge(deciding, on=of_model, how="left")
    all_decide = rates["decides"] & (sizes["rows"] == sizes["deciding"])
    first = ~rates[all_decide].duplicated(of_model).reindex(rates.index, fill_value=True)
    return rates.assign(decides=all_decide & first).drop(columns="rows")


def with_further(rates: pd.DataFrame, further: pd.DataFrame) -> pd.DataFrame:
    """Return rates and some that no facet gives, which answer no question and have no verdict.

    Args:
        rates: What `rates_of` returns.
        further: The columns of `cxprobe.results.schema.RATES` up to chance, those of facets, and decides; or nothing.
    """
    if further.empty:
        return rates
    both = pd.concat([rates, further.assign(question="", **{HAS_VERDICT: False})], ignore_index=True)
    return both.fillna(dict.fromkeys(facet_columns(both), ""))


def _with_chance(rates: pd.DataFrame, divided: pd.DataFrame, by: list[str], facet: Facet) -> pd.DataFrame:
    """Return the rates of a facet with chance, whether all of their responses decide, and the number of these."""
    groups = divided.groupby(by, sort=False)
    known = groups.agg(
        chance=("chance", "first"), decides=("decides", "all"), question=("question", "first"), rows=("value", "size")
    ).reset_index()
    if "chance" in rates:
        known = known.drop(columns="chance")
    return rates.merge(known, on=by, validate="one_to_one").assign(**{HAS_VERDICT: facet.has_verdicts})
