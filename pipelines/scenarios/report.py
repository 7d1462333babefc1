"""report_scenarios: judged scenarios of all models -> rates side by side, beside published ones and blind models."""

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import members_of, series_of
from cxprobe.report.cards import card_figure, card_table
from cxprobe.report.comparisons import best_blind, compare_models
from cxprobe.report.findings import HALF
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.scenarios.judge import item_of_text, scenario_rates, uncalibrated
from cxprobe.scenarios.params import ScenariosStage
from cxprobe.scenarios.report import (
    read_published_rates,
    scenario_figure,
    scenario_words,
    scenarios_beside_published,
)
from cxprobe.scenarios.rules import load_scenarios, scenarios_file


def report_scenarios(stage: Stage[ScenariosStage]) -> Outcome:
    names = stage.params.scenarios.constructions
    members = members_of(stage.params.models, stage.params.scenarios.models)
    judged = {
        kind: pd.concat(
            [read_table(stage.use(DATA / "judge_scenarios" / name / f"{kind}.parquet")) for name in names],
            ignore_index=True,
        )
        for kind in ("accuracy", "flips")
    }
    rates = {kind: scenario_rates(credits, kind) for kind, credits in judged.items()}
    accuracy = uncalibrated(rates["accuracy"])
    best = best_blind(accuracy, ["construction", "scenario"], members)[["construction", "scenario", "model"]]
    seeing = [member for member in members if not member.is_blind] or members
    labels = {member.slug: member.label for member in seeing}
    tables, figures = dict[str, pd.DataFrame](), {}
    for name in names:
        stage.use(scenarios_file(name))
        scenarios = load_scenarios(name)
        for kind, table in rates.items():
            shown = table[table["construction"] == name].drop(columns="construction")
            published, source = read_published_rates(scenarios, kind, stage.use)
            beside = scenarios_beside_published(shown, kind, published, source)
            tables |= {f"tables/{name}/{kind}": shown, f"tables/{name}/{kind}_beside_published": beside}
            title, blind = f"{name}: {kind} by scenario", best[best["construction"] == name].merge(uncalibrated(shown))
            figures[f"figures/{name}_{kind}"] = scenario_figure(shown, kind, scenarios, labels, title, published, blind)
        texts = read_table(stage.use(DATA / "make_scenarios" / name / "texts.parquet"))
        tables |= {f"tables/{name}/{stem}": shown for stem, shown in scenario_words(texts, name).items()}
    named = accuracy.assign(dataset=accuracy["construction"] + ", " + accuracy["scenario"])
    cards = card_table(named, chance=HALF, limit=stage.params.report.limit, members=members)
    if len(cards):
        figures["figures/cards"] = card_figure(cards)
    asked = uncalibrated(judged["accuracy"])
    asked = asked.assign(id=item_of_text(asked))
    series = series_of(stage.params.models, stage.params.scenarios.models)
    compared = compare_models(asked, ["construction", "scenario"], members, series, stage.params.report.tested)
    tables |= {
        "accuracy": accuracy[[*(column for column in accuracy if column != "construction"), "construction"]],
        "tables/cards": cards,
        "tables/comparisons": with_blanks(compared),
    }
    return Outcome(counts={"models": len(members), "constructions": len(names)}, tables=tables, figures=figures)


if __name__ == "__main__":
    run_stage(report_scenarios, ScenariosStage)
