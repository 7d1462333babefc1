"""The labelled sentences of each source: drawn from grammars, or those of a corpus with the labels of people."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    SentenceSource,
    grammar_file,
    load_construction,
)
from cxprobe.constructions.sentences import SPLITS
from cxprobe.files.tables import read_table
from cxprobe.labels.labels import PersonLabel, read_labels
from cxprobe.results.params import ReportParams
from cxprobe.run.stage import Stage
from cxprobe.tasks.recognition.make import draw_subsets
from cxprobe.tasks.recognition.params import MakeRecognition, RecognitionParams, RecognitionStage
from cxprobe.tasks.recognition.sentences import (
    apply_labels,
    generate_sentences,
    load_grammars,
    mark_spans,
    split_sequences,
)


def source_sentences(
    stage: Stage[RecognitionStage], name: str, construction: Construction, source: SentenceSource
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]:
    """Draw the sentences of a source from a pair of grammars, or give mined ones their labels and parts.

    Args:
        stage: The stage.
        name: The construction's folder.
        construction: What its construction.yaml says of the source: what `Construction.for_source` returns.
        source: Where the sentences come from; those of "marked" have their spans.

    Returns:
        One row a sentence; which sentences may fill the values of which feature, with the columns feature and id; and,
        by name, what could not be made or was left out.
    """
    seed, make = stage.params.seed, stage.params.recognition.make
    if source in ("generated", "balanced"):
        for split in SPLITS:
            stage.use(CONSTRUCTIONS_FOLDER / name / grammar_file(source, split))
        grammars = load_grammars(name, construction, source=source)
        generated = generate_sentences(name, construction, grammars, make.per_label, seed)
        return generated.sentences, generated.draws, {"not_filled": generated.not_filled}
    labels = read_labels(stage.use(CONSTRUCTIONS_FOLDER / name / "labels.tsv"))
    mined = read_table(stage.use(stage.params.mining.folder_of(name) / "sentences.parquet"))
    labelled = apply_labels(mined, labels)
    sentences = _split(labelled.sentences, make, seed)
    if source == "marked":
        sentences = mark_spans(sentences, mined, f"{name}, {source}")
    draws = _draws_of_all(sentences, construction)
    reasons = [*labelled.left_out.items(), ("label of what was not mined", labelled.unused)]
    return sentences, draws, {"left_out": pd.DataFrame(reasons, columns=["reason", "number"])}


def subsets_of_labels(
    name: str, params: ReportParams, mined: pd.DataFrame, labels: Sequence[PersonLabel]
) -> pd.DataFrame:
    """Return the test part of the subsets that mined sentences would have with these labels: feature, value, label, id.

    Raises:
        DataError: The labels do not suffice for a probe; see `split_sequences` and `draw_subsets`.
    """
    make, construction = params.section(RecognitionParams).make, load_construction(name)
    sentences = _split(apply_labels(mined, labels).sentences, make, params.seed)
    draws, place = _draws_of_all(sentences, construction), f"{name}, mined"
    rows = draw_subsets(sentences, draws, construction.features, make.mined, seed=params.seed, place=place).rows
    return rows[rows["split"] == "test"]


def _split(labelled: pd.DataFrame, make: MakeRecognition, seed: int) -> pd.DataFrame:
    return split_sequences(labelled, make.labels.folds, seed, documents_apart=make.labels.documents_apart)


def _draws_of_all(sentences: pd.DataFrame, construction: Construction) -> pd.DataFrame:
    """Return the sentences that may fill the values of each feature: all, since none was drawn for one of them."""
    return pd.DataFrame({"feature": list(construction.features)}).merge(sentences[["id"]], how="cross")
