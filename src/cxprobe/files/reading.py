"""Files that people write: UTF-8 text and YAML 1.2. Nothing of a file is run, and every fault names the file."""

import codecs
import csv
import gzip
import os
import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from unicodedata import category

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, SequenceNode

from cxprobe.errors import CxprobeError

MOST_BYTES = 2**29  # of a text in a .gz, which may be thousands of times as large as the file
DEEPEST = 100  # mappings and lists within each other; the parser in C breaks the process at some 50,000
MOST_NODES = 1_000_000  # an alias counts as all that it stands for, so that a small file cannot become a huge one
LONGEST_VALUE = 200  # characters of a value that a message shows
LONGEST_LINE = 2000  # characters of a line of a message
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}  # of cells


def read_text(path: Path, error: type[CxprobeError]) -> str:
    """Return the text of a UTF-8 file, compressed (.gz) or not, without a byte order mark.

    Raises:
        CxprobeError: Of the given class: it is not a file that can be read (a pipe is not waited for), or not such a
            text; see `decode`.
    """
    if not path.is_file():
        what = "is not a file, and a file is needed here" if os.path.lexists(path) else "there is no such file"
        raise error(f"{path}: {what}")
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as file:
                content = file.read(MOST_BYTES + 1)
        else:
            content = path.read_bytes()
    except (OSError, EOFError, zlib.error) as fault:
        raise error(f"{path}: cannot be read: {fault}; fetch or write the file again") from fault
    if len(content) > MOST_BYTES:
        raise error(f"{path}: is larger than {MOST_BYTES:,} bytes, unpacked; cut it into several files")
    return decode(content, path, error)


def decode(content: bytes, path: str | Path, error: type[CxprobeError]) -> str:
    """Return bytes of a file as text, without a byte order mark.

    Raises:
        CxprobeError: Of the given class: the bytes are not UTF-8, with the line, or are UTF-16.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content:
        raise error(f"{path}: is UTF-16, or no text (it has a byte 0); save the file as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line, byte = content.count(b"\n", 0, fault.start) + 1, content[fault.start]
        raise error(f"{path}, line {line}: the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8") from fault


def kind_of(path: str | Path) -> str:
    """Return the ending of a file's name in small letters, such as "tsv", whether or not ".gz" follows it."""
    return Path(str(path).removesuffix(".gz")).suffix.removeprefix(".").lower()


def check_separator(text: str, separator: str, error: type[CxprobeError], path: str | Path) -> None:
    """Refuse a table whose first line has more cells by another separator, or tells a spreadsheet which one it has.

    Raises:
        CxprobeError: Of the given class, with what the separator seems to be.
    """
    first, *_ = re.split(r"[\r\n]", text, maxsplit=1)
    if first.strip('"').lower().startswith("sep="):
        raise error(f"{path}, line 1: {first!r} is for spreadsheets; delete it: {SEPARATORS[separator]} separate cells")
    cells = {one: len(next(csv.reader([first], delimiter=one), [])) for one in SEPARATORS}
    found = max(cells, key=cells.__getitem__)
    if cells[found] > cells[separator]:
        remedy = "call it .csv" if found == "," else "save it as a .csv with commas and decimal points, or as a .tsv"
        what = f"{SEPARATORS[found]} separate the cells, but {SEPARATORS[separator]} must"
        raise error(f"{path}, line 1: {what}; {remedy}")


def load_yaml(path: Path, error: type[CxprobeError]) -> Any:
    """Return the content of a YAML 1.2 file: no tags of Python, no key twice (as DVC reads its files).

    No mapping or list stands in two places of the content: what an alias names is copied.

    Raises:
        CxprobeError: Of the given class: it is no readable text or no YAML, with the line; it nests deeper than
            `DEEPEST`; or it has more than `MOST_NODES` values.
    """
    text = read_text(path, error)
    try:
        return _without_aliases(_parsed(text))
    except MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        what = ", ".join(part for part in (fault.context, fault.problem) if part)
        raise error(one_line(f"{path}, line {mark.line + 1}: {what}")) from fault
    except Exception as fault:  # ruamel lets pass whatever int(), re.match() and the like raise
        what = " ".join(str(fault).split())
        raise error(one_line(f"{path}: cannot be read as YAML ({what}); mend it, or put texts in quotes")) from fault


@lru_cache(maxsize=512)  # checks read the same files again and again
def _parsed(text: str) -> Any:
    _check_size(text)
    return YAML(typ="safe").load(text)


def _check_size(text: str) -> None:
    """Refuse YAML that would break the parser in C or fill the memory, before anything is built of it.

    Raises:
        MarkedYAMLError: It nests deeper than `DEEPEST`, or has more than `MOST_NODES` values.
    """
    sizes, names = [0], [""]  # of the mappings and lists that are open, the innermost last
    anchored: dict[str, int] = {}  # anchor -> number of values that its aliases stand for
    for event in YAML(typ="safe").parse(text):
        if isinstance(event, CollectionStartEvent):
            sizes.append(0)
            names.append(event.anchor)
        elif isinstance(event, CollectionEndEvent):
            size = sizes.pop()
            anchored[names.pop()] = size
            sizes[-1] += size
        elif isinstance(event, AliasEvent):
            sizes[-1] += anchored.get(event.anchor, 0)
        sizes[-1] += 1
        problem = f"is nested more than {DEEPEST} deep; is a bracket left open?" if len(sizes) > DEEPEST else None
        if sizes[-1] > MOST_NODES:
            problem = f"there are more than {MOST_NODES:,} values, aliases written out; shorten the file"
        if problem:
            raise MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


def _without_aliases(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _without_aliases(value) for key, value in content.items()}
    return [_without_aliases(value) for value in content] if isinstance(content, list) else content


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


@lru_cache(maxsize=1)  # the lines of many faults are asked for of the same file
def _composed(text: str) -> Any:
    return YAML(typ="safe").compose(text)


def shown(value: object) -> str:
    """Return a value as a message shows it: as Python writes it, the middle left out where it is long."""
    return _shortened(repr(value), LONGEST_VALUE)


def one_line(text: str) -> str:
    """Return a message as a line that can be printed: no control characters, the middle left out where it is long."""
    return _shortened(printable(text), LONGEST_LINE)


def printable(text: str) -> str:
    """Return a text of others as it is shown: a character that could move, hide or turn others is its code.

    Spaces of all kinds stay, and so do the joiners of Arabic and Indic scripts.
    """
    return "".join(
        one
        if one.isprintable() or one in "\u200c\u200d" or category(one) == "Zs"
        else one.encode("unicode_escape").decode()
        for one in text
    )


def _shortened(text: str, most: int) -> str:
    shorter = f"{text[: most * 2 // 3]} ... {text[-most // 5 :]} ({len(text):,} characters)"
    return text if len(text) <= most else shorter
