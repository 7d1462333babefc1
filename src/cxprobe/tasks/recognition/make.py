"""The balanced subset of each feature of a source's sentences, in a training and a test part."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.constructions.sentences import ALL_SENTENCES, LABELS, SPLITS, Split
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.seeding import generator_for
from cxprobe.segmentation import Span, cut
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.params import Subsets

TEMPLATE = f"{CLUSTER}template"
NOT_FILLED = ["split", "feature", "value", "label", "wanted", "found"]
"""Columns of a table of values of a feature that cannot give as many sentences of a label as were asked for."""
_ROWS = ["feature", "split", "draw", "value", "label", "id"]
NotFilled = tuple[object, ...]


class DrawnSubsets(NamedTuple):
    """The subsets of all features of one source's sentences.

    Attributes:
        rows: One row a drawn sentence: feature, split, draw, value, label, id. The training part is drawn as often as
            the sizes ask for, the test part once; draws count from 0.
        dropped: The columns `NOT_FILLED`: the values that could not be filled for both labels, and for which label.
    """

    rows: pd.DataFrame
    dropped: pd.DataFrame


def draw_subsets(
    sentences: pd.DataFrame, draws: pd.DataFrame | None, features: Iterable[str], sizes: Subsets, seed: int, place: str
) -> DrawnSubsets:
    """Draw the balanced subset of every feature, and that of all sentences if ``sizes`` asks for it.

    A feature of which no value can be filled has no rows.

    Args:
        sentences: Columns id, label, split, and one for each feature.
        draws: Columns feature and id: the sentences that may fill a feature's values; None for all of them.
        features: Names of the features; there may be none if all sentences are drawn.
        sizes: How many sentences are drawn; a part of the section recognition.make.
        seed: The project's seed.
        place: Construction and source, for messages.

    Raises:
        DataError: A feature has no column, nothing can be drawn, or all of several draws are the same.
    """
    if absent := [feature for feature in features if feature not in sentences.columns]:
        raise DataError(
            f"{place}: the sentences have no column for the feature {', '.join(absent)}; their columns are "
            f"{', '.join(sentences.columns)}. Make them again, with the features of the present construction.yaml"
        )
    drawn, dropped = list[pd.DataFrame](), list[NotFilled]()
    for feature in features:
        pool = sentences
        if draws is not None:
            pool = sentences[sentences["id"].isin(draws.loc[draws["feature"] == feature, "id"])]
        groups, not_filled = balance(pool, feature, sizes, seed)
        drawn += groups
        dropped += not_filled
    if sizes.all_sentences:
        drawn += all_sentences(sentences, sizes.draws, seed)
    if not drawn:
        raise DataError(
            f"{place}: no value of any feature has {sizes.test_per_label} sentences of both labels in the test part "
            f"and {sizes.train_per_label} in the lowest quarter of the training part; lower the numbers in "
            "recognition.make, set its all_sentences: true, or add sentences"
        )
    rows = pd.concat(drawn, ignore_index=True)[_ROWS]
    by_draw = rows[rows["split"] == "train"].groupby(["feature", "draw"])["id"].agg(frozenset)
    if sizes.draws > 1 and (by_draw.groupby("feature").nunique() == 1).all():
        raise DataError(
            f"{place}: all {sizes.draws} draws of the training part have the same sentences, since no value has more "
            f"than train_per_label: {sizes.train_per_label} of them; lower it in recognition.make, set its draws: 1, "
            "or add sentences"
        )
    return DrawnSubsets(rows, pd.DataFrame(dropped, columns=NOT_FILLED))


def balance(
    sentences: pd.DataFrame, feature: str, sizes: Subsets, seed: int
) -> tuple[list[pd.DataFrame], list[NotFilled]]:
    """Draw the balanced subset of one feature.

    D_f is the union over the values v of f and over both labels of S(D, v, label, n*), where S draws n* of D's
    sentences that have value v and that label. Testing uses the whole range [v_min, v_max]; training only its
    lowest quarter, [v_min, v_min + (v_max - v_min) / 4], so that a probe must generalise from small values to
    large ones. A value that cannot give n* sentences of both labels is dropped for both; v_min and v_max are the
    smallest and the largest value that the test part keeps, so that both parts refer to one range.

    Args:
        sentences: The pool D: columns id, label, split, and one with the feature's name. Of generated sentences
            these are the ones that were drawn for this feature, see
            `cxprobe.tasks.recognition.sentences.generate_sentences`.
        feature: Name of the feature.
        sizes: n* of both parts, per value and label, and how often the training part is drawn, each time from all
            sentences of the lowest quarter.
        seed: The project's seed.

    Returns:
        The sentences of each part, draw, value and label, none if no value can be filled in the test part or in the
        lowest quarter of the training part; and the values that could not be filled, a row of `NOT_FILLED` each.

    Source:
        Weissweiler et al. 2022, §3 (sampling).
    """
    pool = sentences.rename(columns={feature: "value"})
    test, dropped = _keep_filled(pool, feature, "test", sizes.test_per_label)
    if test.empty:
        return [], dropped
    v_min, v_max = test["value"].min(), test["value"].max()
    quarter = pool[pool["value"].between(v_min, v_min + (v_max - v_min) / 4)]
    train, dropped_in_training = _keep_filled(quarter, feature, "train", sizes.train_per_label)
    dropped = [*dropped_in_training, *dropped]
    if train.empty:
        return [], dropped
    named = {"train": train.assign(feature=feature), "test": test.assign(feature=feature)}
    wanted = {"train": sizes.train_per_label, "test": sizes.test_per_label}
    return _draw(named, wanted, ["value", "label"], sizes.draws, seed, "balance", feature), dropped


def all_sentences(sentences: pd.DataFrame, draws: int, seed: int) -> list[pd.DataFrame]:
    """Draw a subset that is balanced over the labels and ignores the features, for data too scarce for `balance`.

    In each part it has as many sentences of both labels as there are of the rarer one, so that draws of the training
    part differ in the more frequent one. Training and test part cover the same range, so a probe need not generalise
    from small values to large ones.

    Args:
        sentences: Columns id, label, split.
        draws: How often the training part is drawn.
        seed: The project's seed.

    Returns:
        The sentences of each part, draw and label, of the feature `ALL_SENTENCES` with the one value 0.
    """
    named = sentences.assign(feature=ALL_SENTENCES, value=0)
    parts = {str(split): named[named["split"] == split] for split in SPLITS}
    rarer = {split: min(int((part["label"] == label).sum()) for label in LABELS) for split, part in parts.items()}
    return _draw(parts, rarer, ["label"], draws, seed, "all_sentences")


def _draw(
    parts: Mapping[str, pd.DataFrame], wanted: Mapping[str, int], by: list[str], draws: int, seed: int, *ids: str
) -> list[pd.DataFrame]:
    """Draw so many sentences of each group, of the training part as often as asked, of the test part once.

    The generator of the first draw is the same whether others follow or not.
    """
    drawn = []
    for split, draw in [*(("train", draw) for draw in range(draws)), ("test", 0)]:
        for group, rows in parts[split].sort_values("id").assign(draw=draw).groupby(by):
            generator = generator_for(seed, *ids, split, *group, *([f"draw {draw}"] if draw else []))
            drawn.append(rows.sample(wanted[split], random_state=generator))
    return drawn


def _keep_filled(pool: pd.DataFrame, feature: str, split: Split, wanted: int) -> tuple[pd.DataFrame, list[NotFilled]]:
    """Return a part's sentences of the values that have ``wanted`` of both labels, and the other values."""
    part = pool[pool["split"] == split]
    counts = pd.crosstab(part["value"], part["label"]).reindex(columns=list(LABELS), fill_value=0)
    dropped: list[NotFilled] = [
        (split, feature, value, label, wanted, number)
        for value, by_label in counts.to_dict("index").items()
        for label, number in by_label.items()
        if number < wanted
    ]
    enough = counts.index[(counts >= wanted).all(axis=1)]
    return part[part["value"].isin(enough)], dropped


