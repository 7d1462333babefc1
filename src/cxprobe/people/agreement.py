"""How far people agree: about labels of mined sentences, and about the right answers of items."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import krippendorff
import numpy as np
import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.people.labels import JUDGEMENTS, PersonLabel, Said, Target, in_force, is_decision, judgements_on
from cxprobe.people.mined import SentenceGroup
from cxprobe.people.ratings import RATINGS_FILE, Rating, read_ratings
from cxprobe.stats import CLUSTER, rate_by

_ITEM = ["construction", "kind", "item"]
_BY = ["construction", "kind"]
_AGREEMENT_COLUMNS = [
    *("construction", "kind", "accuracy", "low", "high", "n", "ties"),
    *("full_agreement", "full_low", "full_high", "full_n", "alpha", "raters", "ratings"),
]


class Kappa(NamedTuple):
    """How far two people agree.

    Attributes:
        first: One of them.
        second: The other.
        both: How many targets both have labelled.
        agreed: How many of these have the same label twice.
        value: Cohen's kappa, or None where it is not defined.
    """

    first: str
    second: str
    both: int
    agreed: int
    value: float | None


def conflicts(labels: Sequence[PersonLabel]) -> dict[Target, Said]:
    """Return the targets with more than one label about which nobody has decided, sorted, and who said what."""
    return {target: said for target, said in sorted(in_force(labels).items()) if _differ(said)}


def disputes(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]) -> list[tuple[SentenceGroup, Said]]:
    """Return what keeps mined sentences from having a label: what to decide, and each person's label of it.

    Beside the conflicts about sequences and about sentences, these are sentences that one person labels otherwise than
    another labels their sequence. They come after the conflict about their sequence is decided.

    Args:
        groups: The mined sentences by their sequences; the disputes are in their order.
        labels: Everybody's labels.
    """
    judged = in_force(labels)
    disputed: list[tuple[SentenceGroup, Said]] = []
    for group in groups:
        of_sequence = judged.get(("sequence", group.tags), {})
        if is_open := _differ(of_sequence):
            disputed.append((group, of_sequence))
        for sentence in group.sentences:
            said = judged.get(("sentence", sentence.id), {})
            if said and not is_open:
                said = judgements_on(sentence.id, group.tags, judged)
            if _differ(said):
                group_of_one = SentenceGroup("sentence", sentence.id, group.tags, (sentence,))
                disputed.append((group_of_one, dict(sorted(said.items()))))
    return disputed


def kappas(labels: Sequence[PersonLabel]) -> list[Kappa]:
    """Return Cohen's kappa of every two people, sorted by their names.

    What one person decides about the labels of others is not compared: the person has seen their labels. Kappa is not
    defined where both use one and the same label throughout: agreement by chance is then certain.

    Source:
        Cohen 1960, as scikit-learn computes it.
    """
    from sklearn.metrics import cohen_kappa_score  # takes a second to import, and reports of ratings do not need it

    table = pd.DataFrame([label for label in labels if not is_decision(label.who)], columns=PersonLabel._fields)
    by_person = table.pivot(index=["kind", "target"], columns="who", values="label")
    pairs = []
    for first, second in combinations(map(str, by_person.columns), 2):
        both = by_person[[first, second]].dropna()
        ours, theirs = both[first], both[second]
        is_defined = len({*ours, *theirs}) > 1
        value = float(cohen_kappa_score(ours, theirs, labels=list(JUDGEMENTS))) if is_defined else None
        pairs.append(Kappa(first, second, len(both), int((ours == theirs).sum()), value))
    return pairs


def load_ratings(construction: str) -> pd.DataFrame:
    """Return what people have said of a construction's items.

    Returns:
        One row per item and rater: construction, kind, item, frame, rater, answer, gold; see
        `cxprobe.people.ratings`. No rows where there is no file, or only its header: nobody has judged yet,
        which is not the same as nobody being right.

    Raises:
        ConstructionError: See `read_ratings`.
    """
    ratings = read_ratings(CONSTRUCTIONS_FOLDER / construction / RATINGS_FILE)
    rows = [(construction, *rating) for rating in ratings]
    return pd.DataFrame(rows, columns=["construction", *Rating._fields], dtype=str)


def agreement_on(kind: str, constructions: Sequence[str]) -> pd.DataFrame:
    """Return what `human_agreement` says of the items of one kind, from people's ratings of some constructions.

    Args:
        kind: "pairs", "inference" or "reasoning".
        constructions: Their folders' names.
    """
    ratings = pd.concat([load_ratings(name) for name in constructions], ignore_index=True)
    return human_agreement(ratings[ratings["kind"] == kind])


def majorities(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return what the majority says of each item.

    Args:
        ratings: See `load_ratings`.

    Returns:
        One row per item: construction, kind, item, frame; judged, the number of people; accuracy, which is 1 where the
        answer that most people gave is the right one, 0.5 where the right one is among several that most people gave,
        and else 0; and unanimous, whether all gave the same answer.
    """
    rows = []
    for key, of_item in ratings.groupby(_ITEM, sort=True):
        counts = of_item["answer"].value_counts()
        most = set(counts.index[counts == counts.max()])
        accuracy = float(of_item["gold"].iloc[0] in most) / (2 if len(most) > 1 else 1)
        rows.append((*key, of_item["frame"].iloc[0], len(of_item), accuracy, len(counts) == 1))
    return pd.DataFrame(rows, columns=[*_ITEM, "frame", "judged", "accuracy", "unanimous"])


