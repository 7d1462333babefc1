"""Closed pydantic models as Markdown: each key, what it may be, and what its docstring says."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cxprobe.files.schema import SLUG_PATTERN, Closed

Schema = Mapping[str, Any]
NUMBERS = {
    "minimum": "at least {:g}",
    "exclusiveMinimum": "above {:g}",
    "maximum": "at most {:g}",
    "exclusiveMaximum": "below {:g}",
}


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
    """Return the keys of a model, and below them those of all models that it has inside, each where it is first named.

    Args:
        model: The model of a whole file.
        level: The level of the headings of the models that are sections; those inside of them are a level deeper.
        values: What a file has, such as params.yaml; shown beside the keys. None for nothing.
    """
    schema = model.model_json_schema()
    inner, shown = schema.get("$defs", {}), set[str]()

    def below(body: Schema, path: str, values: Any, level: int) -> Iterator[str]:
        for key, one in body.get("properties", {}).items():
            for name in dict.fromkeys(_named_in(one)):
                if name in shown:
                    continue
                shown.add(name)
                is_section = name in _named_in(one, inside=False)
                title = f"{path}{key}" if is_section else name
                own = values.get(key) if is_section and isinstance(values, Mapping) else None
                yield f"{'#' * level} {title} {{#{name.lower()}}}"
                yield paragraphs(inner[name].get("description", ""))
                yield _table(inner[name], inner, own)
                yield from below(inner[name], f"{title}." if is_section else "", own, level + (level == 2))

    parts = [_table(schema, inner, values), *below(schema, "", values, level)]
    return "\n\n".join(part for part in parts if part)


def _named_in(schema: Any, inside: bool = True) -> Iterator[str]:
    """Yield the names of the models that a key may be, or may have as entries."""
    match schema:
        case {"$ref": reference}:
            yield str(reference).rpartition("/")[2]
        case {"anyOf": [first, {"type": "null"}]} if not inside:
            yield from _named_in(first, inside=False)
        case dict() if inside:
            for value in schema.values():
                yield from _named_in(value)
        case list() if inside:
            for value in schema:
                yield from _named_in(value)


def _reference(schema: Schema) -> str:
    """Return the name of the one model that a key is; "" if it is something else."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _described(schema: Schema, inner: Schema) -> str:
    """Return what the model says of itself that a key is; "" if it is something else."""
    return str(inner.get(_reference(schema), {}).get("description", "")).split("\n\n")[0]


def _table(schema: Schema, inner: Schema, values: Any = None) -> str:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    if not properties:
        return ""
    given = values if isinstance(values, Mapping) else {}
    # What is short enough for a cell.
    known = {key: _value(one) for key, one in given.items() if not isinstance(one, Mapping) and len(_value(one)) < 60}
    head = ["key", "value", "what it is"] + (["here"] if known else [])
    rows = [" | ".join(head), " | ".join("---" for _ in head)]
    required = set(schema.get("required", ()))
    for key, one in properties.items():
        text = " ".join(_sentences({"description": _described(one, inner), **one}, key in required))
        cells = [f"`{key}`", _kind(one), text] + ([known.get(key, "")] if known else [])
        rows.append(" | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells))
    return "\n".join(f"| {row} |" for row in rows)


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
    yield paragraphs(schema.get("description", ""))
    if not required and "default" in schema:
        yield f"Default: {_value(schema['default'])}."
    elif not required:
        yield "May be left out."


def paragraphs(text: str) -> str:
    """Return a docstring in one line for each paragraph."""
    return as_markdown("\n\n".join(" ".join(part.split()) for part in text.split("\n\n")))


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
        case {"type": "string", "pattern": pattern} if pattern == SLUG_PATTERN:
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
