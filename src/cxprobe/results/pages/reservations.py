"""Reservations about the findings on a construction."""

from collections.abc import Iterator, Sequence

from cxprobe.results.findings import Finding, ReportModels
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
    ways = {one.way: one for one in headlines if one.baseline and one.baseline.rate.low > one.chance}
    for way, one in ways.items():
        if one.baseline and not one.conditions:
            yield (
                f"{one.baseline.name} is above chance on the {way}, without the construction: "
                f"{in_full(one.baseline.rate)}. What is above chance there shows no knowledge of it."
            )
    for one in headlines:
        if one.model in models.random_controls and one.rate.low > one.chance:
            yield (
                f"{models.label(one.model)}, which is untrained, is above chance on the {one.way}: {in_full(one.rate)}."
            )
    for task in inputs.tasks.values():
        yield from task.reservations(construction, inputs)
