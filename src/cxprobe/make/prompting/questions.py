"""All questions about a construction, in words or as texts to continue, from items, prompts and parameters."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from cxprobe.errors import PromptError
from cxprobe.make.prompting.continuations import (
    Continuations,
    continue_inference,
    continue_reasoning,
    orders_of,
)
from cxprobe.make.prompting.examples import choose_examples, without_examples
from cxprobe.make.prompting.material import Material
from cxprobe.make.prompting.orders import ORDERS, PAPER, shown_letter, shown_options
from cxprobe.make.prompting.templates import InferencePrompts, ReasoningPrompts, ask_inference, ask_reasoning
from cxprobe.params import BuildPrompts, Shots
from cxprobe.records import CLUSTER, RELATIONS, Inference, Reasoning
from cxprobe.seeding import generator_for

REASONING = "reasoning"
NO_EXAMPLES = "none"


class _Asked(NamedTuple):
    """An item with one prompt and setting, its options in one order; ``id`` identifies the combination."""

    id: str
    item: Inference | Reasoning
    prompt: str
    shots: int
    sources: str
    examples: Sequence[Inference]
    thought: bool
    order: str


class _Selection(NamedTuple):
    """The items that are asked about, and the examples for each number of shots."""

    inferences: Sequence[Inference]
    reasonings: Sequence[Reasoning]
    by_shots: Sequence[tuple[Shots, Sequence[Inference]]]


def build_questions(
    construction: str,
    material: Material,
    inference_prompts: InferencePrompts,
    reasoning_prompts: ReasoningPrompts,
    settings: BuildPrompts,
    *,
    seed: int,
) -> pd.DataFrame:
    """Return every question in words: each item with each prompt, number of shots, chain of thought and order.

    No premise that is an example in any setting is asked about, so all settings are compared on the same items.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        inference_prompts: The prompts for inferences.
        reasoning_prompts: The prompts for multiple-choice items.
        settings: Which prompts, shots and chains of thought, and how many premises.
        seed: The project's seed.

    Returns:
        One row per question: id; item, which is asked about; kind ("inference" or "reasoning"); set; construction; test
        (of reasoning, else ""); template and reading (of inference, else ""); answerable; prompt; shots; examples
        (their sources, or "none"); chain_of_thought; order (of the options, see `cxprobe.make.prompting.orders`; ""
        for inference); gold (the digit, or the letter in this order); cluster_premise (the premise or frame);
        cluster_wording (the item itself where there is no template); question; and option_a, option_b and option_c,
        what is shown with each letter ("" for inference). The questions with the same item, prompt, shots, examples and
        chain_of_thought differ in the order alone.

    Raises:
        PromptError: A prompt or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    selection = _select(construction, material, settings, seed)
    orders = ORDERS[settings.option_orders]
    prompts = dict.fromkeys(settings.reasoning_prompts, orders)
    rows = []
    for asked in _asked(selection, settings.inference_prompts, prompts, settings.chain_of_thought):
        item, thought = asked.item, asked.thought
        if isinstance(item, Inference):
            text = ask_inference(item, asked.prompt, inference_prompts, asked.examples, chain_of_thought=thought)
            shown = dict.fromkeys(PAPER, "")
        else:
            order = asked.order
            text = ask_reasoning(item, asked.prompt, reasoning_prompts, chain_of_thought=thought, order=order)
            shown = shown_options(item.a, item.b, reasoning_prompts.neither, order)
        options = {f"option_{letter.lower()}": option for letter, option in shown.items()}
        rows.append(_row(asked) | {"question": text} | options)
    return pd.DataFrame(rows)


