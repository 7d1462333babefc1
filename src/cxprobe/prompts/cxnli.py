"""Files in the format of the CxNLI release: three rows per item, and the irregularities that its files have."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line, read_text
from cxprobe.prompts.items import RELATIONS, Inference, Relation, make_inference

_PARTS = ("premise", "hypothesis", "relation")
_COLUMNS = ("CxN Type", "Number", "P/H/R")
_VALUE = "Annotation Targets"  # begins the name of the column of the texts
_SUFFIX = "-CxN"  # some names of constructions end in it
_RELATION = re.compile(r"(\d{1,9})(?:\.0)?\s*(?:\((.*)\))?")
_ALIKE = 0.75  # how similar, from 0 to 1, a misspelt word must be to the word that it is read as
_SWALLOWED = re.compile(r"\n.*[\t,](?:premise|hypothesis|relation)[\t,]", re.IGNORECASE)  # rows inside a text


class Repair(NamedTuple):
    """An irregular row or cell of a file, and how it was read.

    Attributes:
        line: The line of the file, from 1.
        what: What was found, and how it was read.
    """

    line: int
    what: str


def repair_table(repairs: Mapping[str, Sequence[Repair]]) -> pd.DataFrame:
    """Return the repairs of several files as a table with the columns file, line and what."""
    rows = [(name, *repair) for name, own in repairs.items() for repair in own]
    return pd.DataFrame(rows, columns=["file", *Repair._fields])


@dataclass(frozen=True)
class InferenceFile:
    """The items of a file.

    Attributes:
        items: In the order of the file.
        repairs: In the order of the file.
    """

    items: list[Inference]
    repairs: list[Repair]


def read_inference_file(path: Path, of: str) -> InferenceFile:
    """Read a .tsv or .csv file in the format of the CxNLI release.

    An item is a row for its premise, one for its hypothesis and one for its relation. The first row of an item names
    its construction; further items may leave out the construction or the premise, and then have the last one. Columns
    beyond the four are ignored. Everything irregular that could be read is reported as a repair.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.

    Raises:
        DataError: One line for every fault: an absent file or column, a row that does not belong to an item, an unknown
            relation, an item without one of its parts. Nothing is skipped.

    Source:
        Scivetti et al. 2025; github.com/melissatorgbi/beyond-memorization, folder data/.
    """
    if not (path.exists() or path.is_symlink()):
        raise DataError(f"{path}: there is no such file; the README says how to import it")
    parser = _Parser(path, of)
    text = read_text(path, DataError)
    if path.read_bytes().startswith(b"\xef\xbb\xbf"):
        parser.repair(1, "a byte-order mark was ignored")
    delimiter = "\t" if path.suffix == ".tsv" else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns = _columns(next(rows, []), path, parser)
        for row in rows:
            parser.take(rows.line_num, [row[column] if column < len(row) else "" for column in columns], row)
    except csv.Error as fault:
        parser.fault(rows.line_num, f"{fault}; is a quotation mark never closed?")
    return parser.finish(rows.line_num)


def _columns(header: list[str], path: Path, parser: "_Parser") -> list[int]:
    names = [name.strip() for name in header]
    value = [name for name in names if name.startswith(_VALUE)]
    missing = [name for name in _COLUMNS if name not in names] + ([] if value else [f"{_VALUE} ..."])
    if missing:
        found = ", ".join(names) or "nothing"
        raise DataError(one_line(f"{path}, line 1: no column {', '.join(missing)}; found {found}"))
    used = [*_COLUMNS, value[0]]
    stray = [name for name in names if name not in used]
    if stray:
        parser.repair(1, f"columns {', '.join(repr(name) for name in stray)} were ignored")
    return [names.index(name) for name in used]


@dataclass
class _Parser:
    """What has been read so far."""

    path: Path
    of: str
    construction: str = ""
    premise: str = ""
    number: str = ""
    hypothesis: str = ""
    fresh: bool = False  # whether the premise is the open item's own
    items: list[Inference] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def repair(self, line: int, what: str) -> None:
        self.repairs.append(Repair(line, one_line(what)))

    def fault(self, line: int, what: str) -> None:
        self.faults.append(one_line(f"{self.path}, line {line}: {what}"))

    def take(self, line: int, cells: list[str], row: list[str]) -> None:
        """Take a row of the file, whose cells are those of the four columns."""
        name, number, label, value = (cell.strip() for cell in cells)
        if _SWALLOWED.search(value):
            self.fault(line, "a text contains further rows; one of its quotation marks is never closed")
            return
        if not any(cell.strip() for cell in row):
            self.repair(line, "an empty line was skipped")
            return
        part = self._part(line, label)
        if part is None or not value:
            self.fault(line, f"expected a {', a '.join(_PARTS)} and its text, found {row}")
            return
        if name:
            self._name(line, name)
        self._number(line, number, part)
        if "\n" in value:
            self.repair(line, "a line break inside a text was read as a space")
            value = " ".join(value.split())
        match part:
            case "premise":
                self._premise(line, value)
            case "hypothesis":
                self._hypothesis(line, value)
            case _:
                self._relation(line, value)

    def finish(self, line: int) -> InferenceFile:
        """Return all items, or raise all faults."""
        if self.fresh or self.hypothesis:
            self.fault(line, "the file ends inside an item")
        if not self.items and not self.faults:
            self.fault(line, "there is no item in the file")
        if self.faults:
            raise DataError("\n".join(self.faults))
        return InferenceFile(self.items, self.repairs)

    def _part(self, line: int, label: str) -> str | None:
        lower = label.lower()
        if lower in _PARTS:
            return lower
        near = get_close_matches(lower, _PARTS, n=1, cutoff=_ALIKE)
        if not near:
            return None
        self.repair(line, f"'{label}' was read as '{near[0]}'")
        return near[0]

    def _name(self, line: int, name: str) -> None:
        self.construction = name.removesuffix(_SUFFIX)
        if self.construction != name:
            self.repair(line, f"construction '{name}' was read as '{self.construction}'")

    def _number(self, line: int, number: str, part: str) -> None:
        whole = number.removesuffix(".0")
        if whole != number:
            self.repair(line, f"number '{number}' was read as {whole}")
        if whole and whole != self.number and (part == "relation" or (part == "hypothesis" and self.fresh)):
            self.repair(
                line, f"the {part} has number {whole}, the rows before it {self.number}; they were read as one item"
            )
        self.number = whole or self.number

    def _premise(self, line: int, value: str) -> None:
        if self.fresh or self.hypothesis:
            self.fault(line, "a premise, but the item before it has no relation")
        if not self.construction:
            self.fault(line, "no construction has been named yet")
        self.premise, self.hypothesis, self.fresh = value, "", True

    def _hypothesis(self, line: int, value: str) -> None:
        if self.hypothesis:
            self.fault(line, "a hypothesis, but the one before it has no relation")
        if not self.premise:
            self.fault(line, "a hypothesis without any premise before it")
        elif not self.fresh:
            self.repair(line, "the item has no premise of its own; it has that of the item before")
        self.hypothesis = value

    def _relation(self, line: int, value: str) -> None:
        relation = self._read_relation(line, value)
        if not self.hypothesis:
            self.fault(line, "a relation without a hypothesis")
        elif relation is not None:
            self.items.append(make_inference(self.premise, self.hypothesis, relation, self.construction, self.of))
        self.hypothesis, self.fresh = "", False

    def _read_relation(self, line: int, value: str) -> Relation | None:
        match = _RELATION.fullmatch(value)
        if match is None or int(match[1]) >= len(RELATIONS):
            allowed = ", ".join(f"{number} ({name})" for number, name in enumerate(RELATIONS))
            self.fault(line, f"relation '{value}' is unknown (allowed: {allowed})")
            return None
        relation, name = RELATIONS[int(match[1])], (match[2] or "").strip().lower()
        if name == relation:
            return relation
        meant = _relation_named(name) if name else relation
        if meant == relation:
            self.repair(line, f"relation '{value}' was read as {relation}")
        elif meant is None:
            self.fault(line, f"relation '{value}': {int(match[1])} is {relation}, and '{name}' is no relation")
        else:
            self.fault(line, f"relation '{value}' names one relation by its number and another by its name")
        return relation


def _relation_named(name: str) -> str | None:
    """Return the relation that a name stands for, which may be misspelt or cut short."""
    begun = [relation for relation in RELATIONS if len(name) > 2 and relation.startswith(name)]
    return next(iter(begun or get_close_matches(name, RELATIONS, n=1, cutoff=_ALIKE)), None)
