"""judge_benchmarks: what a model, or each blind model of a panel, answered on a benchmark -> which pairs are right."""

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.lm.token_table import read_pair_answers
from cxprobe.pairs.judge import (
    JudgedPairs,
    accuracy_metrics,
    benchmark_rates,
    construction_of,
    judge_benchmark_answers,
    score_metrics,
)
from cxprobe.report.dots import dots_of_run
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

SCORES = DATA / "score_benchmarks"


def judge_benchmarks(stage: Stage) -> Outcome:
    name, scheme = stage.item["benchmark"], stage.params.judge_pairs.scheme
    benchmark = stage.params.benchmarks[name]
    pairs = read_table(stage.use(DATA / "build_benchmarks" / f"{name}.parquet"))
    folder = stage.use(SCORES / stage.item["model"] / name)
    headline: dict[str, float | dict[str, float]] = {}
    runs = []
    for member in members_of(stage.params.models, [stage.item["model"]]):
        answers = read_pair_answers(folder / member.inside)
        judged = judge_benchmark_answers(name, member, pairs, answers, benchmark, scheme)
        write_table(judged.items, stage.data / member.inside / "items.parquet")
        write_table(judged.scores, stage.data / member.inside / "scores.parquet")
        first, metrics = benchmark.by[0], accuracy_metrics(judged.items)
        runs.append(_run(stage, member, "all", judged, [first]))
        for group in dict.fromkeys(judged.items[first]):
            own = judged.where(first, group)
            runs.append(_run(stage, member, construction_of(group), own, benchmark.by[1:2]))
        of_panel: dict[str, float] = {key: metrics[key] for key in ("accuracy", "n") if key in metrics}
        headline |= {member.slug: of_panel} if member.inside.parts else metrics
    return Outcome(headline=headline, runs=runs)


def _run(stage: Stage, member: Member, construction: str, judged: JudgedPairs, by: list[str]) -> JudgedRun:
    name = stage.item["benchmark"]
    rates = benchmark_rates(judged.items, by)
    return JudgedRun(
        model=member.slug,
        facts=read_model_facts(SCORES / member.entry / name / member.inside),
        construction=construction,
        source=name,
        dataset=DATA / "build_benchmarks" / f"{name}.parquet",
        items=len(judged.items),
        metrics=accuracy_metrics(judged.items) | score_metrics(judged),
        settings=stage.settings("score_pairs", "judge_pairs", f"benchmarks.{name}"),
        tables={"accuracy": rates},
        figures={"accuracy": dots_of_run(rates, f"{member.label}, {name}: {construction}")},
    )


if __name__ == "__main__":
    run_stage(judge_benchmarks, "model", "benchmark")
