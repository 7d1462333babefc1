"""YAML files read against a closed pydantic model, with all their faults reported at once."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from os.path import commonprefix
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails

from cxprobe.errors import CxprobeError, raise_faults
from cxprobe.files.reading import load_yaml, one_line, shown

M = TypeVar("M", bound="Closed")
T = TypeVar("T")


def distinct(values: list[T]) -> list[T]:
    """Return a list as it is.

    Raises:
        ValueError: A value is listed more than once.
    """
    twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice:
        raise ValueError(f"{', '.join(map(repr, twice))} is listed more than once; list each once")
    return values


# A slug is a part of paths and of DVC's stage names, where a dot or a space would mean something else.
SLUG_PATTERN = r"^[a-z0-9][a-z0-9-]*$"
Slug = Annotated[str, StringConstraints(pattern=SLUG_PATTERN)]
Distinct = Annotated[list[T], AfterValidator(distinct)]
SomeDistinct = Annotated[list[T], AfterValidator(distinct), Field(min_length=1)]
Two = Annotated[tuple[T, T], Strict(False)]  # YAML has a list


class Closed(BaseModel):
    """A model that knows all its keys: an unknown one is a fault, and so is a missing one that has no default.

    Its values are what they look like: true is no number, "7" is none either, and "off" is not false. Numbers are
    finite.
    """

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _note_keys(cls, content: Any, info: ValidationInfo) -> Any:
        """Note which keys a mapping may have, for the message about another one."""
        if info.context is not None:
            info.context[id(content)] = sorted(cls.model_fields)
        return content


def read_yaml(path: Path, error: type[CxprobeError]) -> dict[str, Any]:
    """Read a mapping from a YAML 1.2 file, safely: no tags, no key twice (as DVC reads its files).

    Raises:
        CxprobeError: Of the given class: the file does not hold a mapping, or see `load_yaml`.
    """
    content = load_yaml(path, error)
    if not isinstance(content, dict):
        raise error(f"{path}: expected a mapping of keys to values, found {type(content).__name__}")
    return content


def read_checked(model: type[M], path: Path, error: type[CxprobeError]) -> M:
    """Read a YAML file as `read_yaml` does, and build a model from its content.

    Raises:
        CxprobeError: Of the given class, one line a fault: file, path of the key, value, what is allowed.
    """
    content = read_yaml(path, error)
    raise_faults(error, (f"{path}: {fault}" for fault in faults_of(model, content)))
    return model.model_validate(content)


def faults_of(model: type[Closed], content: Mapping[str, Any]) -> list[str]:
    """Return the faults that a model finds in the content of a file: the path of each key, the value, what is allowed.

    Args:
        model: The model.
        content: As `load_yaml` returns it; no mapping stands in two places.
    """
    known_keys: dict[int, list[str]] = {}  # of each mapping in the content, by its identity
    try:
        model.model_validate(content, context=known_keys)
    except ValidationError as faults:
        return [one_line(line) for fault in faults.errors() for line in _explain(fault, content, known_keys)]
    return []


def named_elsewhere(place: str, names: Iterable[str], where: str, allowed: Collection[str]) -> Iterator[str]:
    """Yield one line about all names that a place has and another one, of which it needs them, does not have.

    Args:
        place: The key that has the names.
        names: The names.
        where: The key that must have them too.
        allowed: The names that it has.
    """
    if absent := [name for name in dict.fromkeys(names) if name not in allowed]:
        yield f"{place}: {where} does not have {', '.join(absent)}; take out here what is not to run, or add it there"


def suggest(value: object, allowed: Iterable[object]) -> str:
    """Return the hint that ends a message about an unknown name: a near match, if any, and what is allowed."""
    names = sorted(map(str, allowed))
    near = near_to(str(value), names)
    hint = f"; did you mean '{near}'?" if near else ""
    return f"{hint} (allowed: {', '.join(names) or 'none yet'})"


def near_to(value: str, allowed: Collection[str]) -> str:
    """Return the shortest name that an unknown one begins, else of similar names the one with the same start."""
    if begun := [name for name in allowed if len(value) > 2 and name.startswith(value)]:
        return min(begun, key=len)
    similar = get_close_matches(value, allowed)
    return max(similar, key=lambda name: len(commonprefix([value, name])), default="")  # noqa: RUF071  # of characters


def _explain(fault: ErrorDetails, content: Mapping[str, Any], known_keys: Mapping[int, list[str]]) -> list[str]:
    """Return the lines that report a fault: one, except for a check that has found several."""
    path, holder = _place(fault, content)
    match fault["type"]:
        case "extra_forbidden":
            return [f"{path}: unknown key{suggest(fault['loc'][-1], known_keys[id(holder)])}"]
        case "missing":
            return [f"{path}: missing; nothing is assumed in its place, so give it a value"]
        case "value_error":
            # A check that finds several writes each on a line; one of the whole file names its keys itself.
            messages = str(fault["ctx"]["error"]).split("\n")
            return [f"{path}: {message}" if path else message for message in messages]
        case kind:
            is_plain = kind == "string_type" and isinstance(fault["input"], date | float | int)
            remedy = "; put it in quotes" if is_plain else ""
            what = f"{fault['msg'][0].lower()}{fault['msg'][1:]}{remedy}"
            return [f"{path}: {shown(fault['input'])} is not allowed: {what}"]


def _place(fault: ErrorDetails, content: Any) -> tuple[str, Any]:
    """Return the path of a fault's key in the file, such as "models.one.members[0]", and the mapping that has the key.

    The location that pydantic gives also has tags of unions and a mark of faulty keys, which the file does not have.
    """
    path, holder, last = "", content, fault["loc"][-1] if fault["loc"] else ""
    for part in fault["loc"]:
        is_index = isinstance(content, list) and isinstance(part, int) and part < len(content)
        if is_index or (isinstance(content, dict) and part in content):
            path += f"[{part}]" if is_index else f".{part}"
            holder, content = content, content[part]
    if fault["type"] == "missing":
        path += f"[{last}]" if isinstance(last, int) else f".{last}"
    return path.removeprefix("."), holder
