"""report_benchmarks: judged pairs of a benchmark -> accuracies of every model, comparisons, cards, figures."""

import pandas as pd

from cxprobe.judge import best_blind, compare_models, construction_of, with_groups
from cxprobe.params import members_of
from cxprobe.report import (
    along_series,
    benchmark_cards,
    benchmark_figures,
    earlier_checkpoints,
    series_runs,
    with_blanks,
)
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.stats import rate_by, with_tie_rate
from cxprobe.storage import DATA, read_table

COLUMNS = ["model", "group", "accuracy", "low", "high", "n", "ties", "tie_rate"]


def report_benchmarks(stage: Stage) -> Outcome:
    name, series = stage.item["benchmark"], stage.params.series
    benchmark, limit = stage.params.benchmarks[name], stage.params.cards.limit
    members = members_of(stage.params.models, stage.params.grid.benchmarks.models)
    settings = stage.settings("score_pairs", "judge_pairs", f"benchmarks.{name}")
    pairs = stage.use(DATA / "build_benchmarks" / f"{name}.parquet")
    judged = _judged(stage, name, benchmark.by)
    accuracy = with_tie_rate(rate_by(judged, "accuracy", ["model", "group"]))[COLUMNS]
    along = along_series(judged, series, "group")
    cards = benchmark_cards(judged, members, limit)
    best = best_blind(accuracy, ["group"], members)
    title = f"{name}, {benchmark.score.replace('_', ' ')}"
    figures = benchmark_figures({"accuracy": accuracy, "series": along, **cards}, best, title, members)
    compared = judged[~judged["model"].isin(earlier_checkpoints(series))]
    tables = {"series": along, "comparisons": with_blanks(compare_models(compared, ["group"], members)), **cards}
    constructions = _judged(stage, name, benchmark.by[:1])  # as the judged runs of each model are divided
    constructions["group"] = constructions["group"].map(construction_of)
    runs = series_runs(along_series(constructions, series, "group"), "group")
    return Outcome(
        counts={"models": accuracy["model"].nunique(), "groups": accuracy["group"].nunique() - 1},
        tables={"accuracy": accuracy} | {f"tables/{stem}": table for stem, table in tables.items()},
        figures={f"figures/{stem}": figure for stem, figure in figures.items()},
        runs=[JudgedRun(source=name, dataset=pairs, settings=settings, **run) for run in runs],
    )


def _judged(stage: Stage, name: str, by: list[str]) -> pd.DataFrame:
    """Return the judged pairs of all models, once as group "all" and once in their own group."""
    tables = []
    for member in members_of(stage.params.models, stage.params.grid.benchmarks.models):
        folder = stage.use(DATA / "judge_benchmarks" / member.entry / name)
        items = read_table(folder / member.inside / "items.parquet")
        tables.append(with_groups(items, by).assign(model=member.slug))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    run_stage(report_benchmarks, "benchmark")
