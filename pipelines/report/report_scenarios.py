"""report_scenarios: judged scenarios of all models -> rates side by side, beside published ones and blind models."""

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member, members_of
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.report.tables import with_blanks
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.scenarios.judge import scenario_rates, uncalibrated
from cxprobe.scenarios.report import (
    read_published_rates,
    scenario_cards,
    scenario_figure,
    scenario_words,
    scenarios_beside_published,
)
from cxprobe.scenarios.rules import load_scenarios

KINDS = ("accuracy", "flips")


def report_scenarios(stage: Stage) -> Outcome:
    members = members_of(stage.params.models, stage.params.grid.scenarios.models)
    tables, drawn, overview, items = dict[str, pd.DataFrame](), {}, [], []
    for name in stage.params.grid.scenarios.constructions:
        stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
        scenarios, judged = load_scenarios(name), {kind: _judged(stage, members, name, kind) for kind in KINDS}
        overview.append(uncalibrated(scenario_rates(judged["accuracy"], "accuracy")).assign(construction=name))
        items.append(uncalibrated(judged["accuracy"]).assign(construction=name))
        best = best_blind(overview[-1], ["scenario"], members)[["scenario", "model"]]
        for kind, credits in judged.items():
            rates, (published, source) = scenario_rates(credits, kind), read_published_rates(scenarios, kind, stage.use)
            beside = scenarios_beside_published(rates, kind, published, source)
            tables |= {f"tables/{name}/{kind}": rates, f"tables/{name}/{kind}_beside_published": beside}
            title, blind = f"{name}: {kind} by scenario", best.merge(uncalibrated(rates))
            drawn[f"{name}_{kind}"] = scenario_figure(rates, kind, published, [scenarios], members, title, blind)
        texts = read_table(stage.use(DATA / "build_scenarios" / name / "texts.parquet"))
        tables |= {f"tables/{name}/{stem}": own for stem, own in scenario_words(texts, scenarios, name).items()}
    accuracy, asked = pd.concat(overview, ignore_index=True), pd.concat(items, ignore_index=True)
    cards, card = scenario_cards(accuracy, stage.params.cards.limit, members)
    compared = compare_models(asked.rename(columns={"item": "id"}), ["construction", "scenario"], members)
    return Outcome(
        counts={"models": len(members), "constructions": len(overview)},
        tables=tables | {"accuracy": accuracy, "tables/cards": cards, "tables/comparisons": with_blanks(compared)},
        figures={f"figures/{name}": figure for name, figure in (drawn | card).items()},
    )


def _judged(stage: Stage, members: list[Member], construction: str, kind: str) -> pd.DataFrame:
    """Return a table of judged items of all models."""
    paths = [DATA / "judge_scenarios" / one.entry / one.inside / construction / f"{kind}.parquet" for one in members]
    return pd.concat([read_table(stage.use(path)) for path in paths], ignore_index=True)


if __name__ == "__main__":
    run_stage(report_scenarios)
