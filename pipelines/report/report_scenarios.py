"""report_scenarios: judged scenarios of all models -> accuracies and flips side by side and beside published ones."""

from pathlib import Path

import pandas as pd

from cxprobe.constructions import Scenarios, load_scenarios
from cxprobe.judge import UNCALIBRATED, scenario_rates
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.report import published_rates, scenario_figure, scenarios_beside_published
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

KINDS = ("accuracy", "flips")


def report_scenarios(stage: Stage) -> Outcome:
    tables, figures, uncalibrated = {}, {}, []
    for name in stage.params.grid.scenarios.constructions:
        stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
        scenarios = load_scenarios(name)
        for kind in KINDS:
            rates = scenario_rates(_judged(stage, name, kind), kind)
            published, source = _published(stage, scenarios, kind)
            title = f"{name}: {kind} by scenario"
            tables[f"tables/{name}/{kind}"] = rates
            tables[f"tables/{name}/{kind}_beside_published"] = scenarios_beside_published(
                rates, kind, published, source
            )
            figures[f"figures/{name}_{kind}"] = scenario_figure(rates, kind, published, [scenarios], title)
        rates = tables[f"tables/{name}/accuracy"]
        uncalibrated.append(rates[rates["calibration"] == UNCALIBRATED].assign(calibration=name))
    return Outcome(
        counts={"models": len(stage.params.grid.scenarios.models), "constructions": len(uncalibrated)},
        tables=tables | {"accuracy": pd.concat(uncalibrated).rename(columns={"calibration": "construction"})},
        figures=figures,
    )


def _judged(stage: Stage, construction: str, kind: str) -> pd.DataFrame:
    """Return a table of judged items of all models."""
    folders = [DATA / "judge_scenarios" / model / construction for model in stage.params.grid.scenarios.models]
    return pd.concat([read_table(stage.use(folder / f"{kind}.parquet")) for folder in folders], ignore_index=True)


def _published(stage: Stage, scenarios: Scenarios, kind: str) -> tuple[pd.DataFrame, str]:
    """Return the published rates of a kind and their source; none for a construction without published results."""
    if scenarios.published is None:
        return published_rates(None), ""
    table = {"accuracy": scenarios.published.accuracy, "flips": scenarios.published.flips}[kind]
    content = pd.read_csv(stage.use(Path(table.file)), sep="\t")
    return published_rates(content), f"{scenarios.published.source}, {table.title}"


if __name__ == "__main__":
    run_stage(report_scenarios)
