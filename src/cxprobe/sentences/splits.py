"""Balanced subsets D_f: for each value of a feature the same number of sentences of both labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from cxprobe.records import ALL_SENTENCES, LABELS, SPLITS, Shortfall, Split
from cxprobe.seeding import generator_for


@dataclass(frozen=True)
class BalancedSubset:
    """The training and the test part of one feature's subset.

    Attributes:
        rows: One row a drawn sentence: feature, split, value, label, id; none if no value can be filled.
        dropped: The values that could not be filled for both labels, and for which label.
    """

    rows: pd.DataFrame
    dropped: list[Shortfall]


class _Filled(NamedTuple):
    """The sentences of the values that both labels can fill, and what was dropped."""

    sentences: pd.DataFrame
    dropped: list[Shortfall]


def balance(
    sentences: pd.DataFrame, feature: str, *, train_per_label: int, test_per_label: int, seed: int
) -> BalancedSubset:
    """Draw the balanced subset of one feature.

    D_f is the union over the values v of f and over both labels of S(D, v, label, n*), where S draws n* of D's
    sentences that have value v and that label. Testing uses the whole range [v_min, v_max]; training only its
    lowest quarter, [v_min, v_min + (v_max - v_min) / 4], so that a probe must generalise from small values to
    great ones. A value that cannot give n* sentences of both labels is dropped for both; v_min and v_max are the
    least and the greatest value that the test part keeps, so that both parts speak of one range.

    Args:
        sentences: The pool D: columns id, label, split, and one with the feature's name. Of generated sentences
            these are the ones that were drawn for this feature (see `generate_sentences`).
        feature: Name of the feature.
        train_per_label: n* of the training part, per value and label.
        test_per_label: n* of the test part, per value and label.
        seed: The project's seed.

    Returns:
        The subset; without rows if no value can be filled, in the test part or in the lowest quarter of the training
        part.

    Source:
        Weissweiler et al. 2022, §3 (sampling).
    """
    wanted: dict[Split, int] = {"train": train_per_label, "test": test_per_label}
    own = sentences.rename(columns={feature: "value"})
    halves = {split: own[own["split"] == split] for split in SPLITS}
    test = _keep_filled(halves["test"], feature, "test", test_per_label)
    if test.sentences.empty:
        return BalancedSubset(_rows([], feature), test.dropped)
    v_min, v_max = test.sentences["value"].min(), test.sentences["value"].max()
    quarter = halves["train"][halves["train"]["value"].between(v_min, v_min + (v_max - v_min) / 4)]
    train = _keep_filled(quarter, feature, "train", train_per_label)
    if train.sentences.empty:
        return BalancedSubset(_rows([], feature), [*train.dropped, *test.dropped])
    kept: dict[Split, pd.DataFrame] = {"train": train.sentences, "test": test.sentences}
    drawn = [
        group.sample(wanted[split], random_state=generator_for(seed, "balance", feature, split, value, label))
        for split, filled in kept.items()
        for (value, label), group in filled.sort_values("id").groupby(["value", "label"])
    ]
    return BalancedSubset(_rows(drawn, feature), [*train.dropped, *test.dropped])


def all_sentences(sentences: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Draw a subset that is balanced over the labels and blind to the features, for data too scarce for `balance`.

    In each part it has as many sentences of both labels as the scarcer one has. Training and test part speak of the
    same range, so a probe is not asked to generalise from small values to great ones.

    Args:
        sentences: Columns id, label, split.
        seed: The project's seed.

    Returns:
        The rows of a subset, as `balance` has them, of the feature `ALL_SENTENCES` with the one value 0.
    """
    drawn = []
    for split in SPLITS:
        part = sentences[sentences["split"] == split].sort_values("id").assign(value=0)
        scarcer = int(part["label"].value_counts().reindex(list(LABELS), fill_value=0).min())
        drawn += [
            group.sample(scarcer, random_state=generator_for(seed, "all_sentences", split, label))
            for label, group in part.groupby("label")
        ]
    return _rows(drawn, ALL_SENTENCES)


def _rows(drawn: Sequence[pd.DataFrame], feature: str) -> pd.DataFrame:
    columns = ["feature", "split", "value", "label", "id"]
    if not drawn:
        return pd.DataFrame(columns=columns)
    return pd.concat(drawn).assign(feature=feature)[columns].reset_index(drop=True)


def _keep_filled(sentences: pd.DataFrame, feature: str, split: Split, wanted: int) -> _Filled:
    """Keep the sentences of the values that have at least ``wanted`` of both labels."""
    counts = pd.crosstab(sentences["value"], sentences["label"]).reindex(columns=list(LABELS), fill_value=0)
    short = counts[(counts < wanted).any(axis=1)]
    dropped = [
        Shortfall(split, feature, int(value), label, wanted, int(short.loc[value, label]))
        for value in short.index
        for label in LABELS
        if short.loc[value, label] < wanted
    ]
    return _Filled(sentences[~sentences["value"].isin(short.index)], dropped)


def shortfall_table(shortfalls: Sequence[Shortfall]) -> pd.DataFrame:
    """Return the cells that could not be filled as a table; it has its columns even when it has no row."""
    return pd.DataFrame(shortfalls, columns=list(Shortfall.__dataclass_fields__))
