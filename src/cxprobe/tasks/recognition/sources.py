"""The sentences and subsets of each source: generated from grammars, or mined and labelled by people."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    SentenceSource,
    grammar_file,
    load_construction,
)
from cxprobe.constructions.sentences import SPLITS
from cxprobe.corpora.pattern import require_slots
from cxprobe.files.tables import read_table
from cxprobe.labels import read_labels
from cxprobe.run.stage import Stage
from cxprobe.tasks.recognition.make import draw_subsets, part_sizes
from cxprobe.tasks.recognition.params import RecognitionStage
from cxprobe.tasks.recognition.sentences import (
    apply_labels,
    generate_sentences,
    load_grammars,
    mark_spans,
    split_sequences,
)


class MadeSource(NamedTuple):
    """The sentences of a source and their subsets.

    Attributes:
        sentences: One row per sentence of the subsets.
        rows: The rows of `cxprobe.tasks.recognition.make.DrawnSubsets`.
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
        source: The source; "construction_span" means mined sentences with spans.
    """
    seed, make, folder = stage.params.seed, stage.params.recognition.make, CONSTRUCTIONS_FOLDER / name
    stage.use(folder / "construction.yaml")
    construction = load_construction(name).for_source(source)
    if source in ("generated", "balanced"):
        for split in SPLITS:
            stage.use(folder / grammar_file(source, split))
        grammars = load_grammars(name, construction, source=source)
        sentences, draws, not_filled = generate_sentences(name, construction, grammars, make.per_label, seed)
        reports = {"not_filled": not_filled}
    else:
        labels = read_labels(stage.use(folder / "labels.tsv"))
        mined = read_table(stage.use(stage.params.mining.folder_of(name) / "sentences.parquet"))
        labelled = apply_labels(mined, labels)
        how = make.labels
        sentences = split_sequences(labelled.sentences, how.folds, seed, documents_apart=how.documents_apart)
        draws = None
        if source == "construction_span":
            stage.use(folder / "pattern.yaml")
            require_slots(name)
            sentences = mark_spans(sentences, mined, f"{name}, {source}")
        reasons = [*labelled.left_out.items(), ("label of what was not mined", labelled.unused)]
        reports = {"left_out": pd.DataFrame(reasons, columns=["reason", "number"])}
    sizes, place = make.subsets_of(source), f"{name}, {source}"
    rows, dropped = draw_subsets(sentences, draws, construction.features, sizes, seed, place)
    used = sentences[sentences["id"].isin(rows["id"])]
    left_out = [feature for feature in construction.features if feature not in set(rows["feature"])]
    counts = {"made": len(sentences), "sentences": len(used), "rows": len(rows)}
    counts |= {"cells_dropped": len(dropped), "features_left_out": len(left_out)}
    return MadeSource(used, rows, left_out, counts, reports | {"parts": part_sizes(rows), "dropped": dropped})
