"""judge_scenarios: probabilities of candidates of all models -> decisions, accuracies and flips."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, ModelFacts, members_of
from cxprobe.report.dots import dots_of_run
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage
from cxprobe.scenarios.judge import (
    UNCALIBRATED,
    decide_tests,
    flips_from_base,
    scenario_metrics,
    scenario_rates,
    uncalibrated,
)
from cxprobe.scenarios.rules import Scenarios, load_scenarios
from cxprobe.stats import rate_by

MADE = DATA / "make_scenarios"
MOST_HEADLINES = 18  # of one model in metrics.json
OF_BLIND = ("accuracy", "n")  # of a blind model there


def judge_scenarios(stage: Stage) -> Outcome:
    names = stage.params.scenarios.constructions
    for name in names:
        stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
    scenarios = {name: load_scenarios(name) for name in names}
    items = {name: read_table(stage.use(MADE / name / "items.parquet")) for name in names}
    members = members_of(stage.params.models, stage.params.scenarios.models)
    decided, facts, faults = list[pd.DataFrame](), dict[str, ModelFacts](), dict[str, str]()
    for member in members:
        try:
            scores = read_table(stage.use(_folder(member) / "scores.parquet"))
            facts[member.slug] = read_model_facts(_folder(member))
            decided += [
                decide_tests(own, items[str(name)], scenarios[str(name)]).assign(model=member.slug, construction=name)
                for name, own in scores.groupby("construction", sort=False)
            ]
        except CxprobeError as fault:
            faults[member.slug] = str(fault)
    decisions = pd.concat(decided, ignore_index=True)
    flips = pd.concat([flips_from_base(own) for _, own in decisions.groupby("construction", sort=False)])
    for name in names:
        for kind, table in (("accuracy", decisions), ("flips", flips)):
            own = table[table["construction"] == name].dropna(axis="columns", how="all")
            write_table(own.reset_index(drop=True), stage.data / name / f"{kind}.parquet")
    judged = [member for member in members if member.slug not in faults]
    runs = _runs(stage, judged, facts, decisions, flips, scenarios)
    headline = {}
    for run in runs:
        if run.construction == "all":
            first = OF_BLIND if run.facts.state == "none" else tuple(run.metrics)[:MOST_HEADLINES]
            headline[run.model] = {name: run.metrics[name] for name in first}
    return Outcome(headline=headline, runs=runs, faults=faults)


def _runs(
    stage: Stage,
    members: Sequence[Member],
    facts: Mapping[str, ModelFacts],
    decisions: pd.DataFrame,
    flips: pd.DataFrame,
    scenarios: Mapping[str, Scenarios],
) -> list[JudgedRun]:
    """Return a run of each model on each construction, and on all of them together."""
    decisions, flips = (pd.concat([table, table.assign(construction="all")]) for table in (decisions, flips))
    rates = {"accuracy": scenario_rates(decisions, "accuracy"), "flips": scenario_rates(flips, "flips")}
    base = rate_by(uncalibrated(decisions[decisions["base"]]), "accuracy", ["model", "construction"])
    overall = base.set_index(["model", "construction"]).to_dict("index")
    settings, runs = stage.settings("scenarios.make", "scenarios.score"), []
    for member in members:
        for name in [*scenarios, "all"]:
            own = {
                kind: table[(table["model"] == member.slug) & (table["construction"] == name)].drop(
                    columns="construction"
                )
                for kind, table in rates.items()
            }
            metrics = scenario_metrics(overall[member.slug, name], own["accuracy"], own["flips"])
            figures = {
                kind: dots_of_run(
                    table.assign(group=table["scenario"] + ", " + table["calibration"].replace(UNCALIBRATED, "plain")),
                    f"{member.label}: {name}, {kind}",
                    value=kind,
                )
                for kind, table in own.items()
            }
            data = stage.use(MADE if name == "all" else MADE / name / "items.parquet")
            runs.append(
                JudgedRun(
                    model=member.slug,
                    facts=facts[member.slug],
                    construction=name,
                    source="own",
                    dataset=data,
                    items=int(metrics["n"]),
                    metrics=metrics,
                    settings=settings,
                    tables=own,
                    figures=figures,
                )
            )
    return runs


def _folder(member: Member) -> Path:
    return DATA / "score_scenarios" / member.entry / member.inside


if __name__ == "__main__":
    run_stage(judge_scenarios)