def build_choices(
    construction: str, material: Material, continuations: Continuations, settings: BuildPrompts, *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the same items as `build_questions` as texts to continue: with each continuation and number of shots.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        continuations: The texts.
        settings: What is asked in words; the items and the examples are the same. ``settings.continuations`` says
            which texts are used, and how many shots at most.
        seed: The project's seed.

    Returns:
        One row per question, with the columns of `build_questions` but the options, where question is the text before
        the answer, and anywhere, a text before the answers that says nothing about the item. A text that does not list
        the options is asked once, with the letters of the paper's order. And one row per question and answer: id
        (of the question); answer (the digit or letter); text, the continuation of the question with its leading space.

    Raises:
        PromptError: A text or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    own = settings.continuations
    selection = _select(construction, material, settings, seed)
    few = [(shots, examples) for shots, examples in selection.by_shots if shots.number <= own.most_shots]
    if not few:
        raise PromptError(
            f"build_prompts.continuations.most_shots is {own.most_shots}, but each entry of build_prompts.shots has "
            "more; raise the first, or add an entry with fewer shots"
        )
    orders = {name: orders_of(name, continuations, ORDERS[settings.option_orders]) for name in own.reasoning}
    rows, answers = [], []
    for asked in _asked(selection._replace(by_shots=few), own.inference, orders, [False]):
        if isinstance(asked.item, Inference):
            choice = continue_inference(asked.id, asked.item, asked.prompt, continuations, asked.examples)
        else:
            choice = continue_reasoning(asked.id, asked.item, asked.prompt, continuations, asked.order)
        rows.append(_row(asked) | {"question": choice.context, "anywhere": choice.anywhere})
        answers += [(asked.id, symbol, text) for symbol, text in choice.answers.items()]
    return pd.DataFrame(rows), pd.DataFrame(answers, columns=["id", "answer", "text"])


def template_cluster(item: Inference | Reasoning) -> str:
    """Return the cluster of an item's template, "<construction> <template>"; the item's id if it has no template."""
    if isinstance(item, Inference) and item.template:
        return f"{item.construction} {item.template}"
    return item.id


def _select(construction: str, material: Material, settings: BuildPrompts, seed: int) -> _Selection:
    by_shots = [(shots, _examples(shots, construction, material.sources, seed)) for shots in settings.shots]
    every_example = [example for _, examples in by_shots for example in examples]
    inferences = [
        item
        for name, items in material.inferences.items()
        for item in _draw(without_examples(items, every_example), settings.premises, (construction, name), seed)
    ]
    sets = dict.fromkeys(item.set for item in material.reasonings)
    by_set = [[item for item in material.reasonings if item.set == name] for name in sets]
    reasonings = [item for own in by_set for item in _first_frames(own, settings.premises)]
    if not inferences and not reasonings:
        raise PromptError(f"{construction}: nothing to ask; its items.yaml has none of the sets in build_prompts.sets")
    return _Selection(inferences, reasonings, by_shots)


def _examples(
    shots: Shots, construction: str, sources: Mapping[str, Sequence[Inference]], seed: int
) -> list[Inference]:
    only = construction if shots.of_the_construction else None
    return choose_examples([sources[name] for name in shots.sources], only, shots.number, seed=seed)


def _draw(items: Sequence[Inference], number: int | None, of: tuple[str, str], seed: int) -> list[Inference]:
    """Return the items of so many premises, so that what is asked about one stays together.

    The readings take turns, so that no relation is asked for more often because of the draw.
    """
    readings = {_cluster(item): item.reading for item in items}
    if number is None or number >= len(readings):
        return list(items)
    drawn = generator_for(seed, "questions", *of).permutation(sorted(readings))
    turns: Counter[str] = Counter()
    order = []
    for premise in drawn:
        turns[readings[premise]] += 1
        order.append((turns[readings[premise]], premise))
    chosen = {premise for _, premise in sorted(order, key=lambda one: one[0])[:number]}
    return [item for item in items if _cluster(item) in chosen]


def _first_frames(items: Sequence[Reasoning], number: int | None) -> list[Reasoning]:
    """Return the items of so many frames, the first: they come in a drawn order in which A and B take turns."""
    frames = list(dict.fromkeys(item.frame_id for item in items))[:number]
    return [item for item in items if item.frame_id in frames]


def _cluster(item: Inference | Reasoning) -> str:
    return item.premise_id if isinstance(item, Inference) else item.frame_id


def _asked(
    selection: _Selection,
    inference_prompts: Sequence[str],
    reasoning_prompts: Mapping[str, Sequence[str]],
    thoughts: Sequence[bool],
) -> Iterator[_Asked]:
    """Yield what is asked; ``reasoning_prompts`` has the orders in which each prompt shows the options."""
    for prompt in inference_prompts:
        for shots, examples in selection.by_shots:
            sources = "+".join(shots.sources) or NO_EXAMPLES
            for thought in thoughts:
                for item in selection.inferences:
                    id_ = _id(item, prompt, shots.number, sources, thought)
                    yield _Asked(id_, item, prompt, shots.number, sources, examples, thought, "")
    for prompt, orders in reasoning_prompts.items():
        for thought in thoughts:
            for frame in selection.reasonings:
                for order in orders:
                    id_ = _id(frame, prompt, 0, NO_EXAMPLES, thought, order)
                    yield _Asked(id_, frame, prompt, 0, NO_EXAMPLES, [], thought, order)


def _id(item: Inference | Reasoning, prompt: str, shots: int, sources: str, thought: bool, order: str = PAPER) -> str:
    """Return the id of a question; in the paper's order it does not depend on whether others are asked."""
    how = "reasoned" if thought else "direct"
    return "/".join((item.id, prompt, str(shots), sources, how, *([] if order == PAPER else [order])))


def _row(asked: _Asked) -> dict[str, object]:
    item = asked.item
    of = {"id": asked.id, "item": item.id, "construction": item.construction, f"{CLUSTER}premise": _cluster(item)}
    how = {"prompt": asked.prompt, "shots": asked.shots, "examples": asked.sources, "chain_of_thought": asked.thought}
    own: dict[str, object]
    if isinstance(item, Inference):
        own = {"kind": "inference", "set": item.set, "test": "", "template": item.template, "reading": item.reading}
        own |= {"answerable": True, "order": "", "gold": str(RELATIONS.index(item.gold))}
    else:
        own = {"kind": REASONING, "set": item.set, "test": item.test, "template": "", "reading": ""}
        own |= {"answerable": item.answerable, "order": asked.order, "gold": shown_letter(item.gold, asked.order)}
    return of | how | own | {f"{CLUSTER}wording": template_cluster(item)}
