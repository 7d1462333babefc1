"""Files of the CxNLI release: how their rows are read, and those of inferences, which have three rows for an item."""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line, read_text
from cxprobe.prompts.items import RELATIONS, Inference, Relation, make_inference

Item = TypeVar("Item")
_PARTS = ("premise", "hypothesis", "relation")
_COLUMNS = ("CxN Type", "Number", "P/H/R", "Annotation Targets")
_SUFFIX = "-CxN"  # some names of constructions end in it
_RELATION = re.compile(r"(\d{1,9})(?:\.0)?\s*(?:\((.*)\))?")
_ALIKE = 0.75  # how similar, from 0 to 1, a misspelt word must be to the word that it is read as


class ItemsOfFile(NamedTuple, Generic[Item]):
    """The items of an imported file.

    Attributes:
        items: In the order of the file.
        repairs: What was irregular in the file, and how it was read -> how often.
    """

    items: list[Item]
    repairs: Mapping[str, int]


def repair_table(repairs: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    """Return the repairs of several files as a table with the columns file, what and times."""
    rows = [(name, what, times) for name, of_file in repairs.items() for what, times in of_file.items()]
    return pd.DataFrame(rows, columns=["file", "what", "times"])


class FileReader:
    """A file of the release that is being read.

    Attributes:
        repairs: What was irregular and could be read -> how often.
        faults: What could not be read; `check` raises them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repairs = Counter[str]()
        self.faults: list[str] = []

    def repair(self, what: str, times: int = 1) -> None:
        """Count something irregular."""
        if times:
            self.repairs[one_line(what)] += times

    def fault(self, line: int, what: str) -> None:
        """Note what is wrong in a line."""
        self.faults.append(one_line(f"{self.path}, line {line}: {what}"))

    def check(self, *, items: bool) -> None:
        """Raise all faults that were noted, and that there are no items."""
        if not items and not self.faults:
            self.fault(1, "there is no item in the file")
        if self.faults:
            raise DataError("\n".join(self.faults))

    def read_as(self, label: str, names: Collection[str]) -> str:
        """Return the name that a label begins, or is a misspelling of; "" if there is none, or more than one."""
        if label in names:
            return label
        likely = [name for name in names if label and name.lower().startswith(label.lower())]
        likely = likely or get_close_matches(label, names, n=1, cutoff=_ALIKE)
        if len(likely) != 1:
            return ""
        self.repair(f"'{label}' was read as '{likely[0]}'")
        return likely[0]

    def number(self, cell: str) -> str:
        """Return the number of an item without decimals."""
        self.repair("'.0' was taken off a number", int(cell.endswith(".0")))
        return cell.removesuffix(".0")

    def rows(
        self, columns: Collection[str], labels: Collection[str], unread: Collection[str] = (), *, strict: bool = False
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line of each row, and its cells in the order of the columns, each in one line.

        Args:
            columns: The columns that are read; a name in the file may go on after that of the column.
            labels: What rows of such a file are labelled with, by which rows inside a text are recognised.
            unread: Columns that such a file may have, and that are not read.
            strict: Whether quotation marks inside a text must be doubled.
        """
        if not (self.path.exists() or self.path.is_symlink()):
            raise DataError(
                f"{self.path}: there is no such file; `dvc import` brings it (docs: Repeat Scivetti et al. 2025)"
            )
        text = read_text(self.path, DataError)
        self.repair("a byte-order mark was ignored", int(self.path.read_bytes().startswith(b"\xef\xbb\xbf")))
        delimiter = "\t" if self.path.suffix == ".tsv" else ","
        swallowed = re.compile(rf"\n.*{delimiter}\s*(?:{'|'.join(labels)})\s*{delimiter}", re.IGNORECASE)
        table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
        header, line = [plain_words(cell) for cell in next(table, [])], table.line_num + 1
        of_column = [
            [index for index, name in enumerate(header) if f"{name} ".startswith(f"{column.lower()} ")]
            for column in columns
        ]
        if wrong := [column for column, indices in zip(columns, of_column, strict=True) if len(indices) != 1]:
            raise DataError(
                f"{self.path}, line 1: the column {', '.join(wrong)} is not there once; found "
                f"{', '.join(header) or 'nothing'} (fields are separated by tabs in a .tsv file and by commas in "
                "others; see prompts.make.files for the formats)"
            )
        indices = [numbers[0] for numbers in of_column]
        stray = set(header) - {header[index] for index in indices} - {plain_words(name) for name in unread}
        self.repair(f"columns {', '.join(map(repr, sorted(stray)))} were ignored", int(bool(stray)))
        try:
            for cells in table:
                first, line = line, table.line_num + 1
                row = [cell.strip() for cell in cells]
                if not any(row):
                    self.repair("an empty line was skipped")
                elif any(swallowed.search(cell) for cell in cells):
                    self.fault(first, "a text contains further rows; one of its quotation marks is never closed")
                elif any(row[len(header) :]):
                    self.fault(first, f"{len(row)} cells, but the columns are {len(header)}; is a text not quoted?")
                else:
                    by_index = [cell or "" for _, cell in zip_longest(header, row)]
                    self.repair("a line break inside a text was read as a space", sum("\n" in cell for cell in row))
                    yield first, [_in_one_line(by_index[index]) for index in indices]
        except csv.Error as fault:
            self.fault(line, f"{fault}; is a quotation mark never closed, or not doubled inside a text?")


def plain_words(text: str) -> str:
    """Return a text in lower case, with one space between words."""
    return " ".join(text.lower().split())


def _in_one_line(cell: str) -> str:
    return " ".join(cell.split()) if "\n" in cell or "\r" in cell else cell


def read_inference_file(path: Path, of: str) -> ItemsOfFile[Inference]:
    """Read a .tsv or .csv file in the format of the CxNLI release.

    An item is a row for its premise, one for its hypothesis and one for its relation. The first row of an item names
    its construction; further items may leave out the construction or the premise, and then have the last one. Columns
    beyond the four are ignored. Everything irregular that could be read is counted as a repair.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.

    Raises:
        DataError: One line for every fault: an absent file or column, a row that does not belong to an item, an unknown
            relation, an item without one of its parts. Nothing is skipped.

    Source:
        Scivetti et al. 2025; github.com/melissatorgbi/beyond-memorization, folder data/.
    """
    reader, items = FileReader(path), list[Inference]()
    construction = premise = number = hypothesis = ""
    line, is_fresh = 1, False  # whether the open item has a premise of its own
    for line, (name, cell, label, text) in reader.rows(_COLUMNS, _PARTS):
        part = reader.read_as(label.lower(), _PARTS)
        if not part or not text:
            reader.fault(line, f"expected a {', a '.join(_PARTS)} and its text, found '{label}' and '{text}'")
            continue
        construction = name.removesuffix(_SUFFIX) or construction
        reader.repair(f"'{_SUFFIX}' was taken off the name of a construction", int(name.endswith(_SUFFIX)))
        before, number = number, reader.number(cell) or number
        if number != before and (part == "relation" or (part == "hypothesis" and is_fresh)):
            reader.repair("rows with different numbers were read as one item")
        if part == "premise":
            if is_fresh or hypothesis:
                reader.fault(line, "a premise, but the item before it has no relation")
            if not construction:
                reader.fault(line, "no construction has been named yet")
            premise, hypothesis, is_fresh = text, "", True
        elif part == "hypothesis":
            if hypothesis:
                reader.fault(line, "a hypothesis, but the one before it has no relation")
            if not premise:
                reader.fault(line, "a hypothesis without any premise before it")
            reader.repair("an item without a premise has that of the item before", int(not is_fresh))
            hypothesis = text
        else:
            relation = _read_relation(reader, line, text)
            if not hypothesis:
                reader.fault(line, "a relation without a hypothesis")
            elif relation is not None:
                items.append(make_inference(premise, hypothesis, relation, construction, of))
            hypothesis, is_fresh = "", False
    if is_fresh or hypothesis:
        reader.fault(line, "the file ends inside an item")
    reader.check(items=bool(items))
    return ItemsOfFile(items, reader.repairs)


def _read_relation(reader: FileReader, line: int, text: str) -> Relation | None:
    match = _RELATION.fullmatch(text)
    if match is None or int(match[1]) >= len(RELATIONS):
        allowed = ", ".join(f"{number} ({name})" for number, name in enumerate(RELATIONS))
        reader.fault(line, f"relation '{text}' is unknown (allowed: {allowed})")
        return None
    relation, name = RELATIONS[int(match[1])], (match[2] or "").strip().lower()
    if not name:
        reader.repair(f"relation '{text}' was read as {relation}")
    elif reader.read_as(name, RELATIONS) != relation:
        reader.fault(line, f"relation '{text}': {match[1]} is {relation}, and not '{name}'")
    return relation
