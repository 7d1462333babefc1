"""Rates: the means of responses, with their intervals, over all that decide and by each facet."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from cxprobe.report.schema import KEYS
from cxprobe.stats import rate_by

ALL = "all"  # in the place of a construction: all of them together


@dataclass(frozen=True)
class Facet:
    """A way to divide responses.

    Attributes:
        name: In the column facet of the rates; "" for no division.
        columns: The columns of the responses whose values divide them, with texts.
        measures: What is divided so.
        where: A condition on the columns of responses, as pandas queries it; "" for all of them.
        each: Whether each construction is divided, beside all of them together.
        has_verdicts: Whether models are compared by its accuracies, which get verdicts. The comparisons on single
            constructions are tested.
    """

    name: str
    columns: Sequence[str] = ()
    measures: Sequence[str] = ("accuracy",)
    where: str = ""
    each: bool = True
    has_verdicts: bool = False

    def of(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the responses that are divided, with the columns facet and level."""
        kept = responses[responses["measure"].isin(self.measures)]
        if self.where:
            kept = kept.query(self.where)
        if not self.each:
            kept = kept[kept["construction"] == ALL]
        divided = kept.reset_index(drop=True)
        parts = [divided[column].astype(str) for column in self.columns]
        level = parts[0].str.cat(parts[1:], sep=".") if parts else ""
        return divided.assign(facet=self.name, level=level)


def with_all(responses: pd.DataFrame) -> pd.DataFrame:
    """Return responses, and once more those of all constructions as of one that is called "all"."""
    return pd.concat([responses, responses.assign(construction=ALL)], ignore_index=True)


def rates_of(responses: pd.DataFrame, facets: Sequence[Facet]) -> pd.DataFrame:
    """Return the rates of all models by each facet, in the order of the facets.

    Args:
        responses: Columns of `cxprobe.report.schema.RESPONSES`, those of the facets, and clusters.
        facets: How they are divided. A facet that leaves no response has no rate.

    Returns:
        The columns of `cxprobe.report.schema.RATES` up to chance, and decides: whether the rate is of all responses
        that decide, and of no others; of two such rates the first one.
    """
    tables = []
    for facet in facets:
        divided = facet.of(responses)
        if divided.empty:
            continue
        by = [*KEYS, "facet", "level", "measure"]
        first = divided.groupby(by, sort=False).agg(chance=("chance", "first"), decides=("decides", "all"))
        tables.append(rate_by(divided, "value", by).merge(first.reset_index(), on=by, validate="one_to_one"))
    rates = pd.concat(tables, ignore_index=True)
    of_model = [*KEYS, "measure"]
    deciding = responses[responses["decides"]].groupby(of_model).size().rename("deciding").reset_index()
    all_decide = rates["decides"] & (rates["n"] == rates.merge(deciding, on=of_model, how="left")["deciding"])
    return rates.assign(
        decides=all_decide & ~rates[all_decide].duplicated(of_model).reindex(rates.index, fill_value=False)
    )
