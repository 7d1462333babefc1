"""The sentences of each source, and their subsets: for each feature one that is balanced, in two parts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from cxprobe.constructions import ALL_SENTENCES, LABELS, SPLITS, Split
from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    SentenceSource,
    grammar_file,
    load_construction,
)
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.labels import read_labels
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.recognition.params import RecognitionStage, Subsets
from cxprobe.tasks.recognition.sentences import apply_labels, generate_sentences, load_grammars, split_sequences

DROPPED = ["split", "feature", "value", "label", "wanted", "found"]
"""Columns of a table of values of a feature that have too few sentences of a label."""
Dropped = tuple[object, ...]


def make(stage: Stage[RecognitionStage]) -> Outcome:
    """Make labelled sentences and balanced subsets of every construction and source.

    Writes ``sentences.parquet``, the sentences of the subsets, and ``splits.parquet``, a row a drawn sentence; and
    tables of the sizes of parts, of values that lack sentences, and of why labelled sentences were left out.
    """
    counts, tables = Counter[str](), defaultdict[str, list[pd.DataFrame]](list)
    for name, source in stage.params.recognition.sources:
        stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
        construction = load_construction(name).for_source(source)
        sentences, draws, left_out = make_sentences(stage, name, source, construction)
        sizes, place = getattr(stage.params.recognition.make, source), f"{name}, {source}"
        rows, dropped = draw_subsets(sentences, draws, construction.features, sizes, stage.params.seed, place)
        unfilled = [feature for feature in construction.features if feature not in set(rows["feature"])]
        if unfilled:
            print(f"{place}: no probe of {', '.join(unfilled)}: too few sentences of both labels")
        used, folder = sentences[sentences["id"].isin(rows["id"])], stage.data / name / source
        write_table(used, folder / "sentences.parquet")
        write_table(rows, folder / "splits.parquet")
        sizes_made = {"made": len(sentences), "sentences": len(used), "rows": len(rows)}
        counts.update(sizes_made, cells_dropped=len(dropped), features_left_out=len(unfilled))
        parts = rows.groupby(["feature", "split"], as_index=False, sort=False).agg(
            sentences=("id", "size"), values=("value", "nunique"), least=("value", "min"), greatest=("value", "max")
        )
        reasons = pd.DataFrame(left_out.items(), columns=["reason", "number"])
        for stem, report in {"parts": parts, "dropped": dropped, "left_out": reasons}.items():
            if len(report):
                tables[stem].append(report.assign(construction=name, source=source))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items()})


def make_sentences(
    stage: Stage[RecognitionStage], name: str, source: SentenceSource, construction: Construction
) -> tuple[pd.DataFrame, Mapping[str, Sequence[str]], Mapping[str, int]]:
    """Generate the sentences of a source, or label and divide mined ones.

    Args:
        stage: The stage.
        name: The construction's folder.
        source: The source.
        construction: Its construction.yaml, as `Construction.for_source` returns it for the source.

    Returns:
        The sentences; the draws of features, see `draw_subsets`; and how many labelled ones were left out, by reason.
    """
    seed, make, folder = stage.params.seed, stage.params.recognition.make, CONSTRUCTIONS_FOLDER / name
    if source == "mined":
        labels = read_labels(stage.use(folder / "labels.tsv"))
        mined = read_table(stage.use(stage.params.mining.folder_of(name) / "sentences.parquet"))
        (labelled, left_out), how = apply_labels(mined, labels), make.labels
        return split_sequences(labelled, how.folds, seed, documents_apart=how.documents_apart), {}, left_out
    for split in SPLITS:
        stage.use(folder / grammar_file(source, split))
    grammars = load_grammars(name, construction, source=source)
    return *generate_sentences(name, construction, grammars, make.per_label, seed), {}


def draw_subsets(
    sentences: pd.DataFrame,
    draws: Mapping[str, Sequence[str]],
    features: Iterable[str],
    sizes: Subsets,
    seed: int,
    place: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw the balanced subset of every feature, and that of all sentences if ``sizes`` asks for it.

    A feature of which no value can be filled has no rows.

    Args:
        sentences: Columns id, label, split, and one for each feature.
        draws: Feature -> the ids of the sentences that may fill its values; {} for all of them.
        features: Names of the features; there may be none if all sentences are drawn.
        sizes: How many sentences are drawn; a part of the section recognition.make.
        seed: The project's seed.
        place: Construction and source, for messages.

    Returns:
        One row a drawn sentence: feature, split, value, label, id. And the columns `DROPPED`: the values that could not
        be filled for both labels, and for which label.

    Raises:
        DataError: Nothing can be drawn.
    """
    drawn, dropped = list[pd.DataFrame](), list[Dropped]()
    for feature in features:
        pool = sentences[sentences["id"].isin(draws[feature])] if draws else sentences
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
    rows = pd.concat(drawn, ignore_index=True)[["feature", "split", "value", "label", "id"]]
    return rows, pd.DataFrame(dropped, columns=DROPPED)


def balance(
    sentences: pd.DataFrame, feature: str, sizes: Subsets, seed: int
) -> tuple[list[pd.DataFrame], list[Dropped]]:
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
        quarter of the training part; and the values that could not be filled, a row of `DROPPED` each.

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
    dropped = dropped_in_training + dropped
    if train.empty:
        return [], dropped
    by, ids = ["value", "label"], (seed, "balance", feature)
    groups = _draw(train, "train", sizes.train_per_label, by, *ids)
    return groups + _draw(test, "test", sizes.test_per_label, by, *ids), dropped


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
    named, drawn = sentences.assign(feature=ALL_SENTENCES, value=0), list[pd.DataFrame]()
    for split in SPLITS:
        part = named[named["split"] == split]
        rarer = min(int((part["label"] == label).sum()) for label in LABELS)
        drawn += _draw(part, split, rarer, ["label"], seed, "all_sentences")
    return drawn


def _draw(part: pd.DataFrame, split: Split, wanted: int, by: list[str], seed: int, *ids: str) -> list[pd.DataFrame]:
    """Draw so many sentences of each group of a part."""
    groups = part.sort_values("id").groupby(by)
    return [rows.sample(wanted, random_state=generator_for(seed, *ids, split, *group)) for group, rows in groups]


def _keep_filled(pool: pd.DataFrame, feature: str, split: Split, wanted: int) -> tuple[pd.DataFrame, list[Dropped]]:
    """Return a part's sentences of the values that have ``wanted`` of both labels, and the other values."""
    part = pool[pool["split"] == split]
    counts = pd.crosstab(part["value"], part["label"]).reindex(columns=list(LABELS), fill_value=0)
    dropped: list[Dropped] = [
        (split, feature, value, label, wanted, number)
        for value, by_label in counts.to_dict("index").items()
        for label, number in by_label.items()
        if number < wanted
    ]
    enough = counts.index[(counts >= wanted).all(axis=1)]
    return part[part["value"].isin(enough)], dropped
