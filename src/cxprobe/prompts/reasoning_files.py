"""Files in the format of QA_constructional_reasoning of the CxNLI release: multiple choice, a row for each test."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from cxprobe.errors import DataError
from cxprobe.files.reading import shown
from cxprobe.prompts.cxnli import FileReader, ItemsOfFile
from cxprobe.prompts.items import Reasoning

TEST_NAMES: Mapping[str, str] = {  # their name of a test -> ours
    "Base": "base",
    "Recency Bias": "recency",
    "Vocabulary Bias": "vocabulary",
    "Name Bias": "name",
    "Short Calibration": "short",
    "Name Calibration": "other-names",
    "Adjective Calibration": "other-property",
    "Nonce Calibration": "nonce",
}
_BASE = "Base"
_READ = ("Ex Num", "Type", "Text", "Option A", "Option B", "Option C", "Target")
_NOT_READ = ("Output", "Original Text")  # a free note, which is not the answer; and where the text comes from
_NOTHING = ("not enough information", "not enough info")
_TARGET = re.compile(r"\(?([ABCabc])[.)]?")
_CLOSE = 0.8  # how alike a misspelt word must be to what it is read as, from 0 to 1
_WORD = re.compile(r"[^\W_]+")
# The end of a sentence, unless it is that of a title or of an initial.
_END = re.compile(r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\b[A-Z]\.)(?<=[.!?])[\"'”’)]*\s+")
# How a question begins; before that there may be a preposition.
_ASKING = re.compile(
    r"(?:(?:in|at|on|by|for|to|from|with|compared)\b|wh(?:en|ere|o|om|ose|at|ich|y)\b|how\b|(?:is|are|was|were|am)\b|"
    r"(?:do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b)",
    re.IGNORECASE,
)


class _Row(NamedTuple):
    """A row that could be read; ``test`` is the file's name of it, ``target`` the letter of the right option."""

    line: int
    number: str
    test: str
    text: str
    a: str
    b: str
    target: str

    @property
    def answer(self) -> str:
        """What is right: an option in plain words, or "" for that there is not enough information."""
        return {"A": _plain(self.a), "B": _plain(self.b), "C": ""}[self.target]

    @property
    def content(self) -> tuple[str, ...]:
        """What makes it the same row in another file."""
        return (_plain(self.text), _plain(self.a), _plain(self.b), self.target)

    @property
    def options(self) -> frozenset[str]:
        """The options in plain words, in either order."""
        return frozenset((_plain(self.a), _plain(self.b)))


def read_reasoning_file(
    path: Path, of: str, construction: str, *, keep_doubtful: bool, rows: Path | None = None
) -> ItemsOfFile[Reasoning]:
    """Read a .tsv or .csv file in the format of the CxNLI release's multiple-choice items.

    A row is an item: a text that ends in a question, the options and the letter of the right one. The rows with the
    same number are the tests of one frame. The last sentence of the text is the question. The third option must say
    that there is not enough information, in whatever words; it is shown in the words of the project's prompts, as with
    its own items. The column Output is a note, and not read. Everything irregular that could be read is reported as a
    repair, and so is what is as it is in the file but looks wrong.

    A row is doubtful if its options are neither those of its frame's Base row nor in its text, or if it has the text of
    another row and another answer.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.
        construction: What the file is about; it does not say so itself.
        keep_doubtful: Whether doubtful rows are items too.
        rows: A file in the same format; only rows that it has too, by text, options and target, are items.

    Raises:
        DataError: One line for every fault: an absent or unreadable file, an absent column, an empty cell that is
            needed, an unknown test or target, a test that a frame has twice, or no row that ``rows`` has too. Nothing
            is skipped.

    Source:
        Scivetti et al. 2025, experiment 3; github.com/melissatorgbi/beyond-memorization, commit b1ddce8b42e8, folder
        data/QA_constructional_reasoning.
    """
    reader = _read(path)
    distinct = reader.distinct()
    reader.check()
    doubtful = reader.doubtful(distinct, "kept" if keep_doubtful else "left out")
    reader.note_gaps(distinct)
    kept = [row for row in distinct if keep_doubtful or row.line not in doubtful]
    if not kept:
        raise DataError(f"{path}: every row is doubtful, so that nothing is left; keep them, or ask about another file")
    if rows is not None:
        theirs = {row.content for row in _read(rows).items}
        chosen = [row for row in kept if row.content in theirs]
        if not chosen:
            raise DataError(f"{rows}: no row of {path} is in it; take the key rows out, or name another file")
        reader.repair(1, f"{len(chosen)} of {len(kept)} rows are in {rows} too, and were read alone")
        kept = chosen
    items = [reader.item(row, of, construction) for row in kept]
    return ItemsOfFile(items, sorted(reader.repairs, key=lambda repair: repair.line))


