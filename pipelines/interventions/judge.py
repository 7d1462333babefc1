"""judge_interventions: what all models answer after exchanges -> effects, by layer and region and summed up."""

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.interventions.judge import (
    base_accuracy,
    effect_by_place,
    metrics_of_run,
    selectivity_by,
    series_by_layer,
    sum_up,
    with_effects,
)
from cxprobe.interventions.names import EFFECTS_FILE
from cxprobe.interventions.params import InterventionsStage
from cxprobe.report.findings import grouped_rows
from cxprobe.report.judging import judge_members
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

TABLES = {
    "accuracy": base_accuracy,
    "effects": sum_up,
    "effect_by_place": effect_by_place,
    "selectivity": selectivity_by,
}

HEADLINE = ("accuracy", "n", "effect.whole", "effect.das", "effect.das_low", "effect.das_high", "effect.random")


def judge_interventions(stage: Stage[InterventionsStage]) -> Outcome:
    items = stage.use(DATA / "make_interventions" / "items.parquet")
    judging = judge_members(
        stage,
        lambda member, folder: with_effects(read_table(folder / EFFECTS_FILE)).assign(model=member.slug),
        "measure",
    )
    if not judging.judged:
        return Outcome(faults=judging.faults)
    effects = pd.concat(judging.judged.values(), ignore_index=True)
    tables = {stem: compute(effects) for stem, compute in TABLES.items()}
    for stem, table in tables.items():
        write_table(table, stage.data / f"{stem}.parquet")
    settings, runs = stage.settings("interventions.make", "interventions.measure"), []
    headline: dict[str, dict[str, dict[str, float]]] = {}
    for (model, name), of_run in grouped_rows(effects, "model", "construction"):
        shown = {
            stem: table[(table["model"] == model) & (table["construction"] == name)] for stem, table in tables.items()
        }
        metrics = metrics_of_run(shown["accuracy"], shown["effects"], shown["selectivity"])
        runs.append(
            judging.run(
                model,
                construction=name,
                source="own",
                dataset=items,
                items=int(metrics["n"]),
                metrics=metrics,
                settings=settings,
                series=series_by_layer(of_run),
                tables=shown,
            )
        )
        headline.setdefault(model, {})[name] = {key: metrics[key] for key in HEADLINE}
    return Outcome(headline=headline, runs=runs, faults=judging.faults)


if __name__ == "__main__":
    run_stage(judge_interventions, InterventionsStage)
