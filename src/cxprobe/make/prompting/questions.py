"""All questions about a construction, in words or as texts to continue, from items, prompts and parameters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import pandas as pd

from cxprobe.errors import PromptError
from cxprobe.make.prompting.continuations import Continuations, continue_inference, continue_reasoning
from cxprobe.make.prompting.examples import choose_examples, without_examples
from cxprobe.make.prompting.material import Material
from cxprobe.make.prompting.templates import InferencePrompts, ReasoningPrompts, ask_inference, ask_reasoning
from cxprobe.params import BuildPrompts, Shots
from cxprobe.records import CLUSTER, RELATIONS, Inference, Reasoning
from cxprobe.seeding import generator_for

Item = TypeVar("Item", Inference, Reasoning)

REASONING = "reasoning"
NO_EXAMPLES = "none"


class _Asked(NamedTuple):
    """An item with one prompt and setting; ``id`` identifies the combination."""

    id: str
    item: Inference | Reasoning
    prompt: str
    shots: int
    sources: str
    examples: Sequence[Inference]
    thought: bool


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
    """Return every question in words: each item with each prompt, number of shots and chain of thought.

    No premise that is an example in any setting is asked about, so all settings are compared on the same items.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        inference_prompts: The prompts for inferences.
        reasoning_prompts: The prompts for multiple-choice items.
        settings: Which prompts, shots and chains of thought, and how many premises.
        seed: The project's seed.

    Returns:
        One row per question: id; kind ("inference" or "reasoning"); set; construction; test (of reasoning, else "");
        answerable; prompt; shots; examples (their sources, or "none"); chain_of_thought; gold (the digit or letter);
        cluster_premise (the premise or frame); question.

    Raises:
        PromptError: A prompt or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    selection = _select(construction, material, settings, seed)
    rows = []
    for asked in _asked(selection, settings.inference_prompts, settings.reasoning_prompts, settings.chain_of_thought):
        thought = asked.thought
        if isinstance(asked.item, Inference):
            text = ask_inference(asked.item, asked.prompt, inference_prompts, asked.examples, chain_of_thought=thought)
        else:
            text = ask_reasoning(asked.item, asked.prompt, reasoning_prompts, chain_of_thought=thought)
        rows.append(_row(asked) | {"question": text})
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
        One row per question, with the columns of `build_questions`, where question is the text before the answer, and
        anywhere, a text before the answers that says nothing about the item. And one row per question and answer: id
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
    rows, answers = [], []
    for asked in _asked(selection._replace(by_shots=few), own.inference, own.reasoning, [False]):
        if isinstance(asked.item, Inference):
            choice = continue_inference(asked.id, asked.item, asked.prompt, continuations, asked.examples)
        else:
            choice = continue_reasoning(asked.id, asked.item, asked.prompt, continuations)
        rows.append(_row(asked) | {"question": choice.context, "anywhere": choice.anywhere})
        answers += [(asked.id, symbol, text) for symbol, text in choice.answers.items()]
    return pd.DataFrame(rows), pd.DataFrame(answers, columns=["id", "answer", "text"])


def _select(construction: str, material: Material, settings: BuildPrompts, seed: int) -> _Selection:
    by_shots = [(shots, _examples(shots, construction, material.sources, seed)) for shots in settings.shots]
    every_example = [example for _, examples in by_shots for example in examples]
    inferences = [
        item
        for name, items in material.inferences.items()
        for item in _draw(without_examples(items, every_example), settings.premises, (construction, name), seed)
    ]
    reasonings = _draw(material.reasonings, settings.premises, (construction, REASONING), seed)
    if not inferences and not reasonings:
        raise PromptError(f"{construction}: nothing to ask; its items.yaml has none of the sets in build_prompts.sets")
    return _Selection(inferences, reasonings, by_shots)


def _examples(
    shots: Shots, construction: str, sources: Mapping[str, Sequence[Inference]], seed: int
) -> list[Inference]:
    only = construction if shots.of_the_construction else None
    return choose_examples([sources[name] for name in shots.sources], only, shots.number, seed=seed)


def _draw(items: Sequence[Item], number: int | None, of: tuple[str, str], seed: int) -> list[Item]:
    """Return the items of so many premises (frames), so that what is asked about one stays together."""
    premises = sorted({_cluster(item) for item in items})
    if number is None or number >= len(premises):
        return list(items)
    drawn = generator_for(seed, "questions", *of).choice(premises, number, replace=False)
    return [item for item in items if _cluster(item) in drawn]


def _cluster(item: Inference | Reasoning) -> str:
    return item.premise_id if isinstance(item, Inference) else item.frame_id


def _asked(
    selection: _Selection, inference_prompts: Sequence[str], reasoning_prompts: Sequence[str], thoughts: Sequence[bool]
) -> Iterator[_Asked]:
    for prompt in inference_prompts:
        for shots, examples in selection.by_shots:
            sources = "+".join(shots.sources) or NO_EXAMPLES
            for thought in thoughts:
                for item in selection.inferences:
                    id_ = _id(item, prompt, shots.number, sources, thought)
                    yield _Asked(id_, item, prompt, shots.number, sources, examples, thought)
    for prompt in reasoning_prompts:
        for thought in thoughts:
            for frame in selection.reasonings:
                id_ = _id(frame, prompt, 0, NO_EXAMPLES, thought)
                yield _Asked(id_, frame, prompt, 0, NO_EXAMPLES, [], thought)


def _id(item: Inference | Reasoning, prompt: str, shots: int, sources: str, thought: bool) -> str:
    return "/".join((item.id, prompt, str(shots), sources, "reasoned" if thought else "direct"))


def _row(asked: _Asked) -> dict[str, object]:
    item = asked.item
    return {
        "id": asked.id,
        "kind": "inference" if isinstance(item, Inference) else REASONING,
        "set": item.set if isinstance(item, Inference) else REASONING,
        "construction": item.construction,
        "test": "" if isinstance(item, Inference) else item.test,
        "answerable": isinstance(item, Inference) or item.answerable,
        "prompt": asked.prompt,
        "shots": asked.shots,
        "examples": asked.sources,
        "chain_of_thought": asked.thought,
        "gold": str(RELATIONS.index(item.gold)) if isinstance(item, Inference) else item.gold,
        f"{CLUSTER}premise": _cluster(item),
    }
