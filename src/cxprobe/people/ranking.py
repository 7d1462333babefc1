"""Which mined sentences are labelled next, and what the labels so far say of all of them.

The groups stand in an order that the seed alone decides. So those before the first that is not labelled are a random
sample of all, however the groups behind it were chosen.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cxprobe.people.labels import PersonLabel, in_force, judgements_on
from cxprobe.people.mined import SentenceGroup
from cxprobe.stats import Estimate, estimate_rate

FEWEST_LABELLED = 5  # groups that are labelled positive, and others, before a probe says of which it is unsure


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


def training_labels(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]) -> pd.Series | None:
    """Return which groups are positive, by their position, or None where fewer than `FEWEST_LABELLED` are, or are not.

    Groups are left out that nobody has labelled in full, and those about which the labels are split evenly.
    """
    credit = credits_of(groups, labels).groupby("position")["credit"].agg(lambda each: each.mean(skipna=False))
    positive = credit[credit.notna() & (credit != 0.5)] > 0.5
    return positive if min(positive.sum(), (~positive).sum()) >= FEWEST_LABELLED else None


def most_uncertain(groups: tuple[SentenceGroup, ...], positive: pd.Series, among: Sequence[int]) -> int:
    """Return the position of the group whose probability of being positive is nearest 0.5, of equals the first.

    The probabilities are those of a logistic regression on n-grams of words and tags.

    Args:
        groups: All groups.
        positive: What the probe is trained on, see `training_labels`.
        among: The positions of the groups to choose from; one at least.
    """
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    features = _features(groups)
    probe = LogisticRegression(max_iter=1000).fit(features[positive.index], positive)
    return among[int(np.argmin(np.abs(probe.predict_proba(features[among])[:, 1] - 0.5)))]


@lru_cache(maxsize=1)  # a session asks for the same groups after every answer
def _features(groups: tuple[SentenceGroup, ...]) -> Any:  # a sparse matrix, (groups, n-grams)
    """Return the tf-idf of words, in lower case, of tags, in capitals, and of every two in a row.

    What only one group has is left out: it tells nothing of the others.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [" ".join([*(one.text.lower() for one in group.shown), group.tags]) for group in groups]
    counter = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2), min_df=2)
    return counter.fit_transform(texts)
