"""judge_scenarios: probabilities of candidates of all models -> decisions, accuracies and flips."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member
from cxprobe.report.judging import compared_with_controls, judge_members, rates_of_runs
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.scenarios.judge import decide_tests, flips_from_base
from cxprobe.scenarios.params import ScenariosStage
from cxprobe.scenarios.rules import load_scenarios, scenarios_file
from cxprobe.scenarios.runs import scenario_runs

MADE = DATA / "make_scenarios"
MOST_IN_HEADLINE = 18


def judge_scenarios(stage: Stage[ScenariosStage]) -> Outcome:
    names = stage.params.scenarios.constructions
    for name in names:
        stage.use(scenarios_file(name))
    scenarios = {name: load_scenarios(name) for name in names}
    items = {name: read_table(stage.use(MADE / name / "items.parquet")) for name in names}

    def judge(member: Member, folder: Path) -> pd.DataFrame:
        decided = []
        for key, scores in read_table(folder / "scores.parquet").groupby("construction", sort=False):
            name = str(key)
            decisions = decide_tests(scores, items[name], scenarios[name])
            decided.append(decisions.assign(model=member.slug, construction=name))
        return pd.concat(decided)

    judging = judge_members(stage, judge)
    if not judging.judged:
        return Outcome(faults=judging.faults)
    decisions = pd.concat(judging.judged.values(), ignore_index=True)
    flips = pd.concat([flips_from_base(table) for _, table in decisions.groupby("construction", sort=False)])
    for name in names:
        for kind, table in (("accuracy", decisions), ("flips", flips)):
            rows = table[table["construction"] == name].dropna(axis="columns", how="all")
            write_table(rows.reset_index(drop=True), stage.data / name / f"{kind}.parquet")
    settings, runs, headline = stage.settings("scenarios.make", "scenarios.score"), [], {}
    for model, fields in scenario_runs(decisions, flips, judging.members.values(), names):
        name, metrics = fields["construction"], fields["metrics"]
        dataset = stage.use(MADE if name == "all" else MADE / name / "items.parquet")
        runs.append(judging.run(model, source="own", dataset=dataset, settings=settings, **fields))
        if name == "all":
            shown = ("accuracy", "n") if judging.members[model].is_blind else [*metrics][:MOST_IN_HEADLINE]
            headline[model] = {key: metrics[key] for key in shown}
    judging.show(rates_of_runs(runs))
    return Outcome(headline=headline, asks="meaning", runs=compared_with_controls(runs), faults=judging.faults)


if __name__ == "__main__":
    run_stage(judge_scenarios, ScenariosStage)
