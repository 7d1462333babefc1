"""Rows of the rates, as pages show them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.report.findings import Blind, Finding, ReportModels
from cxprobe.report.rates import ALL
from cxprobe.report.verdict import BESIDE_CONTROL, VERDICTS
from cxprobe.stats import Estimate

if TYPE_CHECKING:
    from cxprobe.report.inputs import ReportInputs
    from cxprobe.report.line import Line

_WORDS = {**VERDICTS, **BESIDE_CONTROL}
_PLACE = ["construction", "source", "facet", "level", "measure", "model"]


def findings_of_rates(line: "Line", inputs: "ReportInputs", models: ReportModels) -> Iterator[Finding]:
    """Yield the rates of a task that have a verdict and a place on pages, with the best baseline beside each.

    Args:
        line: The task.
        inputs: The results of the run.
        models: The models of the run.
    """
    rates = inputs.rates(line.name)
    every = {tuple(row[name] for name in _PLACE): row for row in rates.to_dict("records")}
    for place, row in every.items():
        if not row["verdict"] or row["construction"] == ALL:
            continue
        label = line.row_label(row, inputs)
        if not label:
            continue
        construction = line.params.construction_of(row["construction"])
        of_baseline = every.get((*place[:-1], row["baseline"])) or line.baseline(row, inputs)
        yield Finding(
            line.name,
            construction,
            row["model"],
            line.question(row, models),
            label,
            estimate_of(row),
            Blind(row["baseline"], estimate_of(of_baseline)) if of_baseline else None,
            line.accuracy,
            chance=float(row["chance"]),
            source=row["source"],
            run=row["construction"] if line.compared_by == "construction" else "",
            headline=line.in_overview(row, inputs, models),
            counted=not inputs.is_placebo(construction),
            note=line.note(row, inputs),
            preference=line.preference(row, inputs) if row["verdict"] == "preference" else "",
            control=_control(row),
            verdict=_WORDS[row["verdict"]],
            detectable=None if pd.isna(row["p_adjusted"]) else float(row["detectable"]),
        )


def estimate_of(row: Mapping[Any, Any]) -> Estimate:
    """Return the rate of a row with its interval."""
    return Estimate(float(row["value"]), float(row["low"]), float(row["high"]), int(row["n"]))


def _control(row: Mapping[Any, Any]) -> Estimate | None:
    if pd.isna(row["control"]):
        return None
    return Estimate(float(row["control"]), float(row["control_low"]), float(row["control_high"]), int(row["control_n"]))
