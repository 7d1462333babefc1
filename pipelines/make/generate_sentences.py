"""generate_sentences: a construction's pairs of grammars -> labelled sentences with their features."""

from collections import Counter

import pandas as pd

from cxprobe.constructions.construction import Construction, grammar_file, load_construction
from cxprobe.constructions.sentences import SPLITS
from cxprobe.files.schema import Source
from cxprobe.files.tables import write_table
from cxprobe.recognition.make import draw_table, load_grammars, sentence_table, shortfall_table
from cxprobe.recognition.make import generate_sentences as generate
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def generate_sentences(stage: Stage) -> Outcome:
    name = stage.item["construction"]
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    construction = load_construction(name)
    counts = Counter[str]()
    tables: dict[str, list[pd.DataFrame]] = {"sizes": [], "not_filled": []}
    for source in ("generated", "balanced") if construction.balanced else ("generated",):
        of_source = _generate(stage, name, construction, source)
        counts.update(of_source.counts)
        for stem, parts in tables.items():
            parts.append(of_source.tables[stem].assign(source=source))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items()})


def _generate(stage: Stage, name: str, construction: Construction, source: Source) -> Outcome:
    """Draw and write the sentences of one pair of grammars."""
    for split in SPLITS:
        stage.use(CONSTRUCTIONS_FOLDER / name / grammar_file(source, split))
    pair = construction.for_source(source)
    grammars = load_grammars(name, pair, source=source)
    generated = generate(name, pair, grammars, stage.params.generate_sentences.per_label, stage.params.seed)
    table, draws = sentence_table(generated.sentences), draw_table(generated.draws)
    write_table(table, stage.data / source / "sentences.parquet")
    write_table(draws, stage.data / source / "draws.parquet")
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
