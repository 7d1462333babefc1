"""Few-shot examples: which items are shown with their answers before the question."""

from collections.abc import Sequence

from cxprobe.errors import PromptError
from cxprobe.records import RELATIONS, Inference
from cxprobe.seeding import generator_for


def choose_examples(
    sources: Sequence[Sequence[Inference]], construction: str | None, shots: int, *, seed: int
) -> list[Inference]:
    """Draw the examples of a few-shot question.

    A shot is one example of each relation. Premises are drawn in random order; each gives at most one example of a
    relation, so that where a source has three hypotheses for every premise, as CxNLI does, a shot is one premise. The
    examples of all sources together are shown in random order.

    Args:
        sources: The items of each source; ``shots`` are drawn from each.
        construction: Draw only items of this construction; None for all items.
        shots: Examples of each relation, from each source; 0 for none.
        seed: The project's seed.

    Raises:
        PromptError: A source has too few examples of a relation.

    Source:
        Scivetti et al. 2025: 0, 1 and 3 shots; the release has three relations to a premise.
    """
    drawn = [
        example
        for number, source in enumerate(sources)
        for example in _draw(
            [item for item in source if construction in (None, item.construction)], number, construction, shots, seed
        )
    ]
    order = generator_for(seed, "order of examples", construction, shots, len(sources)).permutation(len(drawn))
    return [drawn[place] for place in order]


def without_examples(items: Sequence[Inference], examples: Sequence[Inference]) -> list[Inference]:
    """Return the items whose premise is not shown in an example: what is shown with its answer is not asked."""
    shown = {example.premise for example in examples}
    return [item for item in items if item.premise not in shown]


def _draw(items: list[Inference], source: int, construction: str | None, shots: int, seed: int) -> list[Inference]:
    by_premise: dict[str, list[Inference]] = {}
    for item in sorted(items, key=lambda one: one.id):
        by_premise.setdefault(item.premise, []).append(item)
    premises = list(by_premise)
    generator = generator_for(seed, "examples", source, construction)
    found: dict[str, list[Inference]] = {relation: [] for relation in RELATIONS}
    for place in generator.permutation(len(premises)):
        hypotheses = by_premise[premises[place]]
        for relation in RELATIONS:
            fitting = [item for item in hypotheses if item.gold == relation]
            if fitting and len(found[relation]) < shots:
                found[relation].append(fitting[int(generator.integers(len(fitting)))])
    too_few = [f"{len(some)} of {relation}" for relation, some in found.items() if len(some) < shots]
    if too_few:
        raise PromptError(
            f"{shots} examples of each relation were asked for{f' of {construction}' if construction else ''}, but a "
            f"source has {', '.join(too_few)}; ask for fewer shots, or name a larger source"
            + (", or let them be of any construction (of_the_construction: false)" if construction else "")
        )
    return [item for some in found.values() for item in some]
