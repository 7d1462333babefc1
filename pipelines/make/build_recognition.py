"""build_recognition: sentences -> the balanced subset of each feature, for every source of every construction."""

from collections import Counter

import pandas as pd

from cxprobe.constructions.construction import load_construction
from cxprobe.files.schema import Source
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.recognition.make import DrawnSubsets, draw_subsets, part_sizes, shortfall_table
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

FOLDERS = {  # source -> where its sentences are
    "generated": "generate_sentences/{construction}/generated",
    "balanced": "generate_sentences/{construction}/balanced",
    "mined": "label_sentences/{construction}",
}


def build_recognition(stage: Stage) -> Outcome:
    counts = Counter[str]()
    tables: dict[str, list[pd.DataFrame]] = {"parts": [], "dropped": []}
    for name, sources in stage.params.grid.recognition.constructions.items():
        for source in sources:
            subsets = _draw(stage, name, source)
            counts.update(
                sentences=subsets.rows["id"].nunique(),
                rows=len(subsets.rows),
                cells_dropped=len(subsets.dropped),
                features_left_out=len(subsets.left_out),
            )
            origin = pd.DataFrame({"construction": [name], "source": [source]})
            tables["parts"].append(origin.merge(part_sizes(subsets.rows), how="cross"))
            tables["dropped"].append(origin.merge(shortfall_table(subsets.dropped), how="cross"))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items() if parts})


def _draw(stage: Stage, name: str, source: Source) -> DrawnSubsets:
    """Draw and write the subsets of one source of a construction, beside the sentences that are in them."""
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    folder = stage.use(DATA / FOLDERS[source].format(construction=name))
    sentences = read_table(folder / "sentences.parquet")
    subsets = draw_subsets(
        sentences,
        read_table(folder / "draws.parquet"),
        load_construction(name).for_source(source).features,
        getattr(stage.params.build_recognition, source),
        seed=stage.params.seed,
        place=f"{name}, {source}",
    )
    if subsets.left_out:
        print(f"{name}, {source}: left out, since no value can be filled: {', '.join(subsets.left_out)}")
    write_table(sentences[sentences["id"].isin(subsets.rows["id"])], stage.data / name / source / "sentences.parquet")
    write_table(subsets.rows, stage.data / name / source / "splits.parquet")
    return subsets


if __name__ == "__main__":
    run_stage(build_recognition)
