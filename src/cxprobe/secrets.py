"""Keys of the environment, which must not end in data, logs or messages: servers repeat them in their errors."""

import os
import re
from typing import Any

# Names such as OPENAI_API_KEY, HF_TOKEN, AWS_SECRET_ACCESS_KEY, MLFLOW_TRACKING_PASSWORD.
_NAMES = re.compile(r"(?i)(?:key|token|secret|password|passwd|credential)s?$")
_SHORTEST = 8  # a placeholder such as "none" is no secret, and would be blotted out of ordinary words
BLOT = "[key]"


def secret_values() -> list[str]:
    """Return the values of all environment variables whose names say that they are secret, the longest first."""
    values = {value for name, value in os.environ.items() if _NAMES.search(name) and len(value) >= _SHORTEST}
    return sorted(values, key=len, reverse=True)


def blot(text: str) -> str:
    """Return a text in which ``[key]`` stands for every secret of the environment."""
    for value in secret_values():
        text = text.replace(value, BLOT)
    return text


def blot_all(value: Any) -> Any:
    """Return texts, and lists, tuples and mappings of texts at any depth, without secrets; anything else as it is."""
    match value:
        case str():
            return blot(value)
        case list() | tuple():
            return type(value)(map(blot_all, value))
        case dict():
            return {name: blot_all(inner) for name, inner in value.items()}
    return value


def blot_error(error: BaseException) -> None:
    """Remove secrets from an error, and from the errors that led to it, in place."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        current.args = blot_all(current.args)
        for name, value in vars(current).items():
            if isinstance(value, str | list | tuple | dict):
                setattr(current, name, blot_all(value))
        current = current.__cause__ or current.__context__
