"""judge_ways: a model's probes, likelihoods and replies on the same pairs -> verdicts per pair, and how they agree."""

from collections.abc import Mapping

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.params import members_of
from cxprobe.lm.token_table import read_pair_answers
from cxprobe.pairs.judge import judge_pair_answers
from cxprobe.pairs.judge_asked import judge_asked_pairs
from cxprobe.pairs.judge_ways import judge_ways as judge
from cxprobe.pairs.judge_ways import rates_of_ways, verdicts, ways_headline
from cxprobe.pairs.report import ways_figure
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage

PAIRS, PROBES = DATA / "build_pairs", DATA / "fit_pair_probes"


def judge_ways(stage: Stage) -> Outcome:
    slug, names = stage.item["model"], stage.params.grid.ways.constructions
    pairs = {name: read_table(stage.use(PAIRS / f"{name}.parquet")) for name in names}
    predicted = {name: read_table(stage.use(PROBES / slug / f"{name}.parquet")) for name in names}
    (member,) = members_of(stage.params.models, [slug])
    answers, said = read_pair_answers(stage.use(DATA / "score_pairs" / slug)), _said(stage, pairs)
    expected = judge_pair_answers(member, pairs, answers, stage.params.judge_pairs)
    items = {name: verdicts(predicted[name], expected[name].items, said.get(name)) for name in names}
    every, predicted["all"] = pd.concat(items.values()), pd.concat(predicted.values())
    items["all"] = every[every["tests"] == "meaning"].assign(construction="all")
    runs = [_run(stage, name, own, predicted[name]) for name, own in items.items() if len(own)]
    return Outcome(headline=ways_headline(rates_of_ways(every, ["tests"])), runs=runs)


def _said(stage: Stage, pairs: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the judged replies of the same model about each construction; none where it is not asked in words."""
    llm = stage.params.judge_ways.asked.get(stage.item["model"])
    if llm is None:
        return {}
    replies = read_table(stage.use(DATA / "ask_pairs" / llm) / "replies.parquet")
    return {name: own.judged.items for name, own in judge_asked_pairs(pairs, replies).items()}


def _run(stage: Stage, name: str, items: pd.DataFrame, predicted: pd.DataFrame) -> JudgedRun:
    slug, judged = stage.item["model"], judge(items, predicted)
    for stem, table in {"verdicts": judged.verdicts, **judged.rates}.items():
        write_table(table, stage.data / name / f"{stem}.parquet")
    return JudgedRun(
        model=slug,
        facts=read_model_facts(PROBES / slug),
        construction=name,
        source="own",
        dataset=stage.use(PAIRS if name == "all" else PAIRS / f"{name}.parquet"),
        items=len(items),
        metrics=judged.metrics,
        series={"by_layer.accuracy": judged.by_layer},
        settings=stage.settings("build_pairs", "extract_features", "fit_pair_probes", "judge_pairs"),
        tables={**judged.rates, "agreement": with_blanks(judged.agreement)},
        figures={"ways": ways_figure(judged.ways, f"{slug}, the same pairs asked in several ways")},
    )


if __name__ == "__main__":
    run_stage(judge_ways, "model")
