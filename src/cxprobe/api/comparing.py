"""Minimal pairs as users give them, and how a comparison ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.schema import ScoreName, suggest
from cxprobe.lm.scores import CONTEXT_SCORES, score_pairs, texts_by_scheme
from cxprobe.lm.texts import Pair, TokenScores
from cxprobe.pairs.make import pair_table, pairs_of
from cxprobe.stats import (
    CLUSTER,
    FEWEST_WORDINGS,
    Estimate,
    clusters_by,
    clusters_of,
    credits_of_margins,
    estimate_rate,
    rate_by,
)

_TEXTS = ("good", "bad", "context")
_DIGITS = "0123456789"  # cluster_ADJ1 and cluster_ADJ2 hold clusters of one kind


@dataclass(frozen=True)
class Comparison:
    """How a model decided between the two texts of each pair.

    Attributes:
        table: One row a pair, in the order they were given: the columns of the pairs (good, bad, context ...);
            good_score and bad_score in nats; margin, the difference; and accuracy, 1 if the right text scores higher, 0
            if the wrong one does, 0.5 for a tie.
        accuracy: The mean of accuracy: value, low and high (95 % interval) in [0, 1], and n, the number of pairs.
    """

    table: pd.DataFrame
    accuracy: Estimate

    def __repr__(self) -> str:
        """Return the accuracy with its interval, the number of pairs, and how many clusters the interval rests on."""
        value, low, high = (
            f"{100 * number:.1f}" for number in (self.accuracy.value, self.accuracy.low, self.accuracy.high)
        )
        return f"<cxprobe.Comparison: {value} % [{low}, {high}] of {self.accuracy.n} pairs, {self.clustering}>"

    @property
    def clustering(self) -> str:
        """By what the interval of `accuracy` is clustered, such as "clustered by verb (5 clusters)"."""
        clustered = _with_clusters(self.table)
        left_out = clusters_by(clustered.assign(all=""), ["all"])["left_out"].iloc[0].split(", ")
        named = {kind: names for kind, names in _names_by_kind(clustered).items() if kind not in left_out}
        shared = {kind: len(set(names)) for kind, names in named.items() if len(set(names)) < len(names)}
        if not shared:
            return "not clustered (no two pairs share a cluster)"
        return "clustered by " + " and ".join(f"{kind} ({_counted(count)})" for kind, count in shared.items())

    @property
    def reservation(self) -> str:
        """What to keep in mind about the interval: that it rests on few clusters, or "" if it does not."""
        clustered = _with_clusters(self.table)
        count = int(clusters_by(clustered.assign(all=""), ["all"])["clusters"].iloc[0])
        if count >= FEWEST_WORDINGS:
            return ""
        return (
            f"the interval rests on {_counted(count)}; with fewer than {FEWEST_WORDINGS} it is wide and unreliable: "
            "add pairs that share nothing with these"
        )

    def by(self, *columns: str) -> pd.DataFrame:
        """Return the accuracy for each value of some columns of the table.

        Args:
            *columns: Names of columns, such as "variant".

        Returns:
            One row a group: the columns, accuracy, low, high, n, and ties, the number of pairs with equal scores.

        Raises:
            DataError: The table does not have such a column.
        """
        for column in columns:
            if column not in self.table:
                raise DataError(f"there is no column '{column}'{suggest(column, list(self.table.columns))}")
        return rate_by(_with_clusters(self.table), "accuracy", columns)


def pair_records(
    good: Sequence[str] | pd.DataFrame, bad: Sequence[str] | None, context: Sequence[str] | str | None
) -> list[Pair]:
    """Return pairs from texts, or from a table, as records.

    Args:
        good: See `cxprobe.LanguageModel.compare`.
        bad: Likewise.
        context: Likewise.

    Raises:
        DataError: There are not as many texts of one kind as of the other, a text is empty, or a table lacks a column.
    """
    if isinstance(good, pd.DataFrame):
        if bad is not None or context is not None:
            raise DataError("a table of pairs has its own columns bad and context; give the table alone")
        return pairs_of(_completed(good))
    if bad is None:
        raise DataError("there are no wrong texts; give as many as there are right ones, or a table of pairs")
    columns = {"good": list(good), "bad": list(bad)}
    columns["context"] = [context or ""] * len(columns["good"]) if isinstance(context, str | None) else list(context)
    lengths = {name: len(texts) for name, texts in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"there are {lengths['good']} right texts, {lengths['bad']} wrong ones and {lengths['context']} contexts; "
            "give one of each for each pair"
        )
    return pairs_of(_completed(pd.DataFrame(columns)))


def compare_scores(pairs: Sequence[Pair], scores: Sequence[TokenScores], score: ScoreName) -> Comparison:
    """Decide pairs by the scores of their texts.

    Args:
        pairs: The pairs.
        scores: The scores of all their texts, under one scheme.
        score: The score that is compared.

    Raises:
        DataError: The score needs a context and a pair has none, or a score is not finite.
    """
    table = pair_table(pairs)
    schemes = texts_by_scheme(scores)
    alone = table["id"][table["context"] == ""]
    if score in CONTEXT_SCORES and len(alone):
        raise DataError(f"the score {score} needs a context, and pair {alone.iloc[0]} has none; take sum or per_token")
    found = score_pairs(table, schemes, [score]).set_index("id").loc[table["id"]]
    margins = found["margin"].to_numpy(dtype=np.float64)
    table["good_score"], table["bad_score"] = found["good"].to_numpy(), found["bad"].to_numpy()
    table["margin"], table["accuracy"] = margins, credits_of_margins(margins)
    accuracy = estimate_rate(table["accuracy"].to_numpy(dtype=np.float64), clusters_of(_with_clusters(table)))
    return Comparison(table, accuracy)


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of pairs with every column that records need; where there is a context, a space follows it."""
    lacking = [name for name in ("good", "bad") if name not in table]
    if lacking:
        raise DataError(f"the table has no column {' and no column '.join(lacking)}; it has {', '.join(table.columns)}")
    if table.empty:
        raise DataError("there is no pair; give at least one")
    names = [str(place) for place in range(len(table))]
    table = table.assign(context=table.get("context", "")).reset_index(drop=True)
    for name in _TEXTS:
        for place, text in enumerate(table[name]):
            if not isinstance(text, str) or (name != "context" and not text.strip()):
                raise DataError(f"pair {place}: {name} is {text!r}; it must be a text that is not empty")
    for name in ("good", "bad"):
        joined = (table["context"] != "") & ~table[name].str.startswith(" ") & ~table["context"].str.endswith(" ")
        table[name] = table[name].where(~joined, " " + table[name])
    if "id" not in table:
        table["id"] = names
    if table["id"].duplicated().any():
        raise DataError(
            f"the id {table['id'][table['id'].duplicated()].iloc[0]!r} is there twice; each pair needs its own"
        )
    return table if "item" in table else table.assign(item=table["id"])


def _names_by_kind(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the names of clusters, by kind; a row without a name of a kind adds none."""
    names: dict[str, list[str]] = {}
    for column in table.columns:
        if column.startswith(CLUSTER):
            kind = column.removeprefix(CLUSTER).rstrip(_DIGITS)
            names.setdefault(kind, []).extend(table[column].dropna().astype(str))
    return names


def _counted(clusters: int) -> str:
    return "1 cluster" if clusters == 1 else f"{clusters} clusters"


def _with_clusters(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows have clusters: those that it names, else each item is one."""
    named = any(column.startswith(CLUSTER) for column in table.columns)
    return table if named else table.assign(**{f"{CLUSTER}item": table["item"]})
