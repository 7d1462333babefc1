"""judge_benchmark_replies: what a model replied about the pairs of a benchmark -> which pairs are right."""

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.pairs.judge import accuracy_metrics, benchmark_rates, construction_of, score_metrics, with_groups
from cxprobe.pairs.judge_asked import (
    AskedPairs,
    asked_headline,
    asked_metrics,
    asked_rates,
    asked_settings,
    judge_asked_benchmark,
)
from cxprobe.report.dots import dots_of_run
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

REPLIES = DATA / "ask_benchmarks"


def judge_benchmark_replies(stage: Stage) -> Outcome:
    name = stage.item["benchmark"]
    pairs = read_table(stage.use(DATA / "build_benchmarks" / f"{name}.parquet"))
    replies = read_table(stage.use(REPLIES / stage.item["llm"] / name) / "replies.parquet")
    asked = judge_asked_benchmark(pairs, replies, benchmark := stage.params.benchmarks[name])
    tables = {"items": asked.judged.items, "scores": asked.judged.scores, "replies": asked.replies}
    for part, table in tables.items():
        write_table(table, stage.data / f"{part}.parquet")
    first, rest = benchmark.by[0], benchmark.by[1:2]
    groups = {construction_of(group): asked.where(first, group) for group in dict.fromkeys(asked.judged.items[first])}
    runs = [_run(stage, "all", asked, [first])] if groups else []
    runs += [_run(stage, group, own, rest) for group, own in groups.items()]
    headline = accuracy_metrics(asked.judged.items) | asked_headline(asked_metrics(asked.replies))
    return Outcome(headline=headline, runs=runs)


def _run(stage: Stage, construction: str, asked: AskedPairs, by: list[str]) -> JudgedRun:
    slug, name, items = stage.item["llm"], stage.item["benchmark"], asked.judged.items
    rates, settings = benchmark_rates(items, by), stage.settings("score_pairs", "judge_pairs", f"benchmarks.{name}")
    return JudgedRun(
        model=slug,
        facts=read_model_facts(REPLIES / slug / name),
        construction=construction,
        source=name,
        dataset=DATA / "build_benchmarks" / f"{name}.parquet",
        items=len(items),
        metrics=accuracy_metrics(items) | score_metrics(asked.judged) | asked_metrics(asked.replies),
        settings=asked_settings(settings, stage.params.ask_pairs.prompt),
        tables={"accuracy": rates, "asked": asked_rates(with_groups(asked.replies, by), ["group"])},
        figures={"accuracy": dots_of_run(rates, f"{slug} (asked), {name}: {construction}")},
    )


if __name__ == "__main__":
    run_stage(judge_benchmark_replies, "llm", "benchmark")
