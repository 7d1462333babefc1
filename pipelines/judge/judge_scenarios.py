"""judge_scenarios: probabilities of candidates of one model -> decisions, accuracies and flips, by construction."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.constructions import Scenarios, load_scenarios
from cxprobe.judge import decide_tests, flips_from_base, scenario_metrics, scenario_rates
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.report import published_rates, scenario_figure
from cxprobe.stages import JudgedRun, Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_model_facts, read_table, write_table

ITEMS = DATA / "build_scenarios"


def judge_scenarios(stage: Stage) -> Outcome:
    folder, runs = DATA / "fill_scenarios" / stage.item["model"], []
    every: list[tuple[pd.DataFrame, pd.DataFrame, Scenarios]] = []
    for name in stage.params.grid.scenarios.constructions:
        stage.use(CONSTRUCTIONS_FOLDER / name / "scenarios.yaml")
        scenarios = load_scenarios(name)
        scores, items = (read_table(stage.use(folder / name / f"{stem}.parquet")) for stem in ("scores", "items"))
        decisions = decide_tests(scores, items, scenarios).assign(model=stage.item["model"])
        flips = flips_from_base(decisions)
        write_table(decisions, stage.data / name / "accuracy.parquet")
        write_table(flips, stage.data / name / "flips.parquet")
        runs.append(_run(stage, name, decisions, flips, [scenarios]))
        every.append((decisions, flips, scenarios))
    decided, flipped, files = zip(*every, strict=True)
    runs.append(_run(stage, "all", pd.concat(decided), pd.concat(flipped), files))
    return Outcome(headline=dict(list(runs[-1].metrics.items())[:12]), runs=runs)


def _run(
    stage: Stage, name: str, decisions: pd.DataFrame, flips: pd.DataFrame, scenarios: Sequence[Scenarios]
) -> JudgedRun:
    model = stage.item["model"]
    rates = {"accuracy": scenario_rates(decisions, "accuracy"), "flips": scenario_rates(flips, "flips")}
    metrics = scenario_metrics(decisions, rates)
    return JudgedRun(
        model=model,
        facts=read_model_facts(DATA / "fill_scenarios" / model),
        construction=name,
        source="own",
        dataset=stage.use(ITEMS if name == "all" else ITEMS / name / "items.parquet"),
        items=int(metrics["n"]),
        metrics=metrics,
        settings=stage.settings("build_scenarios", "fill_scenarios"),
        tables=rates,
        figures={
            kind: scenario_figure(table, kind, published_rates(None), scenarios, f"{model}: {name}, {kind}")
            for kind, table in rates.items()
        },
    )


if __name__ == "__main__":
    run_stage(judge_scenarios, "model")
