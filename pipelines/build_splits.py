"""build_splits: sentences -> the balanced subset of each feature, as a table of sentence ids."""

import pandas as pd

from cxprobe.constructions import load_construction
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.sentences import balance, shortfall_table
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table, write_table


def build_splits(stage: Stage) -> Outcome:
    name = stage.item["construction"]
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    source = stage.use(DATA / "generate_sentences" / name)
    sentences, draws = read_table(source / "sentences.parquet"), read_table(source / "draws.parquet")
    sizes = stage.params.build_splits
    subsets = [
        balance(
            sentences[sentences["id"].isin(draws.loc[draws["feature"] == feature, "id"])],
            feature,
            train_per_label=sizes.train_per_label,
            test_per_label=sizes.test_per_label,
            seed=stage.params.seed,
        )
        for feature in load_construction(name).features
    ]
    rows = pd.concat([subset.rows for subset in subsets], ignore_index=True)
    write_table(rows, stage.data.with_suffix(".parquet"))
    dropped = [shortfall for subset in subsets for shortfall in subset.dropped]
    parts = rows.groupby(["feature", "split"], as_index=False, sort=False).agg(
        sentences=("id", "size"), values=("value", "nunique"), least=("value", "min"), greatest=("value", "max")
    )
    return Outcome(
        metrics={"sentences": rows["id"].nunique(), "rows": len(rows), "cells_dropped": len(dropped)},
        tables={"parts": parts, "dropped": shortfall_table(dropped)},
    )


if __name__ == "__main__":
    run_stage(build_splits, "construction")
