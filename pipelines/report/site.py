"""report: the tables of all reports -> pages of HTML that answer what each model knows of each construction."""

from cxprobe.lines import LINES
from cxprobe.project.params import Params, whole_params
from cxprobe.report.findings import ReportModels
from cxprobe.report.inputs import ReportInputs
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.site.pages import findings_of, overview_table, render_pages


def report(stage: Stage[Params]) -> Outcome:
    sections = {name: stage.params.params_of(name) for name in LINES}
    inputs, models = ReportInputs(stage, sections, list(LINES.values())), ReportModels.of(sections)
    findings = findings_of(inputs, models)
    figures = {
        f"figures/{name}_{stem}": figure
        for name, line in inputs.lines.items()
        for stem, figure in line.figures(inputs).items()
    }
    overview, pages = overview_table(findings, models), render_pages(inputs, models, findings, figures)
    counts = {"pages": len(pages), "rates": len(overview)}
    return Outcome(counts=counts, tables={"tables/overview": overview}, figures=figures, pages=pages)


if __name__ == "__main__":
    run_stage(report, whole_params())
