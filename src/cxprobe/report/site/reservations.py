"""What must be kept in mind when findings about a construction are read: numbers for templates/reservations.html."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.report.site.findings import ABOVE_BLIND, QUESTIONS, Cast, Finding, groups_of
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import SETS

# Line of work -> the column that divides the comparisons of a construction.
_DIVIDED = {"recognition": "source", "pairs": "construction", "scenarios": "scenario", "prompts": "set"}
_FEWEST_FRAMES = 30


class Reservation(NamedTuple):
    """A reservation: the name of its macro in the template, and what the macro says."""

    kind: str
    content: dict[str, Any]


def reservations_of(construction: str, findings: Sequence[Finding], run: Run, cast: Cast) -> list[Reservation]:
    """Return the reservations about one construction.

    Args:
        construction: Its folder.
        findings: Those about it, of all models.
        run: The tables of comparisons, which say what differences could have been found.
        cast: The models.
    """
    headlines = [one for one in findings if one.headline]
    # Which items a blind model does well on: of each kind of items the blind model that gets most.
    ways = {one.way: one for one in findings if one.blind and one.blind.rate.low > one.chance}
    reservations = []
    for _, group in groupby(ways.values(), key=lambda one: one.way.partition(" S")[0]):
        every = list(group)
        most = max((one.blind for one in every if one.blind), key=lambda blind: blind.rate.value)
        names = ", ".join(one.way.partition(":")[0] for one in every)
        others = not any(one.headline for one in every)
        reservations.append(Reservation("given_away", {"items": names, "blind": most, "others": others}))
    for one in headlines:
        if one.preference and one.model in cast.shown:
            reservations.append(Reservation("preference", {"finding": one}))
    for one in headlines:
        if one.model in cast.twins and one.rate and not one.rate.low <= one.chance <= one.rate.high:
            reservations.append(Reservation("twin", {"finding": one}))
    reservations += _power(construction, headlines, run)
    pairs = run.table("report_pairs/accuracy")
    if "clusters" in pairs:
        counts = pairs.loc[pairs["construction"] == construction, "clusters"]
        if len(counts) and int(counts.min()) < _FEWEST_FRAMES:
            content = {"frames": int(counts.min()), "enough": _FEWEST_FRAMES}
            reservations.append(Reservation("frames", content))
    asked = {one.question for one in findings if one.model in cast.shown}
    if missing := [question for question in QUESTIONS if question not in asked]:
        reservations.append(Reservation("absent", {"questions": missing}))
    return reservations


def _power(construction: str, headlines: Sequence[Finding], run: Run) -> Iterator[Reservation]:
    """Give how large a difference from the best blind model had to be to be found, where no model is above it."""
    settled = {(one.line, one.source) for one in headlines if one.verdict == ABOVE_BLIND}
    unsettled = {(one.line, one.source) for one in headlines} - settled
    for line, column in _DIVIDED.items():
        table = run.table(f"report_{line}/tables/comparisons")
        if table.empty or all(line != other for other, _ in unsettled):
            continue
        own = table[(table["construction"] == construction) & (table["compares"] == "best blind")]
        own = own[pd.to_numeric(own["detectable"], errors="coerce").notna()]
        for (part,), rows in groups_of(own, column):
            names = {
                "recognition": f"probe, {part} sentences",
                "prompts": SETS.get(part, part),
                "scenarios": f"scenario {part}",
                "pairs": "minimal pairs",
            }
            if line == "recognition" and (line, part) not in unsettled:
                continue
            if line == "scenarios" and part != run.scenarios(construction).base:
                continue
            most = rows.sort_values("n", kind="stable").iloc[-1]
            points = round(100 * float(most["detectable"]))
            yield Reservation("power", {"items": names[line], "n": most["n"], "points": points})
