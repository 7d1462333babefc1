"""make_recognition: grammars, mined sentences and labels -> labelled sentences in balanced subsets, of every source."""

from collections import Counter

import pandas as pd

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    GrammarSource,
    SentenceSource,
    grammar_file,
    load_construction,
    without_marks,
)
from cxprobe.constructions.sentences import SPLITS
from cxprobe.corpora.pattern import require_slots
from cxprobe.files.tables import read_table, write_table
from cxprobe.people.labels import read_labels
from cxprobe.recognition.make import draw_subsets, part_sizes
from cxprobe.recognition.sentences import apply_labels, generate_sentences, load_grammars, mark_spans, split_sequences
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def make_recognition(stage: Stage) -> Outcome:
    counts = Counter[str]()
    tables: dict[str, list[pd.DataFrame]] = {}
    section = stage.params.recognition
    for name in (name for name, sources in section.constructions.items() if "marked" in sources):
        stage.use(CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
        require_slots(name)
    for name, source in ((name, source) for name, sources in section.constructions.items() for source in sources):
        stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
        construction = load_construction(name).for_source(source)
        if (made_as := without_marks(source)) == "mined":
            sentences, draws, made = _label(stage, name, construction, source)
        else:
            sentences, draws, made = _generate(stage, name, construction, made_as)
        subsets = draw_subsets(
            sentences,
            draws,
            construction.features,
            getattr(section.make, made_as),
            seed=stage.params.seed,
            place=f"{name}, {source}",
        )
        left_out = [feature for feature in construction.features if feature not in set(subsets.rows["feature"])]
        if left_out:
            print(f"{name}, {source}: left out, since no value can be filled: {', '.join(left_out)}")
        folder = stage.data / name / source
        write_table(sentences[sentences["id"].isin(subsets.rows["id"])], folder / "sentences.parquet")
        write_table(subsets.rows, folder / "splits.parquet")
        counts.update(
            made=len(sentences),
            sentences=subsets.rows["id"].nunique(),
            rows=len(subsets.rows),
            cells_dropped=len(subsets.dropped),
            features_left_out=len(left_out),
        )
        sizes = sentences.groupby(["split", "label"], as_index=False).agg(
            sentences=("id", "size"), templates=("cluster_template", "nunique")
        )
        made = {**made, "made": sizes, "parts": part_sizes(subsets.rows), "dropped": subsets.dropped}
        origin = pd.DataFrame({"construction": [name], "source": [source]})
        for stem, table in made.items():
            tables.setdefault(stem, []).append(origin.merge(table, how="cross"))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items()})


Made = tuple[pd.DataFrame, pd.DataFrame, dict[str, pd.DataFrame]]  # sentences, draws, and tables for the results


def _generate(stage: Stage, name: str, construction: Construction, source: GrammarSource) -> Made:
    """Draw sentences from a pair of grammars."""
    for split in SPLITS:
        stage.use(CONSTRUCTIONS_FOLDER / name / grammar_file(source, split))
    grammars = load_grammars(name, construction, source=source)
    per_label, seed = stage.params.recognition.make.per_label, stage.params.seed
    sentences, draws, not_filled = generate_sentences(name, construction, grammars, per_label, seed)
    return sentences, draws, {"not_filled": not_filled}


def _label(stage: Stage, name: str, construction: Construction, source: SentenceSource) -> Made:
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
    return sentences, draws, {"left_out": pd.DataFrame(reasons, columns=["reason", "number"])}


if __name__ == "__main__":
    run_stage(make_recognition)
