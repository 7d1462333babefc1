"""The labelled sentences of each source: drawn from grammars, or those of a corpus with the labels of people."""

from typing import NamedTuple

import pandas as pd

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    GrammarSource,
    SentenceSource,
    grammar_file,
)
from cxprobe.constructions.sentences import SPLITS
from cxprobe.files.tables import read_table
from cxprobe.people.labels import read_labels
from cxprobe.recognition.params import RecognitionStage
from cxprobe.recognition.sentences import apply_labels, generate_sentences, load_grammars, mark_spans, split_sequences
from cxprobe.run.stage import Stage


class SourceSentences(NamedTuple):
    """The sentences of one source of a construction.

    Attributes:
        sentences: One row a sentence.
        draws: Which sentences were drawn for the values of which feature.
        tables: For the results, by name: what could not be made or was left out.
    """

    sentences: pd.DataFrame
    draws: pd.DataFrame
    tables: dict[str, pd.DataFrame]


def generated_source(
    stage: Stage[RecognitionStage], name: str, construction: Construction, source: GrammarSource
) -> SourceSentences:
    """Draw sentences from a pair of grammars."""
    for split in SPLITS:
        stage.use(CONSTRUCTIONS_FOLDER / name / grammar_file(source, split))
    grammars = load_grammars(name, construction, source=source)
    per_label, seed = stage.params.recognition.make.per_label, stage.params.seed
    sentences, draws, not_filled = generate_sentences(name, construction, grammars, per_label, seed)
    return SourceSentences(sentences, draws, {"not_filled": not_filled})


def labelled_source(
    stage: Stage[RecognitionStage], name: str, construction: Construction, source: SentenceSource
) -> SourceSentences:
    """Give mined sentences the labels of labels.tsv, and divide them into two parts; mark their spans if asked."""
    labels = read_labels(stage.use(CONSTRUCTIONS_FOLDER / name / "labels.tsv"))
    mined = read_table(stage.use(stage.params.mining.folder_of(name) / "sentences.parquet"))
    labelled = apply_labels(mined, labels)
    how = stage.params.recognition.make.labels
    sentences = split_sequences(labelled.sentences, how.folds, stage.params.seed, documents_apart=how.documents_apart)
    if source == "marked":
        sentences = mark_spans(sentences, mined, f"{name}, {source}")
    # These were not drawn for the values of one feature: each sentence may fill those of all.
    draws = pd.DataFrame({"feature": list(construction.features)}).merge(sentences[["id"]], how="cross")
    reasons = [*labelled.left_out.items(), ("label of what was not mined", labelled.unused)]
    return SourceSentences(sentences, draws, {"left_out": pd.DataFrame(reasons, columns=["reason", "number"])})
