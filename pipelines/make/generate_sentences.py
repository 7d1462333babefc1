"""generate_sentences: a construction's two grammars -> labelled sentences with their features."""

from cxprobe.constructions import load_construction
from cxprobe.make.sentences import draw_table, load_grammars, sentence_table, shortfall_table
from cxprobe.make.sentences import generate_sentences as generate
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import write_table


def generate_sentences(stage: Stage) -> Outcome:
    name = stage.item["construction"]
    for file in ("construction.yaml", "train.cfg", "test.cfg"):
        stage.use(CONSTRUCTIONS_FOLDER / name / file)
    construction = load_construction(name)
    generated = generate(
        name,
        construction,
        load_grammars(name, construction),
        stage.params.generate_sentences.per_label,
        stage.params.seed,
    )
    table, draws = sentence_table(generated.sentences), draw_table(generated.draws)
    write_table(table, stage.data / "sentences.parquet")
    write_table(draws, stage.data / "draws.parquet")
    return Outcome(
        counts={
            "sentences": len(table),
            "draws": len(draws),
            "templates": table["cluster_template"].nunique(),
            "cells_not_filled": len(generated.shortfalls),
        },
        tables={
            "sizes": table.groupby(["split", "label"], as_index=False).size(),
            "not_filled": shortfall_table(generated.shortfalls),
        },
    )


if __name__ == "__main__":
    run_stage(generate_sentences, "construction")
