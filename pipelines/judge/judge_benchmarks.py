"""judge_benchmarks: the token scores of one model on a benchmark of others -> which pairs are right, accuracies."""

from cxprobe.judge import (
    JudgedPairs,
    accuracy_metrics,
    benchmark_rates,
    construction_of,
    judge_benchmark,
    score_metrics,
    texts_by_scheme,
)
from cxprobe.report import dots_of_run
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_model_facts, read_table, token_scores_of, write_table


def judge_benchmarks(stage: Stage) -> Outcome:
    model, name = stage.item["model"], stage.item["benchmark"]
    benchmark, scheme = stage.params.benchmarks[name], stage.params.judge_pairs.scheme
    pairs = read_table(stage.use(DATA / "build_benchmarks" / f"{name}.parquet"))
    answers = stage.use(DATA / "score_benchmarks" / model / name)
    schemes = texts_by_scheme(token_scores_of(read_table(answers / "tokens.parquet")))
    judged = judge_benchmark(name, pairs, schemes, benchmark, scheme)
    write_table(judged.items, stage.data / "items.parquet")
    write_table(judged.scores, stage.data / "scores.parquet")
    first = benchmark.by[0]
    runs = [_run(stage, "all", judged, [first])]
    runs += [
        _run(stage, construction_of(group), judged.where(first, group), benchmark.by[1:2])
        for group in dict.fromkeys(judged.items[first])
    ]
    return Outcome(headline=dict(list(runs[0].metrics.items())[:5]), runs=runs)


def _run(stage: Stage, construction: str, judged: JudgedPairs, by: list[str]) -> JudgedRun:
    model, name = stage.item["model"], stage.item["benchmark"]
    rates = benchmark_rates(judged.items, by)
    return JudgedRun(
        model=model,
        facts=read_model_facts(DATA / "score_benchmarks" / model / name),
        construction=construction,
        source=name,
        dataset=DATA / "build_benchmarks" / f"{name}.parquet",
        items=len(judged.items),
        metrics=accuracy_metrics(judged.items) | score_metrics(judged),
        settings=stage.settings("score_pairs", "judge_pairs", f"benchmarks.{name}"),
        tables={"accuracy": rates},
        figures={"accuracy": dots_of_run(rates, f"{model}, {name}: {construction}")},
    )


if __name__ == "__main__":
    run_stage(judge_benchmarks, "model", "benchmark")
