"""evaluate_scenarios: probabilities of candidates of all models -> responses, rates, comparisons, and the runs."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.rates import ALL
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.scenarios.evaluate import FACETS, scenario_responses, tables_beside_published, with_preferences
from cxprobe.tasks.scenarios.params import ScenariosStage
from cxprobe.tasks.scenarios.rules import load_scenarios, scenarios_file

MADE = DATA / "make_scenarios"


def evaluate_scenarios(stage: Stage[ScenariosStage]) -> Outcome:
    names = stage.params.scenarios.constructions
    scenarios = {name: load_scenarios(stage.use(scenarios_file(name)).parent.name) for name in names}
    made = {
        name: {stem: read_table(stage.use(MADE / name / f"{stem}.parquet")) for stem in ("items", "texts")}
        for name in names
    }

    def responses(_member: Member, folder: Path) -> pd.DataFrame:
        scores = read_table(folder / "scores.parquet")
        parts = []
        for name, of_construction in scores.groupby("construction", sort=False):
            slug = str(name)
            part = scenario_responses(of_construction, **made[slug], scenarios=scenarios[slug])
            parts.append(part.assign(construction=slug, source="own"))
        return pd.concat(parts)

    task = Evaluation(
        responses,
        FACETS,
        settings=lambda _source: ("scenarios.make", "scenarios.score"),
        dataset=lambda name, _source: stage.use(MADE if name == ALL else MADE / name / "items.parquet"),
        override=lambda rates: with_preferences(rates, scenarios),
        tables=lambda rates, _responses: tables_beside_published(rates, scenarios, stage.use),
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_scenarios, ScenariosStage)
