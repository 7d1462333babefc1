"""The labelled sentences of each source: drawn from grammars, or those of a corpus with the labels of people."""

import pandas as pd

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    SentenceSource,
    grammar_file,
    without_marks,
)
from cxprobe.constructions.sentences import SPLITS
from cxprobe.files.tables import read_table
from cxprobe.people.labels import read_labels
from cxprobe.recognition.params import RecognitionStage
from cxprobe.recognition.sentences import apply_labels, generate_sentences, load_grammars, mark_spans, split_sequences
from cxprobe.run.stage import Stage


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
    if (made_as := without_marks(source)) != "mined":
        for split in SPLITS:
            stage.use(CONSTRUCTIONS_FOLDER / name / grammar_file(made_as, split))
        grammars = load_grammars(name, construction, source=made_as)
        generated = generate_sentences(name, construction, grammars, make.per_label, seed)
        return generated.sentences, generated.draws, {"not_filled": generated.not_filled}
    labels = read_labels(stage.use(CONSTRUCTIONS_FOLDER / name / "labels.tsv"))
    mined = read_table(stage.use(stage.params.mining.folder_of(name) / "sentences.parquet"))
    labelled = apply_labels(mined, labels)
    sentences = split_sequences(
        labelled.sentences, make.labels.folds, seed, documents_apart=make.labels.documents_apart
    )
    if source == "marked":
        sentences = mark_spans(sentences, mined, f"{name}, {source}")
    # These were not drawn for the values of one feature: each sentence may fill those of all.
    draws = pd.DataFrame({"feature": list(construction.features)}).merge(sentences[["id"]], how="cross")
    reasons = [*labelled.left_out.items(), ("label of what was not mined", labelled.unused)]
    return sentences, draws, {"left_out": pd.DataFrame(reasons, columns=["reason", "number"])}
