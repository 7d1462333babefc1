"""The sentences of each source, and their subsets: for each feature one that is balanced, in two parts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.constructions import ALL_SENTENCES, LABELS, SPLITS, Split
from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    SentenceSource,
    grammar_file,
    load_construction,
)
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.labels import read_labels
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.params import RecognitionStage, Subsets
from cxprobe.tasks.recognition.sentences import (
    NOT_FILLED,
    apply_labels,
    generate_sentences,
    load_grammars,
    split_sequences,
)

_ROWS = ["feature", "split", "value", "label", "id"]
NotFilled = tuple[object, ...]


class MadeSource(NamedTuple):
    """The sentences of a source and their subsets.

    Attributes:
        sentences: One row per sentence of the subsets.
        rows: The rows of `DrawnSubsets`.
        left_out: The features without a subset.
        counts: The numbers of sentences and rows, and of cells and features that were left out.
        reports: Name -> a table: the sizes of parts, the values that lack sentences, and why sentences were left out.
    """

    sentences: pd.DataFrame
    rows: pd.DataFrame
    left_out: list[str]
    counts: Mapping[str, int]
    reports: Mapping[str, pd.DataFrame]


def make_source(stage: Stage[RecognitionStage], name: str, source: SentenceSource) -> MadeSource:
    """Generate the sentences of a source, or label and divide mined ones; then draw their subsets.

    Args:
        stage: The stage.
        name: The construction's folder.
        source: The source.
    """
    seed, make, folder = stage.params.seed, stage.params.recognition.make, CONSTRUCTIONS_FOLDER / name
    stage.use(folder / "construction.yaml")
    construction = load_construction(name).for_source(source)
    if source == "mined":
        labels = read_labels(stage.use(folder / "labels.tsv"))
        mined = read_table(stage.use(stage.params.mining.folder_of(name) / "sentences.parquet"))
        labelled = apply_labels(mined, labels)
        how = make.labels
        sentences = split_sequences(labelled.sentences, how.folds, seed, documents_apart=how.documents_apart)
        draws = None
        reasons = [*labelled.left_out.items(), ("label of what was not mined", labelled.unused)]
        reports = {"left_out": pd.DataFrame(reasons, columns=["reason", "number"])}
    else:
        for split in SPLITS:
            stage.use(folder / grammar_file(source, split))
        grammars = load_grammars(name, construction, source=source)
        sentences, draws, not_filled = generate_sentences(name, construction, grammars, make.per_label, seed)
        reports = {"not_filled": not_filled}
    sizes, place = make.subsets_of(source), f"{name}, {source}"
    rows, dropped = draw_subsets(sentences, draws, construction.features, sizes, seed, place)
    used = sentences[sentences["id"].isin(rows["id"])]
    left_out = [feature for feature in construction.features if feature not in set(rows["feature"])]
    counts = {"made": len(sentences), "sentences": len(used), "rows": len(rows)}
    counts |= {"cells_dropped": len(dropped), "features_left_out": len(left_out)}
    return MadeSource(used, rows, left_out, counts, reports | {"parts": part_sizes(rows), "dropped": dropped})


class DrawnSubsets(NamedTuple):
    """The subsets of all features of one source's sentences.

    Attributes:
        rows: One row a drawn sentence: feature, split, value, label, id.
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
        DataError: A feature has no column, or nothing can be drawn.
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
        drawn += all_sentences(sentences, seed)
    if not drawn:
        raise DataError(
            f"{place}: no value of any feature has {sizes.test_per_label} sentences of both labels in the test part "
            f"and {sizes.train_per_label} in the lowest quarter of the training part; lower the numbers in "
            "recognition.make, set its all_sentences: true, or add sentences"
        )
    rows = pd.concat(drawn, ignore_index=True)[_ROWS]
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
        sizes: n* of both parts, per value and label.
        seed: The project's seed.

    Returns:
        The sentences of each part, value and label, none if no value can be filled in the test part or in the lowest
        quarter of the training part; and the values that could not be filled, a row of `NOT_FILLED` each.

    Source:
        Weissweiler et al. 2022, §3 (sampling).
    """
    pool = sentences.rename(columns={feature: "value"}).assign(feature=feature)
    test, dropped = _keep_filled(pool, feature, "test", sizes.test_per_label)
    if test.empty:
        return [], dropped
    v_min, v_max = test["value"].min(), test["value"].max()
    quarter = pool[pool["value"].between(v_min, v_min + (v_max - v_min) / 4)]
    train, dropped_in_training = _keep_filled(quarter, feature, "train", sizes.train_per_label)
    dropped = [*dropped_in_training, *dropped]
    if train.empty:
        return [], dropped
    wanted = {"train": sizes.train_per_label, "test": sizes.test_per_label}
    return _draw({"train": train, "test": test}, wanted, ["value", "label"], seed, "balance", feature), dropped


def all_sentences(sentences: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
    """Draw a subset that is balanced over the labels and ignores the features, for data too scarce for `balance`.

    In each part it has as many sentences of both labels as there are of the rarer one. Training and test part cover the
    same range, so a probe need not generalise from small values to large ones.

    Args:
        sentences: Columns id, label, split.
        seed: The project's seed.

    Returns:
        The sentences of each part and label, of the feature `ALL_SENTENCES` with the one value 0.
    """
    named = sentences.assign(feature=ALL_SENTENCES, value=0)
    parts = {str(split): named[named["split"] == split] for split in SPLITS}
    rarer = {split: min(int((part["label"] == label).sum()) for label in LABELS) for split, part in parts.items()}
    return _draw(parts, rarer, ["label"], seed, "all_sentences")


def _draw(
    parts: Mapping[str, pd.DataFrame], wanted: Mapping[str, int], by: list[str], seed: int, *ids: str
) -> list[pd.DataFrame]:
    """Draw so many sentences of each group of each part."""
    drawn = []
    for split, part in parts.items():
        for group, rows in part.sort_values("id").groupby(by):
            drawn.append(rows.sample(wanted[split], random_state=generator_for(seed, *ids, split, *group)))
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
        rows: Columns feature, split, value, id.

    Returns:
        Columns feature, split, sentences, values (how many), least, greatest.
    """
    return rows.groupby(["feature", "split"], as_index=False, sort=False).agg(
        sentences=("id", "size"), values=("value", "nunique"), least=("value", "min"), greatest=("value", "max")
    )


def read_subsets(folder: Path) -> pd.DataFrame:
    """Read the subsets of one source of sentences.

    Returns:
        One row a drawn sentence: feature, split, value, label, id, text, and columns that begin with ``cluster_``.
    """
    sentences = read_table(folder / "sentences.parquet").filter(regex=f"^(id|text|{CLUSTER}.*)$")
    return read_table(folder / "splits.parquet").merge(sentences, on="id", validate="many_to_one")


def make(stage: Stage[RecognitionStage]) -> Outcome:
    """Make labelled sentences and balanced subsets of every construction and source."""
    counts, tables = Counter[str](), defaultdict[str, list[pd.DataFrame]](list)
    for name, source in stage.params.recognition.sources:
        made = make_source(stage, name, source)
        if made.left_out:
            print(f"{name}, {source}: no probe of {', '.join(made.left_out)}: too few sentences of both labels")
        folder = stage.data / name / source
        write_table(made.sentences, folder / "sentences.parquet")
        write_table(made.rows, folder / "splits.parquet")
        counts.update(made.counts)
        origin = pd.DataFrame({"construction": [name], "source": [source]})
        for stem, report in made.reports.items():
            tables[stem].append(origin.merge(report, how="cross"))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items()})
