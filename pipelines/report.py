"""report: the tables of all reports -> pages of HTML that answer what each model knows of each construction."""

from cxprobe.project.params import Params, whole_params
from cxprobe.results.findings import ReportModels
from cxprobe.results.pages import figure_path, render_pages, shown_first
from cxprobe.results.sentences import headline
from cxprobe.results.task import ReportInputs
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.registry import TASKS


def report(stage: Stage[Params]) -> Outcome:
    sections = {name: stage.params.params_of(name) for name in TASKS}
    inputs, models = ReportInputs(stage, sections, TASKS), ReportModels.of(sections)
    findings = [one for one in inputs.findings() if one.model in models.with_pages]
    drawn = {name: task.figures(inputs) for name, task in inputs.tasks.items()}
    pages = render_pages(inputs, models, findings, drawn)
    figures = {figure_path(name, stem): figure for name, of_task in drawn.items() for stem, figure in of_task.items()}
    print(headline(shown_first(findings, models), models.label), "See results/report/index.html", sep="\n")
    return Outcome(counts={"pages": len(pages)}, figures=figures, pages=pages)


if __name__ == "__main__":
    run_stage(report, whole_params())
