"""The report as pages of HTML: what each model knows of each construction, asked in three ways.

`read_run` reads the tables of the reports that ran, `cast_of` says who the models are, `findings_of` gives each rate
with the best blind model beside it and a verdict by a stated rule, and `render_pages` fills the templates. What did not
run is "not asked", never zero. The pages open from a disk, without a network.
"""

from cxprobe.report.site.findings import Blind, Cast, Finding, Verdict, cast_of
from cxprobe.report.site.inputs import Run, read_run, sections_of
from cxprobe.report.site.lines import findings_of
from cxprobe.report.site.pages import overview_table, render_pages

__all__ = [
    "Blind",
    "Cast",
    "Finding",
    "Run",
    "Verdict",
    "cast_of",
    "findings_of",
    "overview_table",
    "read_run",
    "render_pages",
    "sections_of",
]
