"""Rows of the rates, as pages show them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.results.findings import Baseline, Finding, ReportModels
from cxprobe.results.rates import ALL
from cxprobe.results.verdict import BESIDE_CONTROL, VERDICTS
from cxprobe.stats import Estimate

if TYPE_CHECKING:
    from cxprobe.results.inputs import ReportInputs
    from cxprobe.results.task import Task

_WORDS = {**VERDICTS, **BESIDE_CONTROL}
_PLACE = ["construction", "source", "facet", "level", "measure", "model"]


def findings_of_rates(task: "Task", inputs: "ReportInputs", models: ReportModels) -> Iterator[Finding]:
    """Yield the rates of a task that have a verdict and a place on pages, with the best baseline beside each.

    Args:
        task: The task.
        inputs: The results of the run.
        models: The models of the run.
    """
    rates = inputs.rates(task.name)
    every = {tuple(row[name] for name in _PLACE): row for row in rates.to_dict("records")}
    for place, row in every.items():
        if not row["verdict"] or row["construction"] == ALL:
            continue
        label = task.row_label(row, inputs)
        if not label:
            continue
        construction = task.params.construction_of(row["construction"])
        of_baseline = every.get((*place[:-1], row["baseline"])) or task.baseline(row, inputs)
        yield Finding(
            task.name,
            construction,
            row["model"],
            task.question(row, models),
            label,
            estimate_of(row),
            Baseline(row["baseline"], estimate_of(of_baseline)) if of_baseline else None,
            task.accuracy,
            chance=float(row["chance"]),
            source=row["source"],
            run=row["construction"] if task.compared_by == "construction" else "",
            headline=task.in_overview(row, inputs, models),
            counted=not inputs.is_placebo(construction),
            note=task.note(row, inputs),
            preference=task.preference(row, inputs) if row["verdict"] == "preference" else "",
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