def _read(path: Path) -> "_ReasoningReader":
    reader = _ReasoningReader(path)
    end = 0
    for line, end, cells in reader.rows(strict=True):  # noqa: B007
        if reader.names:
            reader.take(line, cells)
        else:
            reader.header(cells)
    if not reader.items:
        reader.fault(end + 1, "there is no item in the file")
    reader.check()
    return reader


@dataclass
class _ReasoningReader(FileReader):
    """What has been read so far of a file of multiple choice."""

    names: list[str] = field(default_factory=list)
    items: list[_Row] = field(default_factory=list)

    def header(self, cells: list[str]) -> None:
        """Take the first line, which names the columns."""
        known = {name.lower(): name for name in (*_READ, *_NOT_READ)}
        self.names = [known.get(" ".join(cell.lower().split()), cell.strip()) for cell in cells]
        for cell, name in zip(cells, self.names, strict=True):
            if cell.strip() != name:
                self.repair(1, f"the column {shown(cell)} was read as '{name}'")
        twice = sorted({name for name in _READ if self.names.count(name) > 1})
        missing = [name for name in _READ if name not in self.names]
        if twice:
            self.fault(1, f"the column {', '.join(twice)} is there twice; keep one")
        if missing:
            other, hint = ("," if self.delimiter == "\t" else "\t"), ""
            if "P/H/R" in self.names:
                hint = "; these are the columns of inferences: give prompts.make.files the path alone"
            elif len(self.names) == 1 and other in self.names[0]:
                ending = ".tsv" if other == "\t" else ".csv"
                hint = f"; the columns are separated by {_delimiter(other)}: give the file the ending {ending}"
            self.fault(1, f"no column {', '.join(missing)}; found {', '.join(self.names) or 'nothing'}{hint}")
        self.check()
        if stray := [name for name in self.names if name not in (*_READ, *_NOT_READ)]:
            self.repair(1, f"columns {', '.join(repr(name) for name in stray)} were ignored")

    def take(self, line: int, cells: list[str]) -> None:
        """Take a row, which begins on a line."""
        if not any(cell.strip() for cell in cells):
            self.repair(line, "an empty line was skipped")
            return
        if any(cell.strip() for cell in cells[len(self.names) :]):
            what = f"{len(cells)} cells, but the columns are {len(self.names)}"
            self.fault(line, f"{what}; put a text with {_delimiter(self.delimiter)} in it in quotation marks")
            return
        row = dict(zip_longest(self.names, cells[: len(self.names)], fillvalue=""))
        swallowed = rf"\n[^\n{self.delimiter}]*{self.delimiter}\s*(?:{'|'.join(TEST_NAMES)})\s*{self.delimiter}"
        if any(re.search(swallowed, cell, re.IGNORECASE) for cell in row.values()):
            self.fault(line, "a text contains further rows; one of its quotation marks is never closed")
            return
        number, label, text, a, b, c, target = (self._cell(line, name, row[name]) for name in _READ)
        if empty := [name for name in _READ if not row[name].strip()]:
            self.fault(line, f"{', '.join(empty)} is empty; fill it in, or take the row out")
            return
        whole = number.removesuffix(".0")
        if whole != number:
            self.repair(line, f"number '{number}' was read as {whole}")
        elif not number.isdecimal():
            self.repair(line, f"number {shown(number)} is none; it was read as a name")
        test, letter = self._test(line, label), _TARGET.fullmatch(target)
        if letter is None:
            self.fault(line, f"target {shown(target)} is unknown (allowed: A, B, C)")
        elif letter[1].upper() != target:
            self.repair(line, f"target '{target}' was read as {letter[1].upper()}")
        if not get_close_matches(_plain(c), _NOTHING, n=1, cutoff=_CLOSE):
            what = f"option C {shown(c)} does not say that there is {_NOTHING[0]}; A and B are the readings"
            self.fault(line, what)
        elif _plain(c) not in _NOTHING:
            self.repair(line, f"option C {shown(c)} was read as '{_NOTHING[0]}'")
        if test and letter:
            self.items.append(_Row(line, whole, test, text, a, b, letter[1].upper()))

    def _cell(self, line: int, name: str, cell: str) -> str:
        """Return a cell without the spaces around it, and in one line."""
        value = cell.strip()
        if value != cell:
            self.repair(line, f"spaces around the {name} were taken off")
        if "\n" in value or "\r" in value:
            self.repair(line, f"a line break inside the {name} was read as a space")
            value = " ".join(value.split())
        return value

    def _test(self, line: int, label: str) -> str | None:
        if label in TEST_NAMES:
            return label
        words = [word.lower() for word in _WORD.findall(label)]
        names = {name: name.lower().split() for name in TEST_NAMES}
        likely = [name for name, parts in names.items() if words and parts[: len(words)] == words]
        likely = likely or [
            name
            for name, parts in names.items()
            if len(parts) == len(words)
            and all(SequenceMatcher(None, *pair).ratio() >= _CLOSE for pair in zip(parts, words, strict=True))
        ]
        if len(likely) == 1:
            self.repair(line, f"test {shown(label)} was read as '{likely[0]}'")
            return likely[0]
        what = (
            f"can be {' or '.join(likely)}; write which" if likely else f"is unknown (allowed: {', '.join(TEST_NAMES)})"
        )
        self.fault(line, f"test {shown(label)} {what}")
        return None

    def distinct(self) -> list[_Row]:
        """Return the rows without those that repeat another; a test that a frame has twice is a fault."""
        first: dict[tuple[str, str], _Row] = {}
        for row in self.items:
            known = first.setdefault((row.number, row.test), row)
            if known is row:
                continue
            if known == row._replace(line=known.line):
                self.repair(row.line, f"the same row as line {known.line} was skipped")
            else:
                self.fault(
                    row.line,
                    f"item {row.number} has its test {row.test} in line {known.line} already, with another text, other "
                    "options or another target; a file is about one construction, and numbers its items once",
                )
        return list(first.values())

    def note_gaps(self, rows: Sequence[_Row]) -> None:
        """Report tests that are absent, and targets that do not go with their test."""
        tests: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            tests[row.number].add(row.test)
            if (row.target == "C") != row.test.endswith("Calibration"):
                self.repair(row.line, f"the target of a {row.test} row is {row.target}; it was kept")
        present = set[str]().union(*tests.values())
        if absent := [test for test in TEST_NAMES if test not in present]:
            self.repair(1, f"no item has the test {', '.join(absent)}")
        lines = {row.number: row.line for row in reversed(rows)}
        for number, names in tests.items():
            if lacking := [test for test in TEST_NAMES if test in present - names]:
                self.repair(lines[number], f"item {number} has no {', '.join(lacking)}")

    def doubtful(self, rows: Sequence[_Row], done: str) -> set[int]:
        """Return the lines of doubtful rows, and report each."""
        bases = {row.number: row for row in rows if row.test == _BASE}
        lines = set()
        for row in rows:
            base = bases.get(row.number, row)
            if len(row.options) == 1:
                what = f"both options are {shown(row.a)}"
            elif row.options != base.options and not _any_is_in(row.options, row.text):
                there = f"{shown(base.a)} and {shown(base.b)} of the item's Base row (line {base.line})"
                what = f"the options {shown(row.a)} and {shown(row.b)} are neither {there} nor in the text"
            else:
                continue
            lines.add(row.line)
            self.repair(row.line, f"{what}; the row was {done}")
        same: dict[str, list[_Row]] = defaultdict(list)
        for row in rows:
            same[_plain(row.text)].append(row)
        for group in same.values():
            contradict = len({row.answer for row in group}) > 1
            for row in group if len(group) > 1 else ():
                others = ", ".join(f"{other.line} ({other.test})" for other in group if other is not row)
                what = f"the {row.test} row has the text of line {others}"
                if contradict and row.test != _BASE:
                    lines.add(row.line)
                    self.repair(row.line, f"{what} and another answer; the row was {done}")
                else:
                    self.repair(row.line, f"{what}; kept")
        return lines

    def item(self, row: _Row, of: str, construction: str) -> Reasoning:
        """Return the item of a row, whose text is divided into what is known and what is asked."""
        begins = max((end.end() for end in _END.finditer(row.text)), default=0)
        text, question = row.text[:begins].rstrip(), row.text[begins:]
        if question.endswith("?."):
            self.repair(row.line, "'?.' at the end of the text was read as '?'")
            question = question.removesuffix(".")
        if not text:
            self.repair(row.line, "there is nothing before the question; it was kept")
        if not question.endswith("?"):
            self.repair(row.line, f"the question {shown(question)} has no question mark; it was kept")
        if not _ASKING.match(question):
            self.repair(row.line, f"the last sentence, {shown(question)}, was read as the question")
        frame, test, is_answerable = f"{of}-{construction}-{row.number}", TEST_NAMES[row.test], row.target != "C"
        id_ = f"{test}-{frame}"
        return Reasoning(
            id_, text, question, row.a, row.b, row.target, construction, test, frame, is_answerable, set=of
        )


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _any_is_in(options: frozenset[str], text: str) -> bool:
    words = set(_WORD.findall(text.lower()))
    return any(set(_WORD.findall(option)) <= words for option in options)


def _delimiter(character: str) -> str:
    return "a tab" if character == "\t" else "a comma"
