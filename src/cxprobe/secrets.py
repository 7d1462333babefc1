"""Keys of the environment, which must not end in data, logs or messages: servers repeat them in their errors."""

import base64
import html
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote, quote_plus

# Names such as OPENAI_API_KEY_2, HF_TOKEN, HF_AUTH, AWS_ACCESS_KEY_ID, PGPASSWORD; not those of files, such as
# HF_TOKEN_PATH.
_NAMES = re.compile(
    r"(?i)(?:key|token|secret|password|passwd|credential)s?$"
    r"|(?:^|_)(?:(?:api|access)?key|token|secret|pass(?:word|wd|phrase)?|pwd|credential|auth|pat)s?(?:_|\d|$)"
)
_NO_SECRETS = re.compile(r"(?i)(?:^(?:old)?pwd|_(?:dir|file|home|path|sock))$")
_ADDRESS = re.compile(r"://[^/@:\s]*:([^/\s]+)@")  # such as postgresql://user:p@ssword@host, in any variable
_SETTING = re.compile(r"(?i)(?:key|token|secret|password|passwd|pwd|sig(?:nature)?)=([^&;\s]+)")  # as in an address
# Keys that need not be in the environment: by what their issuers begin them with, in a header, and private keys.
_KNOWN = re.compile(
    r"\b(?:(?:hf_|gh[oprsu]_|github_pat_|AKIA|ASIA)[A-Za-z0-9]{16,}|(?:sk-|glpat-|xox[abprs]-|AIza)[\w-]{16,})"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=Bearer )[\w.~+/=-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*"
)
_SHORTEST = 8  # a placeholder such as "none" is no secret, and would be blotted out of ordinary words
BLOT = "[key]"
_SAID = ("message", "detail", "error", "code", "type")  # of what a server answers
_LONGEST = 300  # characters of an answer that is no JSON


def blot(text: str) -> str:
    """Return a message in which ``[key]`` stands for every secret of the environment, and for what looks like a key."""
    return _KNOWN.sub(BLOT, _without_secrets(text))


def _without_secrets(text: str) -> str:
    """Return a text without the secrets of the environment, however they are written.

    They are the values of variables whose names say so, each of their lines, and the passwords of addresses and
    settings in any variable; as they are, or encoded for addresses, JSON or HTML, or in base64.
    """
    secret = _pattern(tuple(os.environ.items()))
    return secret.sub(BLOT, text) if secret else text


@lru_cache(maxsize=1)
def _pattern(environment: tuple[tuple[str, str], ...]) -> re.Pattern[str] | None:
    """Return what finds every form of every secret of an environment, the longest first; None if there is none."""
    secrets = set()
    for name, value in environment:
        if _NAMES.search(name) and not _NO_SECRETS.search(name):
            secrets |= {value, *map(str.strip, re.split(r"\\n|[\r\n]", value))}
        for match in _ADDRESS.finditer(value):
            parts = match[1].split("@")  # which of them ends the password, only the program knows that reads it
            secrets |= {"@".join(parts[:number]) for number in range(1, len(parts) + 1)}
        secrets |= {match[1] for match in _SETTING.finditer(value)}
    forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
    found = sorted((form for form in forms if len(form) >= _SHORTEST), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, found))) if found else None


def _forms(secret: str) -> Iterator[str]:
    """Yield a text as it is, and as it is encoded by itself or, in base64, in the middle of something longer."""
    for form in (secret, quote(secret), quote(secret, safe=""), quote_plus(secret)):
        yield form
        yield re.sub("%..", lambda code: code[0].lower(), form)
    for is_ascii in (True, False):
        yield json.dumps(secret, ensure_ascii=is_ascii)[1:-1]
    yield repr(secret)[1:-1]
    for quotes in (True, False):
        yield html.escape(secret, quote=quotes)
    content = secret.encode(errors="surrogateescape")
    for before in range(3):  # three bytes become four letters, so that they depend on what is before
        inside = slice((0, 2, 3)[before], (before + len(content)) * 8 // 6)
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + content).decode()[inside]


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
    return _each_text(value, _without_secrets)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case list() | tuple():
            return type(value)(_each_text(inner, change) for inner in value)
        case dict():
            return {name: _each_text(inner, change) for name, inner in value.items()}
    return value


def blot_error(error: BaseException) -> None:
    """Remove secrets from an error, and from the errors that led to it, in place.

    Of what a server has answered (``body``) the message and its code stay; it may repeat the whole request.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        body = getattr(current, "body", None)
        said = _message_in(body)

        def clean(text: str, body: object = body, said: object = said) -> str:
            return blot(text.replace(str(body), str(said)) if body else text)

        current.args = _each_text(current.args, clean)
        for name, value in vars(current).items():
            if isinstance(value, str | list | tuple | dict):
                setattr(current, name, _each_text(said if name == "body" else value, clean))
        current = current.__cause__ or current.__context__


def _message_in(body: object) -> object:
    """Return what a server says of an error, without whatever else is in its answer."""
    if isinstance(body, dict):
        return {name: body[name] for name in _SAID if isinstance(body.get(name), str | int)}
    return body[:_LONGEST] if isinstance(body, str) else body
