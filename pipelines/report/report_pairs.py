"""report_pairs: judged pairs of every model -> accuracies, biases, series of checkpoints or sizes, figures."""

from pathlib import Path

import pandas as pd

from cxprobe.judge import JudgedPairs, pair_tables
from cxprobe.report import (
    accuracies_of_meaning,
    earlier_checkpoints,
    pair_figures,
    pairs_along_series,
    pairs_beside_published,
    series_figures,
    series_runs,
)
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

PUBLISHED = [Path(f"published/oba2026_{name}.tsv") for name in ("objectives", "human_validation")]


def report_pairs(stage: Stage) -> Outcome:
    series, score = stage.params.series, stage.params.judge_pairs.score.replace("_", " ")
    judged = JudgedPairs(_read(stage, "items"), _read(stage, "scores"))
    tables = pair_tables(judged, ["model"])
    along, overall = pairs_along_series(judged.items, series)
    figures = pair_figures(tables, score, earlier_checkpoints(series)) | series_figures(along, "construction", score)
    objectives, people = (pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED)
    tables["series"] = along
    tables["beside_published"] = pairs_beside_published(
        accuracies_of_meaning(judged.items), objectives, people, "Oba & Sugawara 2026, their items"
    )
    accuracy, settings = tables.pop("constructions"), stage.settings("build_pairs", "score_pairs", "judge_pairs")
    pairs = stage.use(DATA / "build_pairs")
    return Outcome(
        counts={"models": accuracy["model"].nunique(), "constructions": accuracy["construction"].nunique()},
        tables={"accuracy": accuracy} | {f"tables/{name}": table for name, table in tables.items()},
        figures={f"figures/{name}": figure for name, figure in figures.items()},
        runs=[
            JudgedRun(source="own", dataset=pairs, settings=settings, **run)
            for run in series_runs(pd.concat([along, overall]), "construction")
        ],
    )


def _read(stage: Stage, name: str) -> pd.DataFrame:
    """Return a table of judged pairs of all models, construction by construction."""
    grid = stage.params.grid.pairs
    folders = {DATA / "judge_pairs" / model / one: model for one in grid.constructions for model in grid.models}
    tables = [
        read_table(stage.use(folder / f"{name}.parquet")).assign(model=model) for folder, model in folders.items()
    ]
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    run_stage(report_pairs)
