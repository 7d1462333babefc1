"""From items, prompts and parameters to the table of all questions about a construction."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import pandas as pd

from cxprobe.errors import PromptError
from cxprobe.prompting.examples import choose_examples, without_examples
from cxprobe.prompting.templates import InferencePrompts, ReasoningPrompts, ask_inference, ask_reasoning
from cxprobe.prompting_params import AskLlms, Shots
from cxprobe.records import CLUSTER, RELATIONS, Inference, Reasoning
from cxprobe.seeding import generator_for

Item = TypeVar("Item", Inference, Reasoning)

REASONING = "reasoning"
NO_EXAMPLES = "none"
_COLUMNS = (
    "id", "kind", "set", "construction", "test", "answerable", "prompt", "shots", "examples", "chain_of_thought",
    "gold", "question", f"{CLUSTER}premise",
)  # fmt: skip


class Material(NamedTuple):
    """What the questions about a construction are made of.

    Attributes:
        inferences: Name of a set -> its items about the construction.
        reasonings: The construction's reasoning items.
        sources: Name of a source of examples, as the parameters give it -> its items.
        inference_prompts: How models are asked about inferences.
        reasoning_prompts: How models are asked multiple-choice questions.
    """

    inferences: Mapping[str, Sequence[Inference]]
    reasonings: Sequence[Reasoning]
    sources: Mapping[str, Sequence[Inference]]
    inference_prompts: InferencePrompts
    reasoning_prompts: ReasoningPrompts


def build_questions(construction: str, material: Material, settings: AskLlms, *, seed: int) -> pd.DataFrame:
    """Return every question: each item with each prompt, setting of shots and chain of thought.

    No premise that is an example in any setting is asked in one, so that all settings are compared on the same items.

    Args:
        construction: Its name.
        material: What there is.
        settings: What of it is asked.
        seed: The project's seed.

    Returns:
        One row a question: id; kind ("inference" or "reasoning"); set; construction; test (of reasoning, else "");
        answerable; prompt; shots; examples (their sources, or "none"); chain_of_thought; gold (the digit or letter);
        question; cluster_premise (the premise or frame).

    Raises:
        PromptError: A prompt or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    by_shots = [_examples(shots, construction, material.sources, seed) for shots in settings.shots]
    every_example = [example for examples in by_shots for example in examples]
    inferences = [
        item
        for name, items in material.inferences.items()
        for item in _draw(without_examples(items, every_example), settings.premises, (construction, name), seed)
    ]
    reasonings = _draw(material.reasonings, settings.premises, (construction, REASONING), seed)
    rows = [
        *_inference_rows(inferences, by_shots, material.inference_prompts, settings),
        *_reasoning_rows(reasonings, material.reasoning_prompts, settings),
    ]
    if not rows:
        raise PromptError(f"{construction}: nothing to ask; its items.yaml and ask_llms.sets have no set in common")
    return pd.DataFrame(rows, columns=list(_COLUMNS))


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


def _inference_rows(
    items: Sequence[Inference], by_shots: Sequence[Sequence[Inference]], prompts: InferencePrompts, settings: AskLlms
) -> Iterator[tuple[object, ...]]:
    for prompt in settings.inference_prompts:
        for shots, examples in zip(settings.shots, by_shots, strict=True):
            sources = "+".join(shots.sources) or NO_EXAMPLES
            for thought in settings.chain_of_thought:
                for item in items:
                    id_ = "/".join((item.id, prompt, str(shots.number), sources, _thought(thought)))
                    question = ask_inference(item, prompt, prompts, examples, chain_of_thought=thought)
                    yield (
                        id_, "inference", item.set, item.construction, "", True, prompt, shots.number, sources, thought,
                        str(RELATIONS.index(item.gold)), question, item.premise_id,
                    )  # fmt: skip


def _reasoning_rows(
    items: Sequence[Reasoning], prompts: ReasoningPrompts, settings: AskLlms
) -> Iterator[tuple[object, ...]]:
    for prompt in settings.reasoning_prompts:
        for thought in settings.chain_of_thought:
            for item in items:
                id_ = "/".join((item.id, prompt, "0", NO_EXAMPLES, _thought(thought)))
                question = ask_reasoning(item, prompt, prompts, chain_of_thought=thought)
                yield (
                    id_, "reasoning", REASONING, item.construction, item.test, item.answerable, prompt, 0, NO_EXAMPLES,
                    thought, item.gold, question, item.frame_id,
                )  # fmt: skip


def _thought(chain_of_thought: bool) -> str:
    return "reasoned" if chain_of_thought else "direct"
