"""What must be kept in mind when findings about a construction are read."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import pandas as pd

from cxprobe.pairs.params import called_pairs, construction_of_pairs
from cxprobe.report.site.findings import ABOVE_BLIND, ASKED, PREFERENCE, QUESTIONS, Cast, Finding, groups_of
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import SETS, in_full, number

# Line of work -> the column that divides the comparisons of a construction.
_DIVIDED = {"recognition": "source", "pairs": "construction", "scenarios": "scenario", "prompts": "set"}
_FEWEST_FRAMES = 30


def reservations_of(construction: str, findings: Sequence[Finding], run: Run, cast: Cast) -> Iterator[str]:
    """Give the reservations about one construction, as sentences.

    Args:
        construction: Its folder.
        findings: Those about it, of all models.
        run: The tables of comparisons, which say what differences could have been found.
        cast: The models.
    """
    headlines = [one for one in findings if one.headline]
    # Which items a blind model does well on: of each kind of items the blind model that gets most.
    ways = {one.way: one for one in findings if one.blind and one.blind.rate.low > one.chance}
    for _, group in groupby(ways.values(), key=lambda one: one.way.partition(" S")[0]):
        every = list(group)
        most = max((one.blind for one in every if one.blind), key=lambda blind: blind.rate.value)
        names = ", ".join(one.way.partition(":")[0] for one in every)
        yield (
            f"{names[:1].upper()}{names[1:]}: a blind model is above chance on these items too: "
            f"{most.model} gets {in_full(most.rate)}."
            + ("" if any(one.headline for one in every) else " The overview has other items.")
        )
    for one in headlines:
        if one.verdict == PREFERENCE and one.model in cast.shown:
            yield f"{one.model} has a fixed preference ({one.way.partition(':')[0]}): {one.preference}."
    for one in headlines:
        if one.model in cast.twins and one.rate and not one.rate.low <= one.chance <= one.rate.high:
            yield f"{cast.label(one.model)} gets {in_full(one.rate)} ({one.way}): " + (
                "an untrained model is above chance on these items, so a rate above chance does not show that a model "
                "knows the construction."
                if one.rate.low > one.chance
                else "an untrained model knows nothing; the interval counts the items for one draw of weights and of "
                "training sentences, and another draw can lie on the other side of chance."
            )
    yield from _power(construction, headlines, run)
    pairs = run.table("report_pairs/accuracy")
    for (name,), own in groups_of(pairs if "clusters" in pairs else pairs.head(0), "construction"):
        if construction_of_pairs(name) == construction and (frames := int(own["clusters"].min())) < _FEWEST_FRAMES:
            yield (
                f"{called_pairs(name).capitalize()}: only {frames} frame{'s' * (frames != 1)} (frames that share a "
                f"word count as one): with fewer than {_FEWEST_FRAMES}, the interval says little about other frames."
            )
    asked = {one.question for one in findings if one.model in cast.shown}
    for question in QUESTIONS:
        if question not in asked:
            mock = " The mock model answers without a model, so it does not count."
            yield f"No model was asked {ASKED[question]}.{mock if question == 'words' and cast.mocks else ''}"


def _power(construction: str, headlines: Sequence[Finding], run: Run) -> Iterator[str]:
    """Give how large a difference from the best blind model had to be to be found, where no model is above it."""
    settled = {(one.line, one.run or one.source) for one in headlines if one.verdict == ABOVE_BLIND}
    unsettled = {(one.line, one.run or one.source) for one in headlines} - settled
    for line, column in _DIVIDED.items():
        table = run.table(f"report_{line}/tables/comparisons")
        if table.empty or all(line != other for other, _ in unsettled):
            continue
        of_it = table["construction"].map(construction_of_pairs) == construction
        own = table[of_it & (table["compares"] == "best blind")]
        own = own[pd.to_numeric(own["detectable"], errors="coerce").notna()]
        for (part,), rows in groups_of(own, column):
            names = {
                "recognition": f"Probe, {part} sentences",
                "prompts": f"{SETS.get(part, part)[:1].upper()}{SETS.get(part, part)[1:]}",
                "scenarios": f"Scenario {part}",
                "pairs": called_pairs(part).capitalize(),
            }
            if line in ("recognition", "pairs") and (line, part) not in unsettled:
                continue
            if line == "scenarios" and part != run.scenarios(construction).base:
                continue
            most = rows.sort_values("n", kind="stable").iloc[-1]
            points = round(100 * float(most["detectable"]))
            yield (
                f"{names[line]}: with {number(most['n'])}, only a difference of {points} points or more from the best "
                "blind model would have been found four times in five."
            )
