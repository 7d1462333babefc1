"""Files that people write: UTF-8 text, and YAML that is looked through before anything is built of it.

Whatever the bytes are, what comes back is plain (mappings, lists, strings, finite numbers, true, false, null), or a
fault with its place. Nothing is guessed, and nothing of the file is run.
"""

import gzip
import math
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from cxprobe.errors import CxprobeError
from cxprobe.files.letters import odd_characters

MOST_BYTES = 2**29  # of a text that is read as a whole; a small .gz may have thousands of times its own size
DEEPEST = 100  # mappings and lists within each other; the parser in C breaks the process at some 50,000
MOST_NODES = 1_000_000  # an alias counts as all that it stands for, so that a small file cannot become a huge one
LONGEST_VALUE = 200  # characters of a value that a message shows
LONGEST_LINE = 2000  # characters of a line of a message

_BOM = b"\xef\xbb\xbf"
_TOO_MANY = f"there are more than {MOST_NODES:,} values, aliases written out; shorten the file"
_TAGS = ("null", "bool", "int", "float", "str", "seq", "map")  # of plain values


def read_text(path: Path, error: type[CxprobeError]) -> str:
    """Return the text of a UTF-8 file, compressed (.gz) or not, without a byte order mark.

    Raises:
        CxprobeError: Of the given class: it is not a file that can be read (a pipe is not waited for), or not such a
            text; see `decode`.
    """
    try:
        if path.is_file():
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise error(f"{path}: is larger than {MOST_BYTES:,} bytes, unpacked; cut it into several files")
            return decode(content, path, error)
        if path.is_dir():
            what = "is a folder, and a file is needed here"
        elif path.exists():
            what = "is a pipe, a socket or a device, and a file is needed here"
        else:
            what = "is a link to nothing" if path.is_symlink() else "there is no such file"
    except (OSError, EOFError, zlib.error) as fault:
        raise error(f"{path}: cannot be read: {fault}; fetch or write the file again") from fault
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
        CxprobeError: Of the given class, with the line: it is no readable text or no YAML; it nests deeper than
            `DEEPEST`, or has more than `MOST_NODES` values; a value is not plain: a number that is not finite or has
            more than 64 bits, bytes, a mapping as a key; or it has look-alikes.
    """
    text = read_text(path, error)
    try:
        faults = list(_faults(text, english=english))
        if not faults:
            reader = YAML(typ="safe")
            reader.Constructor = _PlainConstructor
            content = reader.load(text)
            _check_size(content)
    except MarkedYAMLError as fault:
        faults = [_described(fault)]
    except YAMLError as fault:
        faults = [f": {' '.join(str(fault).split())}"]
    if faults:
        raise error("\n".join(one_line(f"{path}{fault}") for fault in faults))
    return content


class _PlainConstructor(SafeConstructor):
    """Builds plain values alone; a day is text, as YAML 1.2 has it."""

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        """Return the value of a node.

        Raises:
            ConstructorError: It is none, or not plain.
        """
        what = None
        try:
            value = super().construct_object(node, deep=deep)
        except YAMLError:
            raise
        except Exception:  # ruamel lets pass whatever int(), bool_values[] and the like raise
            kind = str(node.tag).rpartition(":")[2]
            what = f"looks like a value of the kind {kind}, and is none; mend it, or put it in quotes if it is text"
        else:
            if isinstance(node, ScalarNode):
                what = _unplain(value, node.value)
        if what is not None:
            raise ConstructorError(problem=f"{shown(node.value)} {what}", problem_mark=node.start_mark)
        return value

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> Any:
        """Return a mapping.

        Raises:
            ConstructorError: A key is no scalar.
        """
        for key, _ in node.value:
            if not isinstance(key, ScalarNode):
                raise ConstructorError(problem="a key is no text; write one", problem_mark=key.start_mark)
        return super().construct_mapping(node, deep=deep)

    def flatten_mapping(self, node: MappingNode) -> None:
        """Merge mappings (``<<``).

        Raises:
            ConstructorError: More than `MOST_NODES` keys would come together.
        """
        super().flatten_mapping(node)
        if len(node.value) > MOST_NODES:
            raise ConstructorError(problem=_TOO_MANY, problem_mark=node.start_mark)


_PlainConstructor.yaml_constructors = {
    tag: build
    for tag, build in SafeConstructor.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in _TAGS
}
_PlainConstructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


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
                steps = [(name, value) for name, value in node.value if name.value == str(key)]
            case SequenceNode() if isinstance(key, int) and key < len(node.value):
                steps = [(node.value[key], node.value[key])]
            case _:
                steps = []
        if not steps:
            break
        name, node = steps[0]
        line = name.start_mark.line
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


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _faults(text: str, *, english: bool) -> Iterator[str]:
    """Yield where a file is too deep to be built, and is read no further, and where an English one has look-alikes."""
    depth = 0
    for event in YAML(typ="safe").parse(text):
        match event:
            case MappingStartEvent() | SequenceStartEvent():
                depth += 1
            case MappingEndEvent() | SequenceEndEvent():
                depth -= 1
            case ScalarEvent() if english:
                start, end = event.start_mark.index, event.end_mark.index
                for position, what in odd_characters(event.value):
                    written = text.find(event.value[position], start, end)  # not there if it is an escape
                    yield f", line {_line(text, max(start, written))}: {what}"
        if depth > DEEPEST:
            yield f", line {event.start_mark.line + 1}: is nested more than {DEEPEST} deep; is a bracket left open?"
            return


def _check_size(content: Any) -> None:
    """Refuse what aliases have made deeper or larger than the file shows.

    Raises:
        YAMLError: There are more than `DEEPEST` levels, or `MOST_NODES` values.
    """
    number, pending = 0, [(content, 1)]
    while pending:
        value, depth = pending.pop()
        number += 1
        if depth > DEEPEST:
            raise YAMLError(f"is nested more than {DEEPEST} deep, aliases written out")
        if number > MOST_NODES:
            raise YAMLError(_TOO_MANY)
        if isinstance(value, dict | list):
            inner = value.values() if isinstance(value, dict) else value
            pending += [(one, depth + 1) for one in inner]


def _described(fault: MarkedYAMLError) -> str:
    mark = fault.problem_mark or fault.context_mark
    context = fault.context
    if context and fault.context_mark is not None and fault.context_mark.line != mark.line:
        context += f" from line {fault.context_mark.line + 1} on"  # a bracket that is left open is noticed at the end
    what = ", ".join(part for part in (context, fault.problem) if part)
    return f", line {mark.line + 1}: {what}" if mark else f": {what}"


@lru_cache(maxsize=1)  # the lines of many faults are asked for of the same file
def _composed(text: str) -> Any:
    return YAML(typ="safe").compose(text)


def _unplain(value: object, written: str) -> str | None:
    """Return why a scalar, as it is written in the file, is not plain; None if it is."""
    match value:
        case str() if "\0" in value:
            return "has a NUL, which no text has; take it out"
        case int() if not -(2**63) <= value < 2**63:
            return f"has {value.bit_length()} bits, too many for a number; at most 64 are allowed"
        case int() if not isinstance(value, bool) and str(value) != written.lstrip("+"):
            return f"could be read as two numbers; write {value}, or put it in quotes if it is text"
        case float() if not math.isfinite(value):
            return "is not allowed; write a finite number"
    return None
