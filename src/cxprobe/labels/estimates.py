"""Estimates from labels: the agreement of people, and the precision of a pattern."""

from collections.abc import Sequence

import krippendorff
import numpy as np
import pandas as pd

from cxprobe.labels.labels import PersonLabel, in_force, is_decision, judgements_on
from cxprobe.labels.mined import SentenceGroup
from cxprobe.stats import Estimate, estimate_rate


def nominal_alpha(judgements: pd.DataFrame, unit: list[str], value: str) -> tuple[float, int]:
    """Return Krippendorff's alpha of nominal judgements, at most 1, and the number of items with several judgements.

    Alpha is NaN where no item has several judgements, or all judgements are the same.

    Args:
        judgements: One row a judgement.
        unit: The columns that name an item.
        value: The column of the judgements.

    Source:
        Krippendorff 2004, by the package krippendorff.
    """
    counts = judgements.groupby(unit)[value].value_counts().unstack(fill_value=0).to_numpy()
    pairable = counts[counts.sum(axis=1) > 1]  # (units, values)
    if (pairable.sum(axis=0) > 0).sum() < 2:
        return float("nan"), len(pairable)
    alpha = krippendorff.alpha(value_counts=pairable, level_of_measurement="nominal", dtype=np.float64)
    return float(alpha), len(pairable)


def alpha_of_labels(labels: Sequence[PersonLabel]) -> tuple[float, int]:
    """Return `nominal_alpha` of labels without decisions: who decides has seen the labels of others."""
    table = pd.DataFrame([label for label in labels if not is_decision(label.who)], columns=PersonLabel._fields)
    return nominal_alpha(table, ["kind", "target"], "label") if len(table) else (float("nan"), 0)


def estimate_yield(
    groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]
) -> tuple[Estimate, tuple[float, float, float]] | None:
    """Estimate the precision of a pattern and the number of instances from labels of its matches.

    The groups stand in an order that the seed alone decides. So those before the first that is not labelled are a
    random sample of all, whichever of the others a person has labelled; as the sample ends where the person stops, it
    is random but for its last groups. The share of people who say positive is a sentence's credit: what is unclear is
    no instance. The interval of the number is narrower by the finite population correction: when all is labelled it is
    exact.

    Args:
        groups: All groups, in their random order.
        labels: Everybody's labels.

    Returns:
        The share of instances among the matches; and the number of instances in all sentences: expected, the least
        and the most. None where the first group has a sentence that nobody has labelled.
    """
    valid, rows = in_force(labels), []
    for position, group in enumerate(groups):
        for sentence in group.sentences:
            judgements = judgements_on(sentence.id, group.tags, valid).values()
            credit = np.mean([one == "positive" for one in judgements]) if judgements else np.nan
            rows.append((position, group.tags, credit))
    table = pd.DataFrame(rows, columns=["position", "tags", "credit"])
    unlabelled = table["credit"].isna()
    sample = table[table["position"] < table.loc[unlabelled, "position"].min()] if unlabelled.any() else table
    if sample.empty:
        return None
    precision = estimate_rate(sample["credit"].to_numpy(dtype=float), sample[["tags"]].to_numpy(dtype=object))
    value, known, n = precision.value, float(table["credit"].sum()), len(table)
    ends = np.array([value, precision.low, precision.high])
    ends = value + (ends - value) * np.sqrt(1 - precision.n / n)
    expected, least, most = np.clip(n * ends, known, known + unlabelled.sum()).tolist()
    return precision, (expected, least, most)
