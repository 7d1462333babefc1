"""YAML files read against a closed pydantic model, with all their faults reported at once."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, Tag, ValidationError
from pydantic_core import ErrorDetails

from cxprobe.errors import CxprobeError
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
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Distinct = Annotated[list[T], AfterValidator(distinct)]
SomeDistinct = Annotated[list[T], AfterValidator(distinct), Field(min_length=1)]


class FaultsError(ValueError):
    """Several faults that one check of a model has found; each is reported on a line of its own.

    Args:
        faults: What is wrong, each with its place below that of the model.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


class Closed(BaseModel):
    """A model that knows all its keys: an unknown one is a fault, and so is a missing one that has no default."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def read_yaml(path: Path, error: type[CxprobeError], *, english: bool = False) -> dict[str, Any]:
    """Read a mapping from a YAML 1.2 file, safely: no tags, no key twice (as DVC reads its files).

    Args:
        path: The file.
        error: What is raised for a fault.
        english: Whether all keys and texts are English, so that look-alikes are faults.

    Raises:
        CxprobeError: Of the given class: the file does not hold a mapping, or see `load_yaml`.
    """
    content = load_yaml(path, error, english=english)
    if not isinstance(content, dict):
        raise error(f"{path}: expected a mapping of keys to values, found {type(content).__name__}")
    return content


def validate(
    model: type[M],
    content: Mapping[str, Any],
    place: Path,
    error: type[CxprobeError],
) -> M:
    """Build a model from the content of a file.

    Raises:
        CxprobeError: Of the given class, one line a fault: file, path of the key, value, what is allowed.
    """
    try:
        return model.model_validate(content)
    except ValidationError as faults:
        raise error("\n".join(f"{place}: {fault}" for fault in _explained(faults, model))) from None


def faults_of(model: type[Closed], content: Mapping[str, Any]) -> list[str]:
    """Return what a model refuses in the content of a file: the path of each key, the value, what is allowed."""
    try:
        model.model_validate(content)
    except ValidationError as faults:
        return _explained(faults, model)
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
        listed = ", ".join(absent)
        yield f"{place}: {where} does not have {listed}; take {listed} out here, or add what is to run there"


def suggest(value: str, allowed: list[str]) -> str:
    """Return the hint that ends a message about an unknown name: a near match, if any, and what is allowed."""
    near = get_close_matches(value, allowed, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"{hint} (allowed: {', '.join(sorted(allowed)) or 'none yet'})"


def _explained(faults: ValidationError, model: type[Closed]) -> list[str]:
    return [one_line(line) for fault in faults.errors() for line in _explain(fault, model)]


def _explain(fault: ErrorDetails, model: type[Closed]) -> list[str]:
    """Return the lines that report a fault: one, except for a check that has found several."""
    path = _dotted(_untagged(model, fault["loc"]))
    match fault["type"]:
        case "extra_forbidden":
            known = _keys_at(model, fault["loc"][:-1])
            return [f"{path}: unknown key{suggest(str(fault['loc'][-1]), known)}"]
        case "missing":
            return [f"{path}: missing; nothing is assumed in its place, so give it a value"]
        case "value_error":
            raised = fault["ctx"]["error"]
            found = raised.faults if isinstance(raised, FaultsError) else [str(raised)]
            # The message of a check on the whole file names its keys itself.
            return [f"{path}: {one}" if path else one for one in found]
        case _:
            return [f"{path}: {shown(fault['input'])} is not allowed: {fault['msg'][0].lower()}{fault['msg'][1:]}"]


def _dotted(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        if part == "[key]":  # the fault is in the key itself, which is the step before
            continue
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _keys_at(model: type[Closed], location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the model allows at a place in the file; for a union, those of its tagged member."""
    current: Any = model
    for part in location:
        current = _step(current, part)
    return sorted(_alternatives(current)[0].model_fields)


def _untagged(model: type[Closed], location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Return a place in the file without the tags of unions, which pydantic puts into it and the file does not have."""
    current: Any = model
    kept = []
    for step, part in enumerate(location):
        if not _tagged(current, part):
            kept.append(part)
        try:
            current = _step(current, part)
        except (AttributeError, IndexError, KeyError):  # the file has something else than the model here
            return (*kept, *location[step + 1 :])
    return tuple(kept)


def _step(annotation: Any, part: int | str) -> Any:
    """Return what is one step further in a place that pydantic names: a field, an element, or a member of a union."""
    if tagged := _tagged(annotation, part):
        return tagged[0]
    current = _alternatives(annotation)[0]
    if isinstance(current, type) and issubclass(current, BaseModel):
        return current.model_fields[str(part)].annotation
    return current.__args__[-1]  # a mapping or a list: its values are of the last argument's type


def _tagged(annotation: Any, part: int | str) -> list[Any]:
    """Return the member of a union that is told by a tag of its own, or by the value of a literal field."""
    own = [
        one for one in _members(annotation) if part in [meta.tag for meta in _metadata(one) if isinstance(meta, Tag)]
    ]
    return own or [one for one in _alternatives(annotation) if _is_tagged(one, part)]


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the types that a union allows, or the type itself if it is not a union."""
    return tuple(_bare(one) for one in _members(annotation))


def _members(annotation: Any) -> tuple[Any, ...]:
    bare = _bare(annotation)
    return get_args(bare) if get_origin(bare) in (Union, UnionType) else (annotation,)


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _is_tagged(model: Any, tag: int | str) -> bool:
    """Return whether a model is the one that a union tells by this tag, as pydantic names it in a fault's place."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return False
    return any(tag in get_args(one.annotation) for one in model.model_fields.values() if _is_literal(one.annotation))


def _is_literal(annotation: Any) -> bool:
    return get_origin(annotation) is Literal
