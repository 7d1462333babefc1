"""report_benchmarks: judged pairs of a benchmark -> accuracies of every model by score, comparisons, cards, figures."""

import pandas as pd

from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member, members_of
from cxprobe.pairs.judge import benchmark_scores, construction_of, with_groups
from cxprobe.pairs.judge_asked import asked_rates
from cxprobe.pairs.judged import read_judged_benchmark
from cxprobe.pairs.report import benchmark_cards, benchmark_figures
from cxprobe.pairs.series import along_series, earlier_checkpoints, series_runs
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage
from cxprobe.stats import rate_by, with_tie_rate


def report_benchmarks(stage: Stage) -> Outcome:
    name, series, grid = stage.item["benchmark"], stage.params.series, stage.params.grid.benchmarks
    benchmark, limit = stage.params.benchmarks[name], stage.params.cards.limit
    members = members_of(stage.params.models, grid.models, stage.params.llms, grid.llms)
    settings = stage.settings("score_pairs", "judge_pairs", f"benchmarks.{name}")
    pairs = stage.use(DATA / "build_benchmarks" / f"{name}.parquet")
    judged = _judged(stage, members, benchmark.by)
    accuracy = with_tie_rate(rate_by(judged, "accuracy", ["model", "group"]))
    along, cards = along_series(judged, series, "group"), benchmark_cards(judged, members, limit)
    best = best_blind(accuracy, ["group"], members)
    title = f"{name}, {benchmark.score.replace('_', ' ')}"
    figures = benchmark_figures({"accuracy": accuracy, "series": along, **cards}, best, title, members)
    compared = judged[~judged["model"].isin(earlier_checkpoints(series))]
    tables = {"series": along, "comparisons": with_blanks(compare_models(compared, ["group"], members)), **cards}
    by_score = {one.slug: benchmark_scores(_read(stage, [one], "scores"), benchmark.by) for one in members}
    tables["scores"] = pd.concat(by_score, names=["model", None]).reset_index(level="model")
    if asked := [one for one in members if one.is_asked]:
        replies = with_groups(_read(stage, asked, "replies"), benchmark.by)
        tables["asked"] = asked_rates(replies, ["model", "group"])
    constructions = _judged(stage, members, benchmark.by[:1])  # as the judged runs of each model are divided
    constructions["group"] = constructions["group"].map(construction_of)
    runs = series_runs(along_series(constructions, series, "group"), "group")
    return Outcome(
        counts={"models": accuracy["model"].nunique(), "groups": accuracy["group"].nunique() - 1},
        tables={"accuracy": accuracy} | {f"tables/{stem}": table for stem, table in tables.items()},
        figures={f"figures/{stem}": figure for stem, figure in figures.items()},
        runs=[JudgedRun(source=name, dataset=pairs, settings=settings, **run) for run in runs],
    )


def _judged(stage: Stage, members: list[Member], by: list[str]) -> pd.DataFrame:
    """Return the judged pairs of all models, once as group "all" and once in their own group."""
    return pd.concat([with_groups(_read(stage, [one], "items"), by) for one in members], ignore_index=True)


def _read(stage: Stage, members: list[Member], table: str) -> pd.DataFrame:
    return read_judged_benchmark(stage.use, stage.item["benchmark"], members, table)


if __name__ == "__main__":
    run_stage(report_benchmarks, "benchmark")
