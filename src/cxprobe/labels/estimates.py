"""Estimates from judgements of people: their agreement, the precision of a pattern, and the accuracy of people."""

from collections.abc import Sequence

import krippendorff
import numpy as np
import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.labels.labels import PersonLabel, in_force, is_decision, judgements_on
from cxprobe.labels.mined import SentenceGroup
from cxprobe.labels.ratings import RATINGS_FILE, Rating, read_ratings
from cxprobe.stats import CLUSTER, Estimate, estimate_rate, rate_by

_BY = ["construction", "kind"]


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


def load_ratings(constructions: Sequence[str]) -> pd.DataFrame:
    """Return the ratings of the items of constructions.

    Returns:
        One row per item and rater: construction, kind, item, frame, rater, answer, gold; see
        `cxprobe.labels.ratings`. No rows where there is no file, or only its header: nobody has judged yet,
        which is not the same as nobody being right.

    Raises:
        ConstructionError: See `read_ratings`.
    """
    rows = [
        (name, *rating) for name in constructions for rating in read_ratings(CONSTRUCTIONS_FOLDER / name / RATINGS_FILE)
    ]
    return pd.DataFrame(rows, columns=["construction", *Rating._fields], dtype=str)


def human_agreement(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of the majority of people on items, and the agreement of people.

    The intervals are about items, clustered by frame or premise: other items of this design, judged by these people.

    Args:
        ratings: See `load_ratings`; those of several constructions one after another.

    Returns:
        One row per construction and kind, sorted; none without ratings:

        - accuracy, low, high, n, ties: the share of items about which the majority is right, with its 95 % interval,
          the number of items, and the number of those without a majority, which count half where the right answer is
          among those given most often;
        - alpha: see `nominal_alpha`;
        - raters, ratings: the number of people and of their answers.
    """
    items, people = [], []
    for (construction, kind, _), of_item in ratings.groupby([*_BY, "item"]):
        most = of_item["answer"].mode().tolist()
        is_among = of_item["gold"].iloc[0] in most
        frame = f"{construction} {of_item['frame'].iloc[0]}"
        items.append((construction, kind, frame, is_among / min(len(most), 2)))
    for key, of_kind in ratings.groupby(_BY):
        alpha, _ = nominal_alpha(of_kind, ["item"], "answer")
        people.append((*key, alpha, of_kind["rater"].nunique(), len(of_kind)))
    rates = rate_by(pd.DataFrame(items, columns=[*_BY, f"{CLUSTER}frame", "accuracy"]), "accuracy", _BY)
    return rates.merge(pd.DataFrame(people, columns=[*_BY, "alpha", "raters", "ratings"]), on=_BY)


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
