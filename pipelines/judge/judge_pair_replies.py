"""judge_pair_replies: what a model replied about minimal pairs -> which pairs are right, accuracies, biases."""

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.pairs.judge import accuracy_by_group, pair_headline, pair_metrics, pair_tables
from cxprobe.pairs.judge_asked import (
    AskedPairs,
    asked_headline,
    asked_metrics,
    asked_rates,
    asked_settings,
    judge_asked_pairs,
)
from cxprobe.report.dots import dots_of_run
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

PAIRS, REPLIES = DATA / "build_pairs", DATA / "ask_pairs"


def judge_pair_replies(stage: Stage) -> Outcome:
    names, folder = stage.params.grid.pairs.constructions, stage.use(REPLIES / stage.item["llm"])
    pairs = {name: read_table(stage.use(PAIRS / f"{name}.parquet")) for name in names}
    asked = judge_asked_pairs(pairs, read_table(folder / "replies.parquet"))
    for name, own in asked.items():
        tables = {"items": own.judged.items, "scores": own.judged.scores, "replies": own.replies}
        for part, table in tables.items():
            write_table(table, stage.data / name / f"{part}.parquet")
    every = AskedPairs.joined(list(asked.values()))
    asked["all"] = every.where("tests", "meaning")
    runs = [_run(stage, name, own) for name, own in asked.items() if len(own.judged.items)]
    how = asked_metrics(every.where("words", "real").replies)
    return Outcome(headline=pair_headline(every.judged) | asked_headline(how), runs=runs)


def _run(stage: Stage, name: str, asked: AskedPairs) -> JudgedRun:
    slug, items = stage.item["llm"], asked.judged.items
    settings = stage.settings("build_pairs", "score_pairs", "judge_pairs")
    return JudgedRun(
        model=slug,
        facts=read_model_facts(REPLIES / slug),
        construction=name,
        source="own",
        dataset=stage.use(PAIRS if name == "all" else PAIRS / f"{name}.parquet"),
        items=len(items),
        metrics=pair_metrics(asked.judged) | asked_metrics(asked.where("words", "real").replies),
        settings=asked_settings(settings, stage.params.ask_pairs.prompt),
        tables=pair_tables(asked.judged) | {"asked": asked_rates(asked.replies, ["construction", "words"])},
        figures={"accuracy": dots_of_run(accuracy_by_group(items), f"{slug} (asked), {name}")},
    )


if __name__ == "__main__":
    run_stage(judge_pair_replies, "llm")
