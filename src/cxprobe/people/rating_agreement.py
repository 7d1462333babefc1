"""How far people agree with each other and with what the items call right."""

from collections.abc import Sequence
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.people.forms import LETTERS
from cxprobe.people.ratings import COLUMNS, RATINGS_FILE, read_ratings
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.stats import CLUSTER

PUBLISHED_FILE = Path("published/oba2026_human_validation.tsv")
_ITEM = ["construction", "kind", "item"]
_BY = ["construction", "kind"]
_AGREEMENT_COLUMNS = [
    *("construction", "kind", "accuracy", "low", "high", "n", "ties"),
    *("full_agreement", "full_low", "full_high", "full_n", "alpha", "raters", "ratings"),
]


def load_ratings(construction: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> pd.DataFrame:
    """Return what people have said of a construction's items.

    Returns:
        One row per item and person: construction, kind, item, frame, rater, answer, gold; see
        `cxprobe.people.ratings`. No rows where there is no file, or only its header: nobody has judged yet,
        which is not the same as nobody being right.

    Raises:
        ConstructionError: See `read_ratings`.
    """
    table = pd.DataFrame(read_ratings(constructions / construction / RATINGS_FILE), columns=list(COLUMNS), dtype=str)
    table.insert(0, "construction", pd.Series([construction] * len(table), dtype=str))
    return table


def agreement_on(kind: str, constructions: Sequence[str]) -> pd.DataFrame:
    """Return what `human_agreement` says of the items of one kind, from the ratings of some constructions.

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
    for key, own in ratings.groupby(_ITEM, sort=True):
        counts = own["answer"].value_counts()
        most = set(counts.index[counts == counts.max()])
        accuracy = float(own["gold"].iloc[0] in most) / (2 if len(most) > 1 else 1)
        rows.append((*key, own["frame"].iloc[0], len(own), accuracy, len(counts) == 1))
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
    from cxprobe.stats import rate_by  # it imports SciPy, which whoever reads the wording of forms does not need

    if ratings.empty:
        return pd.DataFrame(columns=_AGREEMENT_COLUMNS)
    items = majorities(ratings)
    items[f"{CLUSTER}frame"] = items["construction"] + " " + items["frame"]
    twice = items[items["judged"] > 1].assign(full_agreement=lambda table: table["unanimous"].astype(float))
    accuracy = rate_by(items, "accuracy", _BY)
    people = ratings.groupby(_BY, as_index=False).agg(raters=("rater", "nunique"), ratings=("rater", "size"))
    alphas = [(*key, _alpha(own)) for key, own in ratings.groupby(_BY)]
    table = accuracy.merge(people, on=_BY).merge(pd.DataFrame(alphas, columns=[*_BY, "alpha"]), on=_BY)
    names = {"low": "full_low", "high": "full_high", "n": "full_n"}
    full = rate_by(twice, "full_agreement", _BY).rename(columns=names).drop(columns="ties")
    table = table.merge(full, on=_BY, how="left").fillna({"full_n": 0}).astype({"full_n": int})
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
    options = _options(items)
    rows = []
    found = majorities(ratings)
    for one in found[found["accuracy"] < 1].itertuples(index=False):
        key = (one.kind, one.item)
        if key not in options:
            continue
        own = ratings[(ratings["kind"] == one.kind) & (ratings["item"] == one.item)]
        text, question, shown = options[key]
        counts = own["answer"].value_counts()
        given = "; ".join(f"{count} x {shown[str(answer)]}" for answer, count in counts.items())
        right = str(own["gold"].iloc[0])
        verdict = "tie" if one.accuracy else "wrong"
        share = float((own["answer"] == right).mean())
        rows.append((share, one.construction, one.kind, one.item, verdict, text, question, shown[right], given))
    columns = ["construction", "kind", "item", "verdict", "text", "question", "right", "given"]
    return pd.DataFrame([row[1:] for row in sorted(rows)], columns=columns)


def read_published_agreement(path: Path = PUBLISHED_FILE) -> pd.DataFrame:
    """Return what has been published of people's judgements of minimal pairs (Oba & Sugawara 2026).

    Returns:
        construction ("overall" for all), published_accuracy and published_full_agreement in [0, 1], published_n.

    Raises:
        DataError: There is no such file.
    """
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; `git checkout {path}` brings it back")
    table = pd.read_csv(path, sep="\t")
    return pd.DataFrame(
        {
            "construction": table["construction"],
            "published_accuracy": table["majority_percent"] / 100,
            "published_full_agreement": table["full_agreement_percent"] / 100,
            "published_n": table["items"],
        }
    )


def _alpha(ratings: pd.DataFrame) -> float:
    """Return Krippendorff's alpha of the ratings of some items, or NaN where it is not defined."""
    counts = ratings.groupby(["construction", "item"])["answer"].value_counts().unstack(fill_value=0).to_numpy()
    pairable = counts[counts.sum(axis=1) > 1]  # (items, answers)
    if (pairable.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement="nominal", dtype=np.float64))


def _options(items: pd.DataFrame) -> dict[tuple[str, str], tuple[str, str, dict[str, str]]]:
    """Return each item's text, question, and answers in words."""
    found = {}
    for row in items.to_dict("records"):
        shown = [row[letter.lower()] for letter in LETTERS]
        answers = dict(zip(str(row["answers"]).split(" "), shown, strict=False))
        found[str(row["kind"]), str(row["item"])] = (str(row["text"]), str(row["question"]), answers)
    return found
