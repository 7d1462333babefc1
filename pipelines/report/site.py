"""report: the tables of all reports -> pages of HTML that answer what each model knows of each construction."""

import shutil

from cxprobe.files.writing import write_bytes
from cxprobe.report.site.findings import Cast, findings_of
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.pages import overview_table, render_pages
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def report(stage: Stage) -> Outcome:
    cast, run = Cast.of(stage.params), Run(stage)
    findings = findings_of(run, cast)
    overview, pages = overview_table(findings, cast), render_pages(run, cast, findings)
    for folder in ("constructions", "models"):  # pages of what has left params.yaml, where DVC has not removed them
        shutil.rmtree(stage.results / folder, ignore_errors=True)
    for path, text in pages.items():
        write_bytes(text.encode(), stage.results / path)
    return Outcome(counts={"pages": len(pages), "rates": len(overview)}, tables={"tables/overview": overview})


if __name__ == "__main__":
    run_stage(report)
