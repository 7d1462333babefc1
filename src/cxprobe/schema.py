"""YAML files read against a closed pydantic model, with all their faults told at once."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from cxprobe.errors import CxprobeError

M = TypeVar("M", bound="Closed")


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
    """Return the keys that the model allows at a place in the file; for a union, those of all its members."""
    current: Any = model
    for part in location:
        if isinstance(current, type) and issubclass(current, BaseModel):
            current = _plain(current.model_fields[str(part)].annotation)
        elif get_origin(current) in (list, dict):
            current = _plain(get_args(current)[-1])
        # Otherwise this part is the tag of a union's member, which is no key of the file.
    members: tuple[Any, ...] = (current,) if isinstance(current, type) else get_args(current)
    return sorted({key for member in members for key in member.model_fields})


def _plain(annotation: Any) -> Any:
    """Return a type without what Annotated says of it."""
    return _plain(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation
