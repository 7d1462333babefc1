"""build_splits: sentences -> the balanced subset of each feature, as a table of sentence ids."""

import pandas as pd

from cxprobe.constructions import load_construction
from cxprobe.errors import DataError
from cxprobe.params import CONSTRUCTIONS_FOLDER, Subsets
from cxprobe.sentences import all_sentences, balance, shortfall_table
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table, write_table


def build_splits(stage: Stage) -> Outcome:
    source, name = stage.item.values()
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    folder = stage.use(DATA / source / name)
    sentences, draws = read_table(folder / "sentences.parquet"), read_table(folder / "draws.parquet")
    sizes: Subsets = getattr(stage.params.build_splits, source)
    subsets = {
        feature: balance(
            sentences[sentences["id"].isin(draws.loc[draws["feature"] == feature, "id"])],
            feature,
            train_per_label=sizes.train_per_label,
            test_per_label=sizes.test_per_label,
            seed=stage.params.seed,
        )
        for feature in load_construction(name).features
    }
    left_out = [feature for feature, subset in subsets.items() if subset.rows.empty]
    drawn = [subset.rows for feature, subset in subsets.items() if feature not in left_out]
    if sizes.all_sentences:
        drawn.append(all_sentences(sentences, stage.params.seed))
    if not drawn:
        raise DataError(_nothing_left(source, name, sizes))
    rows = pd.concat(drawn, ignore_index=True)
    write_table(rows, stage.data.with_suffix(".parquet"))
    dropped = [shortfall for subset in subsets.values() for shortfall in subset.dropped]
    parts = rows.groupby(["feature", "split"], as_index=False, sort=False).agg(
        sentences=("id", "size"), values=("value", "nunique"), least=("value", "min"), greatest=("value", "max")
    )
    print(f"left out, since no value can be filled: {', '.join(left_out) or 'no feature'}")
    return Outcome(
        metrics={
            "sentences": rows["id"].nunique(),
            "rows": len(rows),
            "cells_dropped": len(dropped),
            "features_left_out": len(left_out),
        },
        tables={"parts": parts, "dropped": shortfall_table(dropped)},
    )


def _nothing_left(source: str, name: str, sizes: Subsets) -> str:
    return (
        f"{source}, {name}: no value of any feature has {sizes.test_per_label} sentences of both labels in the test "
        f"part and {sizes.train_per_label} in the lowest quarter of the training part; lower the numbers in "
        f"build_splits.{source}, switch its all_sentences on, or bring more sentences"
    )


if __name__ == "__main__":
    run_stage(build_splits, "source", "construction")
