"""What must be kept in mind when the findings about a construction are read, each with its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import pandas as pd

from cxprobe.report.site.findings import ABOVE_BLIND, QUESTIONS, Cast, Finding, Question
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.words import SETS, in_full, number

# Line of work -> the column that divides the comparisons of a construction.
_DIVIDED = {"recognition": "source", "pairs": "construction", "scenarios": "scenario", "prompts": "set"}
_ABOUT: Mapping[Question, str] = {"form": "about the form", "meaning": "about the meaning", "words": "in words"}
_FEWEST_FRAMES = 30
_LINES = {"probes": "recognition", "pair_replies": "pairs", "answers": "prompts", "replies": "prompts"}


def reservations_of(construction: str, findings: Sequence[Finding], run: Run, cast: Cast) -> list[str]:
    """Return the reservations about one construction, in sentences.

    Args:
        construction: Its folder.
        findings: Those about it, of all models.
        run: The tables of comparisons, which say what differences could have been found.
        cast: The models.
    """
    own = [finding for finding in findings if finding.construction == construction]
    return [
        *_given_away(own),
        *_preferences(own, cast),
        *_twins(own, cast),
        *_power(construction, own, run),
        *_frames(construction, run),
        *_absent(own, cast),
    ]


def _given_away(findings: Sequence[Finding]) -> Iterator[str]:
    """Say which items a blind model does well on: of each line of work the blind model that gets most."""
    ways = {one.way: one for one in findings if one.blind is not None and one.blind.rate.low > one.chance}
    for _, own in groupby(ways.values(), key=lambda one: one.way.partition(" S")[0]):
        every = list(own)
        most = max(every, key=lambda one: one.blind.rate.value if one.blind else 0.0)
        others = "" if any(one.headline for one in every) else " The overview has other items."
        named = ", ".join(one.way.partition(":")[0] for one in every)
        if most.blind is not None:
            yield (
                f"{_capital(named)}: these items can be solved without the construction. The blind model "
                f"{most.blind.model} gets {in_full(most.blind.rate)}.{others}"
            )


def _preferences(findings: Sequence[Finding], cast: Cast) -> Iterator[str]:
    for finding in findings:
        if finding.headline and finding.preference and finding.model in cast.shown:
            way = finding.way.partition(":")[0]
            yield f"{finding.model} has a fixed preference ({way}): {finding.preference}."


def _twins(findings: Sequence[Finding], cast: Cast) -> Iterator[str]:
    for finding in findings:
        if finding.headline and finding.model in cast.twins and finding.rate and finding.rate.low > finding.chance:
            yield (
                f"{cast.label(finding.model)} gets {in_full(finding.rate)} ({finding.way}): an untrained model is above"
                " chance too, so not all of the trained one's rate is knowledge."
            )


def _power(construction: str, findings: Sequence[Finding], run: Run) -> Iterator[str]:
    """Say how large a difference from the best blind model had to be to be found, where no model is above it."""
    headlines = [(_line_of(one), one.source, one.verdict == ABOVE_BLIND) for one in findings if one.headline]
    settled = {(line, source) for line, source, is_above in headlines if is_above}
    unsettled = {(line, source) for line, source, _ in headlines} - settled
    for line, column in _DIVIDED.items():
        table = run.table(f"report_{line}/tables/comparisons")
        if table.empty or all(line != other for other, _ in unsettled):
            continue
        own = table[(table["construction"] == construction) & (table["compares"] == "best blind")]
        own = own[pd.to_numeric(own["detectable"], errors="coerce").notna()]
        for name, rows in own.groupby(column, sort=False):
            if _stands_in_overview(line, str(name), construction, unsettled, run):
                most = rows.sort_values("n", kind="stable").iloc[-1]
                yield (
                    f"{_capital(_items(line, str(name)))}: with {number(most['n'])}, only a difference of "
                    f"{100 * float(most['detectable']):.0f} points or more from the best blind model would have been "
                    "found four times in five."
                )


def _frames(construction: str, run: Run) -> Iterator[str]:
    """Say where the minimal pairs are made of so few frames that the interval is about these alone."""
    table = run.table("report_pairs/accuracy")
    if "clusters" not in table:
        return
    counts = table.loc[table["construction"] == construction, "clusters"]
    if len(counts) and (fewest := int(counts.min())) < _FEWEST_FRAMES:
        yield (
            f"Minimal pairs: only {fewest} frame{'' if fewest == 1 else 's'} (frames that share a word count as one): "
            f"with fewer than {_FEWEST_FRAMES}, the interval says little about other frames."
        )


def _line_of(finding: Finding) -> str:
    subject = finding.stage.removeprefix("judge_")
    return _LINES.get(subject, subject)


def _stands_in_overview(line: str, part: str, construction: str, unsettled: set[tuple[str, str]], run: Run) -> bool:
    """Return whether a part of the items of a construction is in the overview, with no model above the blind there."""
    match line:
        case "scenarios":
            return part == run.scenarios(construction).base
        case "recognition":
            return (line, part) in unsettled
        case _:
            return True


def _items(line: str, part: str) -> str:
    match line:
        case "recognition":
            return f"probe, {part} sentences"
        case "prompts":
            return SETS.get(part, part)
        case "scenarios":
            return f"scenario {part}"
        case _:
            return "minimal pairs"


def _absent(findings: Sequence[Finding], cast: Cast) -> Iterator[str]:
    asked = {finding.question for finding in findings if finding.model in cast.shown}
    missing: list[Question] = [question for question in QUESTIONS if question not in asked]
    if missing:
        mock = (
            " The mock model answers without a model, so it does not count."
            if "words" in missing and cast.mocks
            else ""
        )
        yield " ".join(f"No model was asked {_ABOUT[question]}." for question in missing) + mock


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
