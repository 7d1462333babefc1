"""Files that people write: UTF-8 text, and YAML that is looked through before anything is built of it.

Whatever the bytes are, what comes back is plain (mappings, lists, strings, finite numbers, true, false, null), or a
fault with its place. Nothing is guessed, and nothing of the file is run.
"""

import math
import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from cxprobe.errors import CxprobeError
from cxprobe.files.letters import odd_characters

DEEPEST = 100  # mappings and lists within each other; the parser in C breaks the process at some 50,000
MOST_NODES = 1_000_000  # an alias counts as all that it stands for, so that a small file cannot become a huge one
LONGEST_VALUE = 200  # characters of a value that a message shows
LONGEST_LINE = 2000  # characters of a line of a message

_BOM = b"\xef\xbb\xbf"
_NOT_IN_YAML = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_text(path: Path, error: type[CxprobeError]) -> str:
    """Return the text of a UTF-8 file, without a byte order mark.

    Raises:
        CxprobeError: Of the given class: it is not a file that can be read (a pipe is not waited for), or not such a
            text; see `decode`.
    """
    try:
        if path.is_file():
            return decode(path.read_bytes(), path, error)
        if path.is_dir():
            what = "is a folder, and a file is needed here"
        elif path.exists():
            what = "is a pipe, a socket or a device, and a file is needed here"
        else:
            what = "is a link to nothing" if path.is_symlink() else "there is no such file"
    except OSError as fault:
        raise error(f"{path}: cannot be read: {fault.strerror}") from fault
    raise error(f"{path}: {what}")


def decode(content: bytes, path: Path, error: type[CxprobeError]) -> str:
    """Return bytes of a file as text, without a byte order mark.

    Raises:
        CxprobeError: Of the given class: the bytes are not UTF-8, or have a NUL, which no text has; with the line.
    """
    content = content.removeprefix(_BOM)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as fault:
        line, byte = content.count(b"\n", 0, fault.start) + 1, content[fault.start]
        raise error(f"{path}, line {line}: the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8") from fault
    if "\0" in text:
        raise error(f"{path}, line {_line(text, text.index(chr(0)))}: a NUL is not text; save the file as UTF-8 text")
    return text


def load_yaml(path: Path, error: type[CxprobeError], *, english: bool = False) -> Any:
    """Return the content of a YAML 1.2 file: no tags of Python, no key twice (as DVC reads its files).

    Args:
        path: The file.
        error: What is raised for a fault.
        english: Whether all keys and texts are English, so that look-alikes are faults (`odd_characters`).

    Raises:
        CxprobeError: Of the given class, with line or key: it is no readable text or no YAML; it nests deeper than
            `DEEPEST`, or has more than `MOST_NODES` values; an alias stands in what it stands for; a value is not
            plain: an unquoted day, a number that is not finite or has more than 64 bits, bytes; or it has look-alikes.
    """
    text = read_text(path, error)
    if unprintable := _NOT_IN_YAML.search(text):
        line = _line(text, unprintable.start())
        raise error(f"{path}, line {line}: {unprintable[0]!r} is not allowed in YAML; take it out, or write an escape")
    try:
        if refused := _refused(YAML(typ="safe").parse(text)):
            raise error(f"{path}, {refused}")
        content = YAML(typ="safe").load(text)
    except YAMLError as fault:
        raise error(_described(fault, path)) from fault
    except CxprobeError:
        raise
    except Exception as fault:  # ruamel lets pass whatever int(), date() and the like raise
        raise error(f"{path}, {_culprit(text)}") from fault
    faults = [f"{path}: {fault}" for fault in _faults(content, "", 0)]
    if english and not faults:
        faults = [f"{path}, {fault}" for fault in _look_alikes(text)]
    if faults:
        raise error("\n".join(map(one_line, faults)))
    return content


def line_of(path: Path, *keys: str | int) -> int:
    """Return the line, from 1, at which a key or a list's element is in a YAML file.

    Args:
        path: A file that can be read as YAML.
        keys: The way to it from the top; where it breaks off, the line of the last step that is there.
    """
    node = _composed(path.read_text(encoding="utf-8-sig"))
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


def shown(value: object) -> str:
    """Return a value as a message shows it: as Python writes it, the middle left out where it is long."""
    return _shortened(repr(value), LONGEST_VALUE)


