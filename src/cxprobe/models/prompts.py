"""Files of prompts: texts with fields such as {item}, which tasks fill in."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import AfterValidator

from cxprobe.errors import PromptError
from cxprobe.files.schema import Closed, Slug, read_yaml, suggest, validate
from cxprobe.text import slots_of

PROMPTS_FOLDER = Path("prompts")
PromptName = Slug
FileOfPrompts = TypeVar("FileOfPrompts", bound=Closed)
NamedPrompt = TypeVar("NamedPrompt")


def with_fields(*fields: str) -> AfterValidator:
    """Return a check that a text has exactly these fields."""

    def check(text: str) -> str:
        if {*slots_of(text)} != set(fields):
            listed = ", ".join(f"{{{name}}}" for name in fields)
            raise ValueError(f"{text!r} must have exactly the fields {listed or '(none)'}")
        return text

    return AfterValidator(check)


def named(prompts: Mapping[str, NamedPrompt], name: str, kind: str) -> NamedPrompt:
    """Return the prompt or continuation with a name.

    Args:
        prompts: Name -> prompt or continuation.
        name: The name.
        kind: What the name stands for, for the message.

    Raises:
        PromptError: None has this name.
    """
    if name not in prompts:
        raise PromptError(f"{kind} '{name}' is unknown{suggest(name, list(prompts))}")
    return prompts[name]


def read_prompt_file(model: type[FileOfPrompts], path: Path) -> FileOfPrompts:
    """Read and check a file of prompts.

    Args:
        model: The class of its content.
        path: The file.

    Raises:
        PromptError: The file has faults; the message has one line for each.
    """
    return validate(model, read_yaml(path, PromptError), path, PromptError)
