"""report_benchmarks: judged pairs of a benchmark of others -> the accuracies of every model side by side, figures."""

import pandas as pd

from cxprobe.judge import construction_of, with_groups
from cxprobe.report import along_series, dots, series_figures, series_runs
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.stats import rate_by, with_tie_rate
from cxprobe.storage import DATA, read_table

COLUMNS = ["model", "group", "accuracy", "low", "high", "n", "ties", "tie_rate"]


def report_benchmarks(stage: Stage) -> Outcome:
    name, series = stage.item["benchmark"], stage.params.series
    benchmark = stage.params.benchmarks[name]
    settings = stage.settings("score_pairs", "judge_pairs", f"benchmarks.{name}")
    pairs = stage.use(DATA / "build_benchmarks" / f"{name}.parquet")
    title = f"{name}, {benchmark.score.replace('_', ' ')}"
    judged = _judged(stage, name, benchmark.by)
    accuracy = with_tie_rate(rate_by(judged, "accuracy", ["model", "group"]))[COLUMNS]
    along = along_series(judged, series, "group")
    panel = accuracy.assign(benchmark=name)
    figures = {
        "accuracy": dots(panel, title, rows="group", colours="model", panels="benchmark"),
        **series_figures(along, "group", title),
    }
    constructions = _judged(stage, name, benchmark.by[:1])  # as the judged runs of each model are divided
    constructions["group"] = constructions["group"].map(construction_of)
    runs = series_runs(along_series(constructions, series, "group"), "group")
    return Outcome(
        counts={"models": accuracy["model"].nunique(), "groups": accuracy["group"].nunique() - 1},
        tables={"accuracy": accuracy, "tables/series": along},
        figures={f"figures/{stem}": figure for stem, figure in figures.items()},
        runs=[JudgedRun(source=name, dataset=pairs, settings=settings, **run) for run in runs],
    )


def _judged(stage: Stage, name: str, by: list[str]) -> pd.DataFrame:
    """Return the judged pairs of all models, once as group "all" and once in their own group."""
    tables = []
    for model in stage.params.grid.benchmarks.models:
        items = read_table(stage.use(DATA / "judge_benchmarks" / model / name / "items.parquet"))
        tables.append(with_groups(items, by).assign(model=model))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    run_stage(report_benchmarks, "benchmark")
