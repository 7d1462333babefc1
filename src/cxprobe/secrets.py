"""Keys of the environment, which must not end in data, logs or messages: servers repeat them in their errors."""

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

# Names such as OPENAI_API_KEY, HF_TOKEN, AWS_SECRET_ACCESS_KEY, MLFLOW_TRACKING_PASSWORD.
_NAMES = re.compile(r"(?i)(?:key|token|secret|password|passwd|credential)s?$")
_ADDRESS = re.compile(r"://[^/@:\s]*:([^/@\s]+)@")  # such as postgresql://user:password@host, in any variable
_SHORTEST = 8  # a placeholder such as "none" is no secret, and would be blotted out of ordinary words
BLOT = "[key]"


def secret_values() -> list[str]:
    """Return the secrets of the environment, the longest first.

    They are the values of variables whose names say so, and the passwords of addresses in any variable.
    """
    named = (value for name, value in os.environ.items() if _NAMES.search(name))
    inside = (match[1] for value in os.environ.values() for match in _ADDRESS.finditer(value))
    return sorted({value for value in (*named, *inside) if len(value) >= _SHORTEST}, key=len, reverse=True)


def blot(text: str) -> str:
    """Return a text in which ``[key]`` stands for every secret of the environment."""
    for value in secret_values():
        text = text.replace(value, BLOT)
    return text


def blot_output() -> None:
    """Let this process print no secrets from now on, not in a traceback either.

    All that Python prints to the standard output and error is covered, also by libraries that hold the streams already.
    What other processes print, and libraries in C, is not.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream.write, partial):  # it has been done before
            stream.write = partial(_write_blotted, stream.write)  # type: ignore[method-assign]


def _write_blotted(write: Callable[[str], int], text: str) -> int:
    write(blot(text))
    return len(text)


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
