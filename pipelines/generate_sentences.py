"""generate_sentences: a construction's two grammars -> labelled sentences with their features."""

from dataclasses import asdict

import pandas as pd

from cxprobe.constructions import load_construction
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.sentences import generate_sentences as generate
from cxprobe.sentences import load_grammars, shortfall_table
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import write_table


def generate_sentences(stage: Stage) -> Outcome:
    name = stage.item["construction"]
    for file in ("construction.yaml", "train.cfg", "test.cfg"):
        stage.use(CONSTRUCTIONS_FOLDER / name / file)
    construction = load_construction(name)
    per_label = stage.params.generate_sentences.per_label
    sentences, shortfalls = generate(construction, load_grammars(name, construction), per_label, stage.params.seed)
    table = pd.DataFrame([asdict(sentence) | dict(sentence.features) for sentence in sentences])
    write_table(table.drop(columns="features"), stage.data.with_suffix(".parquet"))
    sizes = table.groupby(["split", "label"], as_index=False).size()
    return Outcome(
        metrics={
            "sentences": len(sentences),
            "templates": table["template"].nunique(),
            "cells_not_filled": len(shortfalls),
        },
        tables={"sizes": sizes, "not_filled": shortfall_table(shortfalls)},
    )


if __name__ == "__main__":
    run_stage(generate_sentences, "construction")