def part_sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the size and the range of values of each part of each subset.

    Args:
        rows: Columns feature, split, draw, value, id.

    Returns:
        Columns feature, split, sentences (of one draw), draws, distinct (sentences in any draw), values (how many),
        least, greatest.
    """
    sizes = rows.groupby(["feature", "split"], as_index=False, sort=False).agg(
        sentences=("id", "size"),
        draws=("draw", "nunique"),
        distinct=("id", "nunique"),
        values=("value", "nunique"),
        least=("value", "min"),
        greatest=("value", "max"),
    )
    return sizes.assign(sentences=sizes["sentences"] // sizes["draws"])


def spans_of(sentences: pd.DataFrame) -> list[Span] | None:
    """Return the span of the construction in each sentence, or None where probes see all of a sentence."""
    return list(map(Span, sentences["start"].tolist(), sentences["end"].tolist())) if "start" in sentences else None


def seen_texts(sentences: pd.DataFrame) -> list[str]:
    """Return what probes see of each sentence."""
    return cut(sentences["text"].tolist(), spans_of(sentences))


def read_subsets(folder: Path) -> pd.DataFrame:
    """Read the subsets of one source of sentences.

    Returns:
        One row a drawn sentence: feature, split, draw, value, label, id, text, start and end (of the source
        construction_span: the span's first character, and the one after its last), and columns that begin with
        ``cluster_``.
    """
    sentences = read_table(folder / "sentences.parquet").filter(regex=f"^(id|text|start|end|{CLUSTER}.*)$")
    return read_table(folder / "splits.parquet").merge(sentences, on="id", validate="many_to_one")
