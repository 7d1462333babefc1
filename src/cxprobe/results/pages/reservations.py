"""Reservations about the findings on a construction."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from cxprobe.results.findings import ASKED, PREFERENCE, Finding, ReportModels
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.words import in_full


def reservations_of(
    construction: str, findings: Sequence[Finding], inputs: ReportInputs, models: ReportModels
) -> Iterator[str]:
    """Yield the reservations about one construction, as sentences.

    Args:
        construction: Its folder.
        findings: Those about it, of all models.
        inputs: The results of the run.
        models: The models.
    """
    headlines = [one for one in findings if one.headline]
    # Which items a baseline does well on: of each kind of items the baseline that gets most.
    ways = {one.way: one for one in findings if one.baseline and one.baseline.rate.low > one.chance}
    for _, group in groupby(ways.values(), key=lambda one: one.way.partition(" S")[0]):
        every = list(group)
        most = max((one.baseline for one in every if one.baseline), key=lambda baseline: baseline.rate.value)
        names = ", ".join(one.way.partition(":")[0] for one in every)
        yield (
            f"{names[:1].upper()}{names[1:]}: a baseline is above chance on these items too: "
            f"{most.model} gets {in_full(most.rate)}."
            + ("" if any(one.headline for one in every) else " The overview has other items.")
        )
    for one in headlines:
        if one.verdict == PREFERENCE and one.model in models.shown:
            yield f"{one.model} has a fixed preference ({one.way.partition(':')[0]}): {one.preference}."
    for one in headlines:
        if one.model in models.random_controls and one.rate and not one.rate.low <= one.chance <= one.rate.high:
            yield f"{models.label(one.model)} gets {in_full(one.rate)} ({one.way}): " + (
                "an untrained model is above chance on these items, so a rate above chance does not show that a model "
                "knows the construction."
                if one.rate.low > one.chance
                else "an untrained model knows nothing; the interval counts the items for one draw of weights and of "
                "training sentences, and another draw can lie on the other side of chance."
            )
    for task in inputs.tasks.values():
        yield from task.reservations(construction, inputs)
    asked = {one.question for one in findings if one.model in models.shown}
    for question in ASKED:
        if question not in asked:
            mock = " The mock model answers without a model, so it does not count."
            yield f"No model was asked {ASKED[question]}.{mock if question == 'words' and models.mocks else ''}"
