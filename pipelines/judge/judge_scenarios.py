"""judge_scenarios: probabilities of candidates of one model, or of blind ones -> decisions, accuracies and flips."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.facts import read_model_facts
from cxprobe.lm.params import Member, members_of
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage
from cxprobe.scenarios.judge import decide_tests, flips_from_base, scenario_headline, scenario_metrics, scenario_rates
from cxprobe.scenarios.report import published_rates, scenario_figure
from cxprobe.scenarios.rules import Scenarios, load_scenarios

ITEMS = DATA / "build_scenarios"


def judge_scenarios(stage: Stage) -> Outcome:
    slug = stage.item["model"]
    runs = [run for member in members_of(stage.params.models, [slug]) for run in _judge(stage, member)]
    headline = scenario_headline({run.model: run.metrics for run in runs if run.construction == "all"}, slug)
    return Outcome(headline=headline, runs=runs)


def _judge(stage: Stage, member: Member) -> list[JudgedRun]:
    """Judge one model on each construction, and then on all."""
    folder, runs = DATA / "fill_scenarios" / member.entry / member.inside, []
    every: list[tuple[pd.DataFrame, pd.DataFrame, Scenarios]] = []
    for name in stage.params.grid.scenarios.constructions:
        stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
        scenarios = load_scenarios(name)
        scores, items = (read_table(stage.use(folder / name / f"{stem}.parquet")) for stem in ("scores", "items"))
        decisions = decide_tests(scores, items, scenarios).assign(model=member.slug)
        flips = flips_from_base(decisions)
        write_table(decisions, stage.data / member.inside / name / "accuracy.parquet")
        write_table(flips, stage.data / member.inside / name / "flips.parquet")
        runs.append(_run(stage, member, name, decisions, flips, [scenarios]))
        every.append((decisions, flips, scenarios))
    decided, flipped, files = zip(*every, strict=True)
    return [*runs, _run(stage, member, "all", pd.concat(decided), pd.concat(flipped), files)]


def _run(
    stage: Stage, of: Member, name: str, decisions: pd.DataFrame, flips: pd.DataFrame, scenarios: Sequence[Scenarios]
) -> JudgedRun:
    rates = {"accuracy": scenario_rates(decisions, "accuracy"), "flips": scenario_rates(flips, "flips")}
    metrics, nothing, title = scenario_metrics(decisions, rates), published_rates(None), f"{of.label}: {name}"
    facts = read_model_facts(DATA / "fill_scenarios" / of.entry / of.inside)
    data = stage.use(ITEMS if name == "all" else ITEMS / name / "items.parquet")
    settings = stage.settings("build_scenarios", "fill_scenarios")
    figures = {
        kind: scenario_figure(table, kind, nothing, scenarios, [of], f"{title}, {kind}")
        for kind, table in rates.items()
    }
    n = int(metrics["n"])
    return JudgedRun(of.slug, facts, name, "own", data, n, metrics, settings, tables=rates, figures=figures)


if __name__ == "__main__":
    run_stage(judge_scenarios, "model")
