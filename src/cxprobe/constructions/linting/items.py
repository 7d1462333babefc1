"""Rules for all that models are asked in words: inferences and reasoning items."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cxprobe.constructions.items import InferenceItems, Items
from cxprobe.constructions.linting.faults import Fault
from cxprobe.constructions.linting.inference import lint_inference
from cxprobe.constructions.linting.reasoning import lint_reasoning
from cxprobe.constructions.linting.sentences import repeated


def lint_items(items: Items) -> Iterator[Fault]:
    """Find what is wrong with the inferences and the reasoning items of a construction.

    Args:
        items: Its items.yaml.
    """
    if items.inference is not None:
        yield from (fault.below("inference") for fault in lint_inference(items.inference))
    yield from (fault.below("reasoning") for fault in lint_reasoning(items.reasoning))


def lint_premises(items: Mapping[Path, Items]) -> dict[Path, list[Fault]]:
    """Find premises that an earlier file has too.

    Args:
        items: File -> its content.

    Returns:
        File -> its faults; without the files that have none.
    """
    asked = {path: one.inference for path, one in items.items() if one.inference is not None}
    faults: dict[Path, list[Fault]] = {}
    texts = ((key, text) for path, one in asked.items() for key, text in _premises(path, one))
    for (path, part, number), (earlier, _, _), text in repeated(texts):
        if path != earlier:
            what = f"the premise {text!r} is in {earlier} too; replace one of them"
            faults.setdefault(path, []).append(Fault(("inference", part, number), what))
    return faults


def _premises(path: Path, asked: InferenceItems) -> Iterator[tuple[tuple[Path, str, int], str]]:
    for part, sentences in (("premises", asked.premises), ("challenge", asked.challenge)):
        for number, one in enumerate(sentences):
            yield (path, part, number), one.sentence()
