"""What the labels so far say of all mined sentences.

The groups stand in an order that the seed alone decides. So those before the first that is not labelled are a random
sample of all, whichever of the others a person has labelled.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from cxprobe.people.labels import PersonLabel, in_force, judgements_on
from cxprobe.people.mined import SentenceGroup
from cxprobe.stats import Estimate, estimate_rate

WANTED = 0.15  # to each side of a rate: what tells .5 from .65


class Yield(NamedTuple):
    """What the labels say of all candidates; the intervals are of 95 %.

    Attributes:
        precision: The share of instances among what the pattern finds, from the random sample alone.
        groups: How many groups the sample has.
        instances: How many instances all candidates have: expected, the least, the most.
        candidates: Their number.
        left: How many instances those have that nobody has labelled: expected, the least, the most.
        unlabelled: Their number.
    """

    precision: Estimate
    groups: int
    instances: tuple[float, float, float]
    candidates: int
    left: tuple[float, float, float]
    unlabelled: int


def credits_of(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]) -> pd.DataFrame:
    """Return one row per sentence: position and tags of its group, and credit, the share of people who say positive.

    The credit is NaN where nobody has labelled the sentence. What is unclear is no instance.
    """
    judged, rows = in_force(labels), []
    for position, group in enumerate(groups):
        for sentence in group.sentences:
            said = judgements_on(sentence.id, group.tags, judged).values()
            rows.append((position, group.tags, np.mean([one == "positive" for one in said]) if said else np.nan))
    return pd.DataFrame(rows, columns=["position", "tags", "credit"])


def estimate_yield(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]) -> Yield | None:
    """Estimate precision and the number of instances, or return None where the first group has a sentence unlabelled.

    The intervals of the numbers are narrower by the finite population correction: when all is labelled they are exact.
    As the sample ends where the person stops, it is random but for its last groups.

    Args:
        groups: All groups, in their random order.
        labels: Everybody's labels.
    """
    table = credits_of(groups, labels)
    unlabelled = table["credit"].isna()
    sample = table[table["position"] < table.loc[unlabelled, "position"].min()] if unlabelled.any() else table
    if sample.empty:
        return None
    precision = estimate_rate(sample["credit"].to_numpy(dtype=float), sample[["tags"]].to_numpy(dtype=object))
    known, left, n = float(table["credit"].sum()), int(unlabelled.sum()), len(table)
    ends = np.array([precision.value, precision.low, precision.high])
    ends = precision.value + (ends - precision.value) * np.sqrt(1 - precision.n / n)
    expected, least, most = np.clip(n * ends, known, known + left).tolist()
    missing = (expected - known, least - known, most - known)
    return Yield(precision, sample["position"].nunique(), (expected, least, most), n, missing, left)


@cache
def sentences_for(half: float) -> int:
    """Return how many sentences, each a cluster of its own, have an interval of at most ``half`` to each side.

    Half of them are right, where the interval is widest.
    """
    n, widest = 0, 1.0
    while widest > half:
        n += 2
        rate = estimate_rate((np.arange(n) % 2).astype(np.float64), np.arange(n, dtype=object)[:, None])
        widest = rate.high - rate.value
    return n
