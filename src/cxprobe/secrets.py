"""Keys of the environment, which must not end in data, logs or messages: servers repeat them in their errors."""

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from cxprobe.errors import errors_behind

# Names such as OPENAI_API_KEY_2, HF_TOKEN, HF_AUTH, AWS_ACCESS_KEY_ID, PGPASSWORD; not those of files, such as
# HF_TOKEN_PATH.
_NAMES = re.compile(
    r"(?i)(?:^|_)(?:api|access|account|pg)?(?:key|token|secret|pass|password|pwd|credential|auth|pat)s?(?:_|\d|$)"
)
_NO_SECRETS = re.compile(r"(?i)(?:^(?:old)?pwd|_(?:dir|file|home|path|sock))$")
_ADDRESS = re.compile(r"://[^/@:\s]*:([^/\s]+)@")  # such as postgresql://user:p@ssword@host, in any variable
_SHORTEST = 8  # a placeholder such as "none" is no secret, and would be blotted out of ordinary words


def redact(text: str) -> str:
    """Return a text in which ``[key]`` stands for every key and password of the environment, written as it is there.

    They are the values of variables whose names say so, and the passwords of addresses in any variable.
    """
    secrets = set[str]()
    for name, value in os.environ.items():
        if _NAMES.search(name) and not _NO_SECRETS.search(name):
            secrets.add(value.strip())
        secrets.update(_ADDRESS.findall(value))
    for secret in sorted(secrets, key=len, reverse=True):  # the longest first, since one may begin with another
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[key]")
    return text


def redact_all(value: Any) -> Any:
    """Return texts, and lists, tuples and mappings of texts at any depth, without secrets; anything else as it is."""
    match value:
        case str():
            return redact(value)
        case list() | tuple():
            return type(value)(redact_all(inner) for inner in value)
        case dict():
            return {name: redact_all(inner) for name, inner in value.items()}
    return value


def redact_error(error: BaseException) -> None:
    """Remove secrets from an error, and from the errors that led to it, in place."""
    for current in errors_behind(error):
        current.args = redact_all(current.args)
        vars(current).update(redact_all(vars(current)))


def redact_output() -> None:
    """Let this process print no secrets from now on, not in a traceback either.

    All that Python prints to the standard output and error is covered, also by libraries that hold the streams already.
    What other processes print, and libraries in C, is not.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream.write, partial):  # it has been done before
            stream.write = partial(_write_blotted, stream.write)  # type: ignore[method-assign]


def _write_blotted(write: Callable[[str], int], text: str) -> int:
    write(redact(text))
    return len(text)
