"""Prompts by which a model writes frames for minimal pairs and filters them, as data: prompts/frames.yaml."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from cxprobe.errors import ConstructionError, PromptError
from cxprobe.prompting.templates import PROMPTS_FOLDER, Name, with_fields
from cxprobe.prompting_params import DIAGNOSTIC_VERDICTS, INSTANCE_VERDICTS
from cxprobe.schema import Closed, read_yaml, suggest, validate


def _naming(*words: str) -> AfterValidator:
    """Return a check that a text names each of these words, since they are the answers that are understood."""

    def check(text: str) -> str:
        lacking = [word for word in words if not re.search(rf"\b{word}\b", text)]
        if lacking:
            raise ValueError(
                f"does not say that {', '.join(lacking)} may be answered (all that may: {', '.join(words)})"
            )
        return text

    return AfterValidator(check)


class WritingPrompt(Closed):
    """How a model is asked for frames, and how about each of them."""

    write: Annotated[str, with_fields("name", "gloss", "positive", "templates", "slots", "examples", "number")]
    """Asks for frames."""
    instance: Annotated[str, with_fields("name", "gloss", "positive", "sentence"), _naming(*INSTANCE_VERDICTS)]
    """Asks how good an instance of the construction a sentence is."""
    diagnostic: Annotated[str, with_fields("sentence", "statement"), _naming(*DIAGNOSTIC_VERDICTS)]
    """Asks whether a statement follows from a sentence."""

    def ask_for_frames(
        self, about: Mapping[str, str], templates: list[str], slots: dict[str, str], examples: list[str], number: int
    ) -> str:
        """Return the question that asks for frames.

        Args:
            about: The name, gloss and positive of construction.yaml.
            templates: The sentences, with their slots in braces.
            slots: Slot -> what fills it.
            examples: Frames that are there, each as one line of JSON.
            number: How many to write.
        """
        return self.write.format(
            **about,
            templates="\n".join(templates),
            slots="\n".join(f"{slot}: {gloss}" for slot, gloss in slots.items()),
            examples="\n".join(examples),
            number=number,
        )

    def ask_about_instance(self, about: Mapping[str, str], sentence: str) -> str:
        """Return the question of the first filter, whose answer is one of `INSTANCE_VERDICTS`."""
        return self.instance.format(**about, sentence=sentence)

    def ask_about_diagnostic(self, sentence: str, statement: str) -> str:
        """Return the question of the second filter, whose answer is one of `DIAGNOSTIC_VERDICTS`."""
        return self.diagnostic.format(sentence=sentence, statement=statement)


class WritingPrompts(Closed):
    """The prompts that there are."""

    prompts: Annotated[dict[Name, WritingPrompt], Field(min_length=1)]
    """Name -> how models are asked."""


def require_sentences(construction: str, tests: str, contexts: Sequence[str | None]) -> None:
    """Refuse pairs about which the filters have nothing to ask.

    Args:
        construction: Whose pairs.
        tests: What they test.
        contexts: The context of each variant.

    Raises:
        ConstructionError: They test something else than meaning, or a variant has no context.
    """
    if tests != "meaning" or not all(contexts):
        raise ConstructionError(
            f"{construction}: the filters ask about a sentence and what it means; its pairs.yaml has none"
        )


def load_writing_prompt(name: str, folder: Path = PROMPTS_FOLDER) -> WritingPrompt:
    """Read and check ``prompts/frames.yaml`` and return one of its prompts.

    Raises:
        PromptError: One line for every fault of the file; or there is no such prompt.

    Source:
        Oba & Sugawara 2026 for the design: generation from a template with slots, and two filters, prototypical,
        extended or unacceptable and appropriate or inappropriate; all words are this project's own.
    """
    path = folder / "frames.yaml"
    prompts = validate(WritingPrompts, read_yaml(path, PromptError), path, PromptError, {}).prompts
    if name not in prompts:
        raise PromptError(f"{path}: prompt '{name}' is unknown{suggest(name, list(prompts))}")
    return prompts[name]
