"""summarise_scenarios: the probabilities of every model -> decisions, accuracies and flips, beside published ones."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.decisions import UNCALIBRATED, flips_from, judge
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.reporting import beside_published, published_rates, rates_by_scenario, scenario_rates
from cxprobe.scenarios import Scenarios, load_scenarios
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

UNREPORTED = pd.DataFrame(columns=["model", "scenario", UNCALIBRATED])


def summarise_scenarios(stage: Stage) -> Outcome:
    name = stage.item["construction"]
    stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
    scenarios = load_scenarios(name)
    models = stage.params.grid.scenarios.models
    decisions = [_decisions(stage, scenarios, model) for model in models]
    flips = [flips_from(one, scenarios.base) for one in decisions]
    rates = {kind: scenario_rates(pd.concat(all_), kind) for kind, all_ in (("accuracy", decisions), ("flips", flips))}
    published = {kind: _published(stage, scenarios, kind) for kind in rates}
    return Outcome(
        metrics={model: {kind: _metrics(table, model) for kind, table in rates.items()} for model in models},
        tables=rates
        | {
            f"{kind}_beside_published": beside_published(table, kind, *published[kind]) for kind, table in rates.items()
        },
        figures={
            kind: _figure(f"{name}: {kind} by scenario", scenarios, table, kind, published[kind][0])
            for kind, table in rates.items()
        },
    )


def _decisions(stage: Stage, scenarios: Scenarios, model: str) -> pd.DataFrame:
    folder = stage.use(DATA / "fill_scenarios" / model / stage.item["construction"])
    decisions = judge(
        read_table(folder / "scores.parquet"),
        read_table(folder / "items.parquet"),
        {name: scenarios.candidates.index(test.answer) for name, test in scenarios.tests.items()},
        {name: calibration.normalised for name, calibration in scenarios.calibrations.items()},
    )
    return decisions.assign(model=model)


def _published(stage: Stage, scenarios: Scenarios, kind: str) -> tuple[pd.DataFrame, str]:
    """Return the published rates of a kind and where they stand; none for a construction that nobody has asked."""
    if scenarios.published is None:
        return published_rates(UNREPORTED), ""
    table = {"accuracy": scenarios.published.accuracy, "flips": scenarios.published.flips}[kind]
    content = pd.read_csv(stage.use(Path(table.file)), sep="\t")
    return published_rates(content), f"{scenarios.published.source}, {table.title}"


def _metrics(rates: pd.DataFrame, model: str) -> dict[str, object]:
    """Return calibration -> scenario -> the rate with its interval, n and ties."""
    own = rates[rates["model"] == model].drop(columns="model")
    return {
        str(calibration): rows.drop(columns="calibration").set_index("scenario").to_dict("index")
        for calibration, rows in own.groupby("calibration", sort=False)
    }


def _figure(title: str, scenarios: Scenarios, rates: pd.DataFrame, kind: str, published: pd.DataFrame) -> Figure:
    purposes = {name: f"{name}: {calibration.purpose}" for name, calibration in scenarios.calibrations.items()}
    shown = dict.fromkeys(rates["scenario"])
    return rates_by_scenario(
        rates,
        kind,
        published,
        scenarios={name: "base" if name == scenarios.base else scenarios.tests[name].bias for name in shown},
        calibrations={UNCALIBRATED: "not calibrated", **purposes},
        title=title,
    )


if __name__ == "__main__":
    run_stage(summarise_scenarios, "construction")
