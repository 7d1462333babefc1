"""report: the tables of all reports -> pages of HTML that answer what each model knows of each construction."""

from cxprobe.project.params import Params, whole_params
from cxprobe.results.findings import ReportModels
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.pages.site import findings_of, overview_table, render_pages
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.registry import TASKS


def report(stage: Stage[Params]) -> Outcome:
    sections = {name: stage.params.params_of(name) for name in TASKS}
    inputs, models = ReportInputs(stage, sections, list(TASKS.values())), ReportModels.of(sections)
    findings = findings_of(inputs, models)
    figures = {
        f"figures/{name}_{stem}": figure
        for name, task in inputs.tasks.items()
        for stem, figure in task.figures(inputs).items()
    }
    overview, pages = overview_table(findings, models), render_pages(inputs, models, findings, figures)
    counts = {"pages": len(pages), "rates": len(overview)}
    return Outcome(counts=counts, tables={"tables/overview": overview}, figures=figures, pages=pages)


if __name__ == "__main__":
    run_stage(report, whole_params())
