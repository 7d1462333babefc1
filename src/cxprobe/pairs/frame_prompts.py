"""prompts/frames.yaml: prompts by which a model writes frames for minimal pairs and filters them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from cxprobe.errors import ConstructionError
from cxprobe.files.schema import Closed
from cxprobe.lm.prompts import PROMPTS_FOLDER, PromptName, named, read_prompt_file, with_fields
from cxprobe.pairs.params import DIAGNOSTIC_VERDICTS, INSTANCE_VERDICTS


def _naming(*words: str) -> AfterValidator:
    """Return a check that a text names each of these words, the only answers that are accepted."""

    def check(text: str) -> str:
        missing = [word for word in words if not re.search(rf"\b{word}\b", text)]
        if missing:
            raise ValueError(
                f"does not name the answers {', '.join(missing)} (all that are accepted: {', '.join(words)})"
            )
        return text

    return AfterValidator(check)


class WritingPrompt(Closed):
    """The prompts that ask for frames, and about each frame."""

    write: Annotated[str, with_fields("name", "gloss", "positive", "templates", "slots", "examples", "number")]
    """Asks for frames."""
    instance: Annotated[str, with_fields("name", "gloss", "positive", "sentence"), _naming(*INSTANCE_VERDICTS)]
    """Asks how good an instance of the construction a sentence is."""
    diagnostic: Annotated[str, with_fields("sentence", "statement"), _naming(*DIAGNOSTIC_VERDICTS)]
    """Asks whether a statement follows from a sentence."""


class WritingPrompts(Closed):
    """All prompts of the file."""

    prompts: Annotated[dict[PromptName, WritingPrompt], Field(min_length=1)]
    """Name -> prompts."""


def require_sentences(construction: str, tests: str, contexts: Sequence[str | None]) -> None:
    """Refuse pairs that the filters cannot ask about.

    Args:
        construction: The name of the construction.
        tests: What they test.
        contexts: The context of each variant.

    Raises:
        ConstructionError: The pairs do not test meaning, or a variant has no context.
    """
    if tests != "meaning" or not all(contexts):
        raise ConstructionError(
            f"{construction}: the filters ask about a sentence and what it means, but its pairs.yaml has pairs of "
            "form, or a variant without a context; take it out of pairs.frames.constructions"
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
    return named(read_prompt_file(WritingPrompts, path).prompts, name, f"{path}: prompt")
