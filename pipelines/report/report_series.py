"""report_series: judged pairs of all series of models -> accuracies along them, one figure for each quantity."""

from collections.abc import Sequence

from cxprobe.lm.params import Member, members_of
from cxprobe.pairs.judge import with_groups
from cxprobe.pairs.judged import read_judged_benchmark, read_judged_pairs
from cxprobe.pairs.report import pairs_in_groups
from cxprobe.pairs.series import OWN, rates_by_source, side_by_side, with_series
from cxprobe.report.comparisons import best_blind
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def report_series(stage: Stage) -> Outcome:
    params, grid = stage.params, stage.params.grid
    pairs = read_judged_pairs(stage.use, _drawn(stage, grid.pairs.models), grid.pairs.constructions, "items")
    sources, scores = {OWN: pairs_in_groups(pairs)}, {OWN: params.judge_pairs.score}
    members = _drawn(stage, grid.benchmarks.models)
    for name in grid.benchmarks.benchmarks if members else ():
        items = read_judged_benchmark(stage.use, name, members, "items")
        sources[name], scores[name] = with_groups(items, params.benchmarks[name].by), params.benchmarks[name].score
    rates = rates_by_source(sources)
    along = with_series(rates, params.series)
    best = best_blind(rates, ["source", "group"], _drawn(stage, [*grid.pairs.models, *grid.benchmarks.models]))
    title = ", ".join(f"{source} ({score.replace('_', ' ')})" for source, score in scores.items())
    return Outcome(
        counts={"series": along["series"].nunique(), "models": along["model"].nunique()},
        tables={"accuracy": along, "tables/best_blind": best},
        figures={f"figures/{name}": figure for name, figure in side_by_side(along, title, best).items()},
    )


def _drawn(stage: Stage, slugs: Sequence[str]) -> list[Member]:
    """Return the members of series and the blind models of a part of the grid."""
    series = {model for one in stage.params.series.values() for model in one.models}
    members = members_of(stage.params.models, dict.fromkeys(slugs))
    return [member for member in members if member.is_blind or member.slug in series]


if __name__ == "__main__":
    run_stage(report_series)
