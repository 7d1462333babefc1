"""judge_interventions: what all models answer after exchanges -> effects, by layer and region and summed up."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.interventions.judge import (
    base_accuracy,
    differences,
    effect_by_place,
    metrics_of_run,
    series_by_layer,
    sum_up,
    transfer,
    uses,
    with_effects,
)
from cxprobe.interventions.names import EFFECTS_FILE, TRANSFER_FILE, tried_on_itself
from cxprobe.interventions.params import InterventionsStage
from cxprobe.lm.params import Member
from cxprobe.report.findings import grouped_rows
from cxprobe.report.judging import judge_members
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

TABLES = {
    "accuracy": base_accuracy,
    "effects": sum_up,
    "effect_by_place": effect_by_place,
    "transfer": transfer,
    "differences": differences,
    "uses": uses,
}
HEADLINE = ("accuracy", "n", "effect.whole", "effect.das", "effect.das_low", "effect.das_high", "effect.random")


def judge_interventions(stage: Stage[InterventionsStage]) -> Outcome:
    items = stage.use(DATA / "make_interventions" / "items.parquet")

    def judge(member: Member, folder: Path) -> pd.DataFrame:
        measured = [read_table(folder / file) for file in (EFFECTS_FILE, TRANSFER_FILE)]
        return with_effects(pd.concat(measured, ignore_index=True)).assign(model=member.slug)

    judging = judge_members(stage, judge, "measure")
    if not judging.judged:
        return Outcome(faults=judging.faults)
    effects = pd.concat(judging.judged.values(), ignore_index=True)
    tables = {stem: compute(effects) for stem, compute in TABLES.items()}
    about = read_table(items)[["construction", "tests", "control"]].drop_duplicates()
    tables["uses"] = tables["uses"].merge(about, validate="many_to_one")
    for stem, table in tables.items():
        write_table(table, stage.data / f"{stem}.parquet")
    settings, runs = stage.settings("interventions.make", "interventions.measure"), []
    headline: dict[str, dict[str, dict[str, float]]] = {}
    for (model, name), of_run in grouped_rows(tried_on_itself(effects), "model", "construction"):
        shown = {
            stem: table[(table["model"] == model) & (table["construction"] == name)] for stem, table in tables.items()
        }
        metrics = metrics_of_run(shown["accuracy"], shown["effects"], shown["uses"])
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
