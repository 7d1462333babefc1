"""report: the tables of all reports -> pages of HTML that answer what each model knows of each construction."""

import shutil

from cxprobe.report import earlier_checkpoints
from cxprobe.report.site import cast_of, findings_of, overview_table, read_run, render_pages, sections_of
from cxprobe.stages import Outcome, Stage, run_stage
from cxprobe.storage import write_bytes


def report(stage: Stage) -> Outcome:
    params = stage.params
    cast = cast_of(params, earlier_checkpoints(params.series or {}))
    run = read_run(params, stage.use, stage.settings(*sections_of(params)))
    findings = findings_of(run, cast)
    overview, pages = overview_table(findings, cast), render_pages(run, cast, findings)
    for folder in ("constructions", "models"):  # pages of what has left the grid, where DVC has not removed them
        shutil.rmtree(stage.results / folder, ignore_errors=True)
    for path, text in pages.items():
        write_bytes(text.encode(), stage.results / path)
    return Outcome(counts={"pages": len(pages), "rates": len(overview)}, tables={"tables/overview": overview})


if __name__ == "__main__":
    run_stage(report)
