"""Files in the format of the CxNLI release: three rows per item, and the irregularities that its files have."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line, read_text
from cxprobe.prompts.items import RELATIONS, Inference, Relation, make_inference

Item = TypeVar("Item")
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
    rows = [(name, *repair) for name, repairs_of_file in repairs.items() for repair in repairs_of_file]
    return pd.DataFrame(rows, columns=["file", *Repair._fields])


@dataclass(frozen=True)
class ItemsOfFile(Generic[Item]):
    """The items of an imported file.

    Attributes:
        items: In the order of the file.
        repairs: In the order of the file.
    """

    items: list[Item]
    repairs: list[Repair]


@dataclass
class FileReader:
    """A file of the release that is being read: what was repaired in it, and what is wrong with it.

    Attributes:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        repairs: What was irregular and could be read.
        faults: What could not; `check` raises them.
    """

    path: Path
    repairs: list[Repair] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def delimiter(self) -> str:
        """What separates the fields."""
        return "\t" if self.path.suffix == ".tsv" else ","

    def repair(self, line: int, what: str) -> None:
        """Note what was irregular in a line, and how it was read."""
        self.repairs.append(Repair(line, one_line(what)))

    def fault(self, line: int, what: str) -> None:
        """Note what is wrong in a line."""
        self.faults.append(one_line(f"{self.path}, line {line}: {what}"))

    def check(self) -> None:
        """Raise all faults that were noted."""
        if self.faults:
            raise DataError("\n".join(self.faults))

    def rows(self, *, strict: bool) -> Iterator[tuple[int, int, list[str]]]:
        """Yield the first and the last line of each row, and its cells; what is no table is a fault."""
        if not (self.path.exists() or self.path.is_symlink()):
            raise DataError(f"{self.path}: there is no such file; the README says how to import it")
        text = read_text(self.path, DataError)
        if self.path.read_bytes().startswith(b"\xef\xbb\xbf"):
            self.repair(1, "a byte-order mark was ignored")
        table = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=strict)
        first = 1
        try:
            for cells in table:
                yield first, table.line_num, cells
                first = table.line_num + 1
        except csv.Error as fault:
            hint = ", or not doubled inside a text" if strict else ""
            line = first if strict else table.line_num
            self.fault(line, f"{fault}; is a quotation mark never closed{hint}?")


def read_inference_file(path: Path, of: str) -> ItemsOfFile[Inference]:
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
    reader = _InferenceReader(path, of=of)
    rows = reader.rows(strict=False)
    _, line, header = next(rows, (1, 0, []))
    columns = reader.columns([name.strip() for name in header])
    for _, line, cells in rows:
        reader.take(line, [cells[column] if column < len(cells) else "" for column in columns], cells)
    if reader.fresh or reader.hypothesis:
        reader.fault(line, "the file ends inside an item")
    if not reader.items and not reader.faults:
        reader.fault(line, "there is no item in the file")
    reader.check()
    return ItemsOfFile(reader.items, reader.repairs)


@dataclass
class _InferenceReader(FileReader):
    """What has been read so far of a file of inferences."""

    of: str = ""
    construction: str = ""
    premise: str = ""
    number: str = ""
    hypothesis: str = ""
    fresh: bool = False  # whether the premise is the open item's own
    items: list[Inference] = field(default_factory=list)

    def columns(self, names: list[str]) -> list[int]:
        """Return where the four columns stand."""
        value = [name for name in names if name.startswith(_VALUE)]
        missing = [name for name in _COLUMNS if name not in names] + ([] if value else [f"{_VALUE} ..."])
        if missing and not self.faults:
            self.fault(1, f"no column {', '.join(missing)}; found {', '.join(names) or 'nothing'}")
        self.check()
        used = [*_COLUMNS, value[0]]
        if stray := [name for name in names if name not in used]:
            self.repair(1, f"columns {', '.join(repr(name) for name in stray)} were ignored")
        return [names.index(name) for name in used]

    def take(self, line: int, cells: list[str], row: list[str]) -> None:
        """Take a row of the file, whose cells are those of the four columns."""
        name, number, label, value = (cell.strip() for cell in cells)
        if _SWALLOWED.search(value):
            self.fault(line, "a text contains further rows; one of its quotation marks is never closed")
            return
        if not any(cell.strip() for cell in row):
            self.repair(line, "an empty line was skipped")
            return
        part = next(iter(get_close_matches(label.lower(), _PARTS, n=1, cutoff=_ALIKE)), "")
        if part and part != label.lower():
            self.repair(line, f"'{label}' was read as '{part}'")
        if not part or not value:
            self.fault(line, f"expected a {', a '.join(_PARTS)} and its text, found {row}")
            return
        if name:
            self.construction = name.removesuffix(_SUFFIX)
            if self.construction != name:
                self.repair(line, f"construction '{name}' was read as '{self.construction}'")
        self._number(line, number, part)
        if "\n" in value:
            self.repair(line, "a line break inside a text was read as a space")
            value = " ".join(value.split())
        match part:
            case "premise":
                if self.fresh or self.hypothesis:
                    self.fault(line, "a premise, but the item before it has no relation")
                if not self.construction:
                    self.fault(line, "no construction has been named yet")
                self.premise, self.hypothesis, self.fresh = value, "", True
            case "hypothesis":
                if self.hypothesis:
                    self.fault(line, "a hypothesis, but the one before it has no relation")
                if not self.premise:
                    self.fault(line, "a hypothesis without any premise before it")
                elif not self.fresh:
                    self.repair(line, "the item has no premise of its own; it has that of the item before")
                self.hypothesis = value
            case _:
                relation = self._read_relation(line, value)
                if not self.hypothesis:
                    self.fault(line, "a relation without a hypothesis")
                elif relation is not None:
                    item = make_inference(self.premise, self.hypothesis, relation, self.construction, self.of)
                    self.items.append(item)
                self.hypothesis, self.fresh = "", False

    def _number(self, line: int, number: str, part: str) -> None:
        whole = number.removesuffix(".0")
        if whole != number:
            self.repair(line, f"number '{number}' was read as {whole}")
        if whole and whole != self.number and (part == "relation" or (part == "hypothesis" and self.fresh)):
            self.repair(
                line, f"the {part} has number {whole}, the rows before it {self.number}; they were read as one item"
            )
        self.number = whole or self.number

    def _read_relation(self, line: int, value: str) -> Relation | None:
        match = _RELATION.fullmatch(value)
        if match is None or int(match[1]) >= len(RELATIONS):
            allowed = ", ".join(f"{number} ({name})" for number, name in enumerate(RELATIONS))
            self.fault(line, f"relation '{value}' is unknown (allowed: {allowed})")
            return None
        relation, name = RELATIONS[int(match[1])], (match[2] or "").strip().lower()
        if name == relation:
            return relation
        # A name may be misspelt or cut short.
        begun = [other for other in RELATIONS if len(name) > 2 and other.startswith(name)]
        near = begun or get_close_matches(name, RELATIONS, n=1, cutoff=_ALIKE)
        meant = next(iter(near), None) if name else relation
        if meant == relation:
            self.repair(line, f"relation '{value}' was read as {relation}")
        elif meant is None:
            self.fault(line, f"relation '{value}': {int(match[1])} is {relation}, and '{name}' is no relation")
        else:
            self.fault(line, f"relation '{value}' names one relation by its number and another by its name")
        return relation