def human_agreement(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return how often the majority of people is right about an item, and how far people agree.

    The intervals are about items, clustered by frame or premise: other items of this design, judged by these people.

    Args:
        ratings: See `load_ratings`; those of several constructions one after another.

    Returns:
        One row per construction and kind, sorted; none without ratings:

        - accuracy, low, high, n, ties: the share of items about which the majority is right, with its 95 % interval,
          the number of items, and the number of those without a majority, which count half where the right answer is
          among those given most often;
        - full_agreement, full_low, full_high, full_n: the share of items about which all people gave the same answer,
          of those that at least two have judged; NaN and 0 where there are none;
        - alpha: Krippendorff's, nominal, at most 1; NaN where no item was judged twice or all answers are the same;
        - raters, ratings: the number of people and of their answers.

    Source:
        Krippendorff 2004 for alpha, by the package krippendorff.
    """
    if ratings.empty:
        return pd.DataFrame(columns=_AGREEMENT_COLUMNS)
    items = majorities(ratings)
    items[f"{CLUSTER}frame"] = items["construction"] + " " + items["frame"]
    twice = items[items["judged"] > 1].assign(full_agreement=lambda table: table["unanimous"].astype(float))
    people = [
        (*key, _alpha(of_kind), of_kind["rater"].nunique(), len(of_kind)) for key, of_kind in ratings.groupby(_BY)
    ]
    names = {"low": "full_low", "high": "full_high", "n": "full_n"}
    full = rate_by(twice, "full_agreement", _BY).rename(columns=names).drop(columns="ties")
    table = rate_by(items, "accuracy", _BY).merge(full, on=_BY, how="left")
    table = table.merge(pd.DataFrame(people, columns=[*_BY, "alpha", "raters", "ratings"]), on=_BY)
    table = table.fillna({"full_n": 0}).astype({"full_n": int})
    return table[_AGREEMENT_COLUMNS].sort_values(_BY, ignore_index=True)


def mistaken_items(ratings: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the items about which most people do not say what the item calls right: those to be looked at.

    Args:
        ratings: See `load_ratings`.
        items: What was asked, with texts, see `read_items`; rated items that are not in it are left out.

    Returns:
        One row per item, those with the fewest right answers first: construction, kind, item, verdict ("wrong", or
        "tie" where the right answer is one of several that were given most often), text, question, right (the right
        option in words), and given (what people said, the most frequent first, as "2 x ...").
    """
    asked = {(row["kind"], row["item"]): row for row in items.to_dict("records")}
    accuracies = majorities(ratings).set_index(_ITEM)["accuracy"].to_dict()
    rows = []
    for (construction, kind, item), of_item in ratings.groupby(_ITEM):
        accuracy, row = accuracies[construction, kind, item], asked.get((kind, item))
        if accuracy == 1 or row is None:
            continue
        shown = dict(zip(row["answers"].split(" "), (row["a"], row["b"], row["c"]), strict=False))
        given = "; ".join(f"{count} x {shown[name]}" for name, count in of_item["answer"].value_counts().items())
        right = of_item["gold"].iloc[0]
        share, verdict = (of_item["answer"] == right).mean(), "tie" if accuracy else "wrong"
        rows.append((share, construction, kind, item, verdict, row["text"], row["question"], shown[right], given))
    columns = ["construction", "kind", "item", "verdict", "text", "question", "right", "given"]
    return pd.DataFrame([row[1:] for row in sorted(rows)], columns=columns)


def _alpha(ratings: pd.DataFrame) -> float:
    """Return Krippendorff's alpha of the ratings of some items, or NaN where it is not defined."""
    counts = ratings.groupby(["construction", "item"])["answer"].value_counts().unstack(fill_value=0).to_numpy()
    pairable = counts[counts.sum(axis=1) > 1]  # (items, answers)
    if (pairable.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement="nominal", dtype=np.float64))


def _differ(said: Said) -> bool:
    return len(set(said.values())) > 1
