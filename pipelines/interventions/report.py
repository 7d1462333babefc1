"""report_interventions: judged effects of all models -> tables side by side, and a heat map of each."""

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.interventions.figures import heat_map
from cxprobe.interventions.params import InterventionsStage
from cxprobe.report.findings import grouped_rows
from cxprobe.report.judging import line_members
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

TABLES = ("effects", "effect_by_place", "selectivity")


def report_interventions(stage: Stage[InterventionsStage]) -> Outcome:
    folder = stage.use(DATA / "judge_interventions")
    judged = {stem: read_table(folder / f"{stem}.parquet") for stem in ("accuracy", *TABLES)}
    labels = {member.slug: member.label for member in line_members(stage.params)}
    figures = {
        f"figures/{name}_{model}": heat_map(table, f"{labels[model]}: {name}, effect by layer and region")
        for (model, name), table in grouped_rows(judged["effect_by_place"], "model", "construction")
    }
    tables = {"accuracy": judged["accuracy"], **{f"tables/{stem}": judged[stem] for stem in TABLES}}
    return Outcome(tables=tables, figures=figures)


if __name__ == "__main__":
    run_stage(report_interventions, InterventionsStage)
