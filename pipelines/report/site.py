"""report: the tables of all reports -> pages of HTML that answer what each model knows of each construction."""

from cxprobe.report.site.findings import Cast, findings_of
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.pages import overview_table, render_pages
from cxprobe.report.site.slots import draw_slots
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def report(stage: Stage) -> Outcome:
    cast, run = Cast.of(stage.params), Run(stage)
    findings = findings_of(run, cast)
    overview, pages = overview_table(findings, cast), render_pages(run, cast, findings)
    counts = {"pages": len(pages), "rates": len(overview)}
    figures = {f"slots/{slug}": figure for slug, figure in draw_slots(run).items()}
    return Outcome(counts=counts, tables={"tables/overview": overview}, figures=figures, pages=pages)


if __name__ == "__main__":
    run_stage(report)
