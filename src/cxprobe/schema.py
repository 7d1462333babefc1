"""YAML files read against a closed pydantic model, with all their faults told at once."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode

from cxprobe.errors import CxprobeError

M = TypeVar("M", bound="Closed")
T = TypeVar("T")


class Closed(BaseModel):
    """A model that knows all its keys: an unknown one is a fault, and so is a missing one."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def read_yaml(path: Path, error: type[CxprobeError]) -> dict[str, Any]:
    """Read a mapping from a YAML 1.2 file, safely: no tags, no key twice (as DVC reads its files).

    Raises:
        CxprobeError: Of the given class: the file is absent, is no YAML, or holds no mapping.
    """
    if not path.is_file():
        raise error(f"{path}: there is no such file")
    try:
        content = YAML(typ="safe", pure=True).load(path)
    except YAMLError as fault:
        raise error(f"{path}: {' '.join(str(fault).split())}") from fault
    if not isinstance(content, dict):
        raise error(f"{path}: expected a mapping of keys to values, found {type(content).__name__}")
    return content


def validate(
    model: type[M], content: Mapping[str, Any], place: Path, error: type[CxprobeError], context: dict[str, Any]
) -> M:
    """Build a model from the content of a file.

    Raises:
        CxprobeError: Of the given class, one line a fault: file, path of the key, value, what is allowed.
    """
    try:
        return model.model_validate(content, context=context)
    except ValidationError as faults:
        lines = [f"{place}: {_explain(fault, model)}" for fault in faults.errors()]
        raise error("\n".join(lines)) from None


def distinct(values: list[T]) -> list[T]:
    """Return a list as it is.

    Raises:
        ValueError: A value stands there more than once.
    """
    twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice:
        raise ValueError(f"{', '.join(map(repr, twice))} stands here more than once; name each once")
    return values


def line_of(path: Path, *keys: str | int) -> int:
    """Return the line, from 1, at which a key or a list's element stands in a YAML file.

    Args:
        path: A file that can be read as YAML.
        keys: The way to it from the top; where it breaks off, the line of the last step that is there.
    """
    node = YAML(pure=True).compose(path)
    line: int = node.start_mark.line
    for key in keys:
        match node:
            case MappingNode():
                found = [(name, value) for name, value in node.value if name.value == str(key)]
            case SequenceNode() if isinstance(key, int) and key < len(node.value):
                found = [(node.value[key], node.value[key])]
            case _:
                found = []
        if not found:
            break
        named, node = found[0]
        line = named.start_mark.line
    return line + 1


def suggest(value: str, allowed: list[str]) -> str:
    """Return the hint that ends a message about an unknown name: a near match, if any, and what is allowed."""
    near = get_close_matches(value, allowed, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"{hint} (allowed: {', '.join(sorted(allowed)) or 'none yet'})"


def _explain(fault: ErrorDetails, model: type[Closed]) -> str:
    if not fault["loc"]:  # the message of a check on the whole file names its keys itself
        return str(fault["ctx"]["error"])
    path = _dotted(fault["loc"])
    match fault["type"]:
        case "extra_forbidden":
            known = _keys_at(model, fault["loc"][:-1])
            return f"{path}: unknown key{suggest(str(fault['loc'][-1]), known)}"
        case "missing":
            return f"{path}: missing; nothing is assumed in its place, so give it a value"
        case "value_error":
            return f"{path}: {fault['ctx']['error']}"
        case _:
            return f"{path}: {fault['input']!r} is not allowed: {fault['msg'][0].lower()}{fault['msg'][1:]}"


def _dotted(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _keys_at(model: type[Closed], location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the model allows at a place in the file; for a union, those of its tagged member."""
    current: Any = model
    for part in location:
        if tagged := [one for one in _alternatives(current) if _is_tagged(one, part)]:
            current = tagged[0]
            continue
        current = _alternatives(current)[0]
        if isinstance(current, type) and issubclass(current, BaseModel):
            current = current.model_fields[str(part)].annotation
        else:  # a mapping or a list: its values are of the last argument's type
            current = current.__args__[-1]
    return sorted(_alternatives(current)[0].model_fields)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the types that a union allows, or the one that is no union."""
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return get_args(bare) if isinstance(bare, UnionType) else (bare,)


def _is_tagged(model: Any, tag: int | str) -> bool:
    """Return whether a model is the one that a union tells by this tag, as pydantic names it in a fault's place."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return False
    return any(tag in get_args(one.annotation) for one in model.model_fields.values() if _is_literal(one.annotation))


def _is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal
