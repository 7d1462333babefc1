"""label_sentences: mined sentences and labels -> labelled sentences, in parts that share no sequence of tags."""

import pandas as pd
from cxprobe.recognition.labelled import apply_labels, split_sequences

from cxprobe.constructions.construction import load_construction
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.people.labels import read_labels
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def label_sentences(stage: Stage) -> Outcome:
    name = stage.item["construction"]
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    labels = read_labels(stage.use(CONSTRUCTIONS_FOLDER / name / "labels.tsv"))
    mined = read_table(stage.use(DATA / "mine_sentences" / name / "sentences.parquet"))
    labelled = apply_labels(mined, labels)
    settings, seed = stage.params.label_sentences, stage.params.seed
    table = split_sequences(labelled.sentences, settings.folds, seed, documents_apart=settings.documents_apart)
    # These were not drawn for the values of one feature: each sentence may fill those of all.
    draws = pd.DataFrame({"feature": list(load_construction(name).features)}).merge(table[["id"]], how="cross")
    write_table(table, stage.data / "sentences.parquet")
    write_table(draws, stage.data / "draws.parquet")
    return Outcome(
        counts={
            "sentences": len(table),
            "sequences": table["cluster_template"].nunique(),
            "left_out": sum(labelled.left_out.values()),
            "labels_unused": labelled.unused,
        },
        tables={
            "sizes": table.groupby(["split", "label"], as_index=False).agg(
                sentences=("id", "size"), sequences=("cluster_template", "nunique")
            ),
            "left_out": pd.DataFrame(labelled.left_out.items(), columns=["reason", "sentences"]),
        },
    )


if __name__ == "__main__":
    run_stage(label_sentences, "construction")
