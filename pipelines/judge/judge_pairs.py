"""judge_pairs: what a model, or each blind model of a panel, answered -> which pairs are right, accuracies, biases."""

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.lm.token_table import read_pair_answers
from cxprobe.pairs.judge import (
    JudgedPairs,
    accuracy_by_group,
    judge_pair_answers,
    pair_headline,
    pair_metrics,
    pair_tables,
)
from cxprobe.report.dots import dots_of_run
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

PAIRS, SCORES = DATA / "build_pairs", DATA / "score_pairs"


def judge_pairs(stage: Stage) -> Outcome:
    stage.use(SCORES / stage.item["model"])
    names = stage.params.grid.pairs.constructions
    pairs = {name: read_table(stage.use(PAIRS / f"{name}.parquet")) for name in names}
    headline: dict[str, dict[str, float]] = {}
    runs = []
    for member in members_of(stage.params.models, [stage.item["model"]]):
        judged = _judge(stage, member, pairs)
        every = JudgedPairs.joined(list(judged.values()))
        judged["all"] = every.where("tests", "meaning")
        runs += [_run(stage, member, name, own) for name, own in judged.items() if len(own.items)]
        own = pair_headline(every)
        if member.inside.parts:  # of a panel: the pairs of meaning, where there are any
            first = next(iter(own.values()), {})
            own = {member.slug: {key: first[key] for key in ("accuracy", "n") if first}}
        headline |= own
    return Outcome(headline=headline, runs=runs)


def _judge(stage: Stage, member: Member, pairs: dict[str, pd.DataFrame]) -> dict[str, JudgedPairs]:
    answers = read_pair_answers(SCORES / member.entry / member.inside)
    judged = judge_pair_answers(member, pairs, answers, stage.params.judge_pairs)
    for name, own in judged.items():
        for part, table in (("items", own.items), ("scores", own.scores)):
            write_table(table, stage.data / member.inside / name / f"{part}.parquet")
    return judged


def _run(stage: Stage, member: Member, name: str, judged: JudgedPairs) -> JudgedRun:
    score = "".join(judged.items["score"].unique()).replace("_", " ")
    return JudgedRun(
        model=member.slug,
        facts=read_model_facts(SCORES / member.entry / member.inside),
        construction=name,
        source="own",
        dataset=stage.use(PAIRS if name == "all" else PAIRS / f"{name}.parquet"),
        items=len(judged.items),
        metrics=pair_metrics(judged),
        settings=stage.settings("build_pairs", "score_pairs", "judge_pairs"),
        tables=pair_tables(judged),
        figures={"accuracy": dots_of_run(accuracy_by_group(judged.items), f"{member.label}, {name}, {score}")},
    )


if __name__ == "__main__":
    run_stage(judge_pairs, "model")