def one_line(text: str) -> str:
    """Return a message as a line that can be printed: no control characters, the middle left out where it is long."""
    printable = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return _shortened(printable, LONGEST_LINE)


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]} ... {text[-most // 5 :]} ({len(text):,} characters)"


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _refused(events: Iterable[Event]) -> str | None:
    """Return where and why a file is too deep or too large to be built, or None. It is read no further than that."""
    nodes, sizes = 0, dict[str, int]()
    above: list[tuple[str | None, int]] = []  # the anchors of what is open, and how many nodes were before each
    for event in events:
        line = f"line {event.start_mark.line + 1}"
        match event:
            case MappingStartEvent() | SequenceStartEvent():
                above.append((event.anchor, nodes))
                sizes.pop(event.anchor, None)
                nodes += 1
            case MappingEndEvent() | SequenceEndEvent():
                anchor, before = above.pop()
                if anchor is not None:
                    sizes[anchor] = nodes - before
            case ScalarEvent():
                nodes += 1
                if event.anchor is not None:
                    sizes[event.anchor] = 1
            case AliasEvent():
                if event.anchor not in sizes and event.anchor in dict(above):
                    return f"{line}: the alias *{event.anchor} stands in what it stands for; write the values out"
                nodes += sizes.get(event.anchor, 1)
        if len(above) > DEEPEST:
            return f"{line}: is nested more than {DEEPEST} deep; is a bracket left open?"
        if nodes > MOST_NODES:
            return f"{line}: there are more than {MOST_NODES:,} values, aliases written out; shorten the file"
    return None


def _described(fault: YAMLError, path: Path) -> str:
    if not isinstance(fault, MarkedYAMLError):
        return one_line(f"{path}: {' '.join(str(fault).split())}")
    mark = fault.problem_mark or fault.context_mark
    context = fault.context
    if context and fault.context_mark is not None and fault.context_mark.line != mark.line:
        context += f" from line {fault.context_mark.line + 1} on"  # a bracket that is left open is found at the end
    what = ", ".join(part for part in (context, fault.problem) if part)
    return one_line(f"{path}, line {mark.line + 1}: {what}" if mark else f"{path}: {what}")


def _culprit(text: str) -> str:
    """Return the line and the value that cannot be built, though it can be parsed."""
    constructor = YAML(typ="safe").constructor
    for node in _scalars(_composed(text)):
        try:
            constructor.construct_object(node)
        except Exception:  # the very fault that is looked for, whatever it is
            kind = str(node.tag).rpartition(":")[2]
            what = f"{shown(node.value)} looks like a value of the kind {kind}, and is none"
            return f"line {node.start_mark.line + 1}: {what}; mend it, or put it in quotes if it is text"
    return "line 1: has a value that cannot be read"


def _look_alikes(text: str) -> Iterator[str]:
    """Find look-alikes in keys and values, written out or as escapes; comments may have any."""
    if not (re.search(r"\\[0abtvfreNLP_xuU]", text) or any(odd_characters(text))):
        return
    for node in _scalars(_composed(text)):
        start, end = node.start_mark.index, node.end_mark.index
        for place, fault in odd_characters(node.value):
            written = text.find(node.value[place], start, end)  # not there if it is an escape
            yield f"line {_line(text, max(start, written))}: {fault}"


def _scalars(top: Node) -> Iterator[ScalarNode]:
    """Give the scalars below a node in their order; what an alias stands for comes once."""
    seen, pending = set[int](), [top]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        match node:
            case ScalarNode():
                yield node
            case SequenceNode():
                pending += reversed(node.value)
            case MappingNode():
                pending += [one for pair in reversed(node.value) for one in reversed(pair)]


@lru_cache(maxsize=1)  # the lines of many faults are asked for of the same file
def _composed(text: str) -> Any:
    return YAML(typ="safe").compose(text)


def _faults(value: Any, place: str, depth: int) -> Iterator[str]:
    """Find what is not plain; aliases can make content deeper than the file shows."""
    if depth > DEEPEST:
        yield f"{place}: is nested more than {DEEPEST} deep"
        return
    match value:
        case dict():
            for key, inner in value.items():
                yield from (f"{place or 'the top'}: the key {what}" for what in _faults_of_scalar(key))
                yield from _faults(inner, f"{place}.{key}" if place else str(key), depth + 1)
        case list():
            for number, inner in enumerate(value):
                yield from _faults(inner, f"{place}[{number}]", depth + 1)
        case _:
            yield from (f"{place}: {what}" for what in _faults_of_scalar(value))


def _faults_of_scalar(value: Any) -> Iterator[str]:
    match value:
        case bool() | None:
            return
        case str():
            if "\0" in value:
                yield f"{shown(value)} has a NUL, which no text has; take it out"
        case int():
            if not -(2**63) <= value < 2**63:
                yield f"{value.bit_length()} bits are too many for a number; at most 64 are allowed"
        case float():
            if not math.isfinite(value):
                yield f"{value} is not allowed; write a finite number"
        case date():
            yield f"{value} is read as a day; put it in quotes, so that it is text"
        case _:
            yield f"{shown(value)} is a value of the kind {type(value).__name__}; write text, a number, true or null"
