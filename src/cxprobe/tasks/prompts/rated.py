"""Inferences and multiple choice as people judge them."""

from collections.abc import Iterable, Iterator

from cxprobe.labels.ratings import RatedItem, in_drawn_order
from cxprobe.seeding import text_id
from cxprobe.tasks.prompts.items import Inference, Reasoning
from cxprobe.text.english import capitalise_sentences

_RELATIONS = {
    "entailment": "It must be true.",
    "neutral": "It may be true or false.",
    "contradiction": "It cannot be true.",
}
_NEITHER = "There is not enough information to tell."


def items_of_inferences(inferences: Iterable[Inference]) -> Iterator[RatedItem]:
    """Yield inferences as items, their relations in plain words."""
    for inference in inferences:
        yield RatedItem(
            kind="inference",
            id=inference.id,
            frame=inference.premise_id,
            text=f"Suppose this is true: {inference.premise}",
            question=f"What about this statement: {inference.hypothesis}",
            options=_RELATIONS,
            gold=inference.gold,
        )


def items_of_reasonings(reasonings: Iterable[Reasoning]) -> Iterator[RatedItem]:
    """Yield multiple-choice items.

    A and B are put in an order that does not depend on the seed that has put them in theirs.
    """
    for reasoning in reasonings:
        texts = [reasoning.text, reasoning.question, *sorted([reasoning.a, reasoning.b])]
        item_id = text_id(reasoning.id, "\x1f".join(texts))
        first, second = in_drawn_order(item_id, reasoning.a, reasoning.b)
        right = {"A": reasoning.a, "B": reasoning.b, "C": _NEITHER}[reasoning.gold]
        options = {"A": first, "B": second, "C": _NEITHER}
        yield RatedItem(
            kind="reasoning",
            id=item_id,
            frame=reasoning.frame_id,
            text=reasoning.text,
            question=reasoning.question,
            options={answer: capitalise_sentences(text) for answer, text in options.items()},
            gold=next(answer for answer, text in options.items() if text == right),
        )
