"""Closed pydantic models as Markdown: each key, what it may be, and what its docstring says."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cxprobe.files.schema import Closed

Schema = Mapping[str, Any]
NUMBERS = {
    "minimum": "at least {:g}",
    "exclusiveMinimum": "above {:g}",
    "maximum": "at most {:g}",
    "exclusiveMaximum": "below {:g}",
}
# Names that the user gives: the pattern of a slug says what they are made of.
SLUG = "^[a-z0-9][a-z0-9-]*$"


def as_markdown(docstring: str) -> str:
    """Return a docstring with code as Markdown has it, and with brackets that begin neither a link nor a tag."""
    lines = docstring.replace("``", "`").split("\n")
    return "\n".join(line if line.startswith("    ") else _without_tags(line) for line in lines)


def _without_tags(line: str) -> str:
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]])", r"\\\1", text.replace("<", "&lt;"))


def describe_model(model: type[Closed], level: int, values: Mapping[str, Any] | None = None) -> str:
    """Return the keys of a model, and below them those of all models that it has inside.

    Args:
        model: The model of a whole file.
        level: The level of the headings of the inner models.
        values: What a file has, such as the embedded preset; shown beside the keys. None for nothing.
    """
    schema = model.model_json_schema()
    inner = schema.get("$defs", {})
    parts = [_table(schema, inner, values)]
    for name in inner:
        text = inner[name].get("description", "")
        parts += [f"{'#' * level} {name}", _paragraph(text), _table(inner[name], inner)]
    return "\n\n".join(part for part in parts if part)


def describe_sections(model: type[Closed], values: Mapping[str, Any], groups: Mapping[str, list[str]]) -> str:
    """Return every section of a model under a heading of its own, in groups; then the models that several share.

    Args:
        model: The model of a whole file, whose keys are sections.
        values: Section -> what a file has there; scalars are shown beside their keys.
        groups: Heading -> the sections below it.

    Raises:
        KeyError: A section of the model is in no group, or in a group and not in the model.
    """
    schema = model.model_json_schema()
    inner, sections = schema["$defs"], schema["properties"]
    if sorted(name for names in groups.values() for name in names) != sorted(sections):
        raise KeyError(f"groups and sections differ: {set(sections) ^ {n for names in groups.values() for n in names}}")
    parts, shown = [], set()
    for title, names in groups.items():
        parts.append(f"## {title}")
        for name in names:
            own = _reference(sections[name])
            shown |= {own} if own else set()
            body = inner[own] if own else sections[name]
            text = body.get("description", "") or sections[name].get("description", "")
            parts += [f"### `{name}`", _paragraph(text)]
            parts.append(_table(body, inner, values.get(name)) if own else f"Value: {_kind(sections[name])}.")
    parts.append("## What sections have inside")
    for name in inner:
        if name not in shown:
            parts += [f"### {name}", _paragraph(inner[name].get("description", "")), _table(inner[name], inner)]
    return "\n\n".join(part for part in parts if part)


def _reference(schema: Schema) -> str:
    """Return the name of the one model that a section is; "" if it is something else."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _described(schema: Schema, inner: Schema) -> str:
    """Return what the model says of itself that a key is; "" if it is something else."""
    return str(inner.get(_reference(schema), {}).get("description", "")).split("\n\n")[0]


def _table(schema: Schema, inner: Schema, values: Any = None) -> str:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    if not properties:
        return ""
    known = {key: value for key, value in values.items() if _is_plain(value)} if isinstance(values, Mapping) else {}
    head = ["key", "value", "what it is"] + (["embedded preset"] if known else [])
    rows = [" | ".join(head), " | ".join("---" for _ in head)]
    required = set(schema.get("required", ()))
    for key, one in properties.items():
        text = " ".join(_sentences({"description": _described(one, inner), **one}, key in required))
        cells = [f"`{key}`", _kind(one), text] + ([_value(known[key]) if key in known else ""] if known else [])
        rows.append(" | ".join(_cell(cell) for cell in cells))
    return "\n".join(f"| {row} |" for row in rows)


def _is_plain(value: object) -> bool:
    """Return whether a value is short enough for a cell."""
    return not isinstance(value, Mapping) and len(_value(value)) < 60


def _value(value: object) -> str:
    match value:
        case None:
            return "`null`"
        case bool():
            return f"`{str(value).lower()}`"
        case list():
            return f"`[{', '.join(map(str, value))}]`"
        case _:
            return f"`{value}`"


def _sentences(schema: Schema, required: bool) -> Iterator[str]:
    yield _paragraph(schema.get("description", ""))
    if not required and "default" in schema:
        yield f"Default: {_value(schema['default'])}."
    elif not required:
        yield "May be left out."


def _paragraph(text: str) -> str:
    """Return a docstring in one line for each paragraph."""
    return as_markdown("\n\n".join(" ".join(part.split()) for part in text.split("\n\n")))


def _cell(text: str) -> str:
    return text.replace("\n\n", " ").replace("\n", " ").replace("|", "\\|").strip()


def _kind(schema: Schema) -> str:
    """Return what a value may be, in words."""
    match schema:
        case {"$ref": _}:
            name = _reference(schema)
            return f"[{name}](#{name.lower()})"
        case {"anyOf": choices} | {"oneOf": choices}:
            return " or ".join(dict.fromkeys(_kind(one) for one in choices))
        case {"const": value}:
            return _value(value)
        case {"enum": choices}:
            return " or ".join(_value(one) for one in choices)
        case {"type": "array", "prefixItems": items}:
            return f"list of {len(items)}: {', '.join(_kind(one) for one in items)}"
        case {"type": "array"}:
            return f"list of {_kind(schema['items'])}" if "items" in schema else "list"
        case {"type": "object"}:
            return _mapping(schema)
        case {"type": "string", "pattern": pattern} if pattern == SLUG:
            return "name"
        case {"type": name}:
            words = {"null": "`null`", "boolean": "`true` or `false`", "string": "text"}
            bounds = [text.format(schema[key]) for key, text in NUMBERS.items() if key in schema]
            return ", ".join([words.get(str(name), str(name)), *bounds])
        case _:
            return "anything"


def _mapping(schema: Schema) -> str:
    """Return what a mapping from names that are the user's own maps to."""
    patterns = list(schema.get("patternProperties", {}).values())
    of = patterns[0] if patterns else schema.get("additionalProperties")
    return f"name: {_kind(of)}" if isinstance(of, Mapping) else "mapping"
