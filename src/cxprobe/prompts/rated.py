"""Inferences and multiple choice as people judge them."""

from collections.abc import Iterable, Iterator

from cxprobe.people.forms import RatedItem, in_drawn_order
from cxprobe.people.wording import InferenceTask, ReasoningTask
from cxprobe.prompts.items import Inference, Reasoning
from cxprobe.seeding import text_id
from cxprobe.text.english import capitalise_sentences


def items_of_inferences(inferences: Iterable[Inference], task: InferenceTask) -> Iterator[RatedItem]:
    """Yield inferences as items; strata are set, reading, template and gold."""
    for inference in inferences:
        yield RatedItem(
            kind="inference",
            id=inference.id,
            construction=inference.construction,
            frame=inference.premise_id,
            stratum={name: getattr(inference, name) for name in ("set", "reading", "template", "gold")},
            text=task.text.format(premise=inference.premise),
            question=task.question.format(hypothesis=inference.hypothesis),
            options=task.options.model_dump(),
            gold=inference.gold,
        )


def items_of_reasonings(reasonings: Iterable[Reasoning], task: ReasoningTask) -> Iterator[RatedItem]:
    """Yield multiple-choice items; the stratum is the test.

    A and B are put in an order that does not depend on the seed that has put them in theirs.
    """
    for reasoning in reasonings:
        texts = [reasoning.text, reasoning.question, *sorted([reasoning.a, reasoning.b])]
        item_id = text_id(reasoning.id, "\x1f".join(texts))
        first, second = in_drawn_order(item_id, reasoning.a, reasoning.b)
        right = {"A": reasoning.a, "B": reasoning.b, "C": task.neither}[reasoning.gold]
        options = {"A": first, "B": second, "C": task.neither}
        yield RatedItem(
            kind="reasoning",
            id=item_id,
            construction=reasoning.construction,
            frame=reasoning.frame_id,
            stratum={"test": reasoning.test},
            text=reasoning.text,
            question=reasoning.question,
            options={answer: capitalise_sentences(text) for answer, text in options.items()},
            gold=next(answer for answer, text in options.items() if text == right),
        )
