"""report_interventions: judged effects of all models -> tables side by side, and a heat map of each."""

from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.interventions.figures import heat_map
from cxprobe.interventions.judge import beside_controls, beside_published
from cxprobe.interventions.names import tried_on_itself
from cxprobe.interventions.params import InterventionsStage
from cxprobe.report.findings import grouped_rows
from cxprobe.report.judging import line_members
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

TABLES = ("effects", "effect_by_place", "transfer", "differences", "uses")
PUBLISHED = Path("published/arora2024_causalgym.tsv")


def report_interventions(stage: Stage[InterventionsStage]) -> Outcome:
    folder = stage.use(DATA / "judge_interventions")
    judged = {stem: read_table(folder / f"{stem}.parquet") for stem in ("accuracy", *TABLES)}
    labels = {member.slug: member.label for member in line_members(stage.params)}
    figures = {
        f"figures/{name}_{model}": heat_map(
            table, "layer", "region", f"{labels[model]}: {name}, effect by layer and region"
        )
        for (model, name), table in grouped_rows(tried_on_itself(judged["effect_by_place"]), "model", "construction")
    }
    if judged["transfer"]["learnt"].nunique() > 1:
        for (model,), table in grouped_rows(judged["transfer"], "model"):
            title = f"{labels[model]}: learnt on the construction of a row, asked on that of a column"
            figures[f"figures/transfer_{model}"] = heat_map(table, "learnt", "construction", title)
    tables = {"accuracy": judged["accuracy"], **{f"tables/{stem}": judged[stem] for stem in TABLES}}
    tables["tables/uses"] = with_blanks(beside_controls(judged["uses"], judged["accuracy"]))
    published = pd.read_csv(stage.use(PUBLISHED), sep="\t")
    tables["tables/beside_published"] = beside_published(judged["effects"], published)
    return Outcome(tables=tables, figures=figures)


if __name__ == "__main__":
    run_stage(report_interventions, InterventionsStage)
