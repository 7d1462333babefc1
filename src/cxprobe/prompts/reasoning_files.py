"""Files in the format of QA_constructional_reasoning of the CxNLI release: multiple choice, a row for each test."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cxprobe.errors import DataError
from cxprobe.prompts.cxnli import FileReader, ItemsOfFile, plain_words
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
        return {"A": plain_words(self.a), "B": plain_words(self.b), "C": ""}[self.target]

    @property
    def content(self) -> tuple[str, ...]:
        """What makes it the same row in another file."""
        return (plain_words(self.text), plain_words(self.a), plain_words(self.b), self.target)

    @property
    def options(self) -> frozenset[str]:
        """The options in plain words, in either order."""
        return frozenset((plain_words(self.a), plain_words(self.b)))


def read_reasoning_file(
    path: Path, of: str, construction: str, *, keep_doubtful: bool, rows: Path | None = None
) -> ItemsOfFile[Reasoning]:
    """Read a .tsv or .csv file in the format of the CxNLI release's multiple-choice items.

    A row is an item: a text that ends in a question, the options and the letter of the right one. The rows with the
    same number are the tests of one frame. The last sentence of the text is the question. The third option must say
    that there is not enough information, in whatever words; it is shown in the words of the project's prompts, as with
    its own items. The column Output is a note, and not read. Everything irregular that could be read is counted as a
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
    reader, every = _read(path)
    distinct = _distinct(reader, every)
    reader.check(items=True)
    doubtful = _doubtful(reader, distinct, "kept" if keep_doubtful else "left out")
    tests = Counter(row.test for row in distinct)
    for test in TEST_NAMES:
        reader.repair(f"an item has no {test}", max(tests.values()) - tests[test])
    wrong = sum((row.target == "C") != row.test.endswith("Calibration") for row in distinct)
    reader.repair("a target that does not go with the test was kept", wrong)
    kept = [row for row in distinct if keep_doubtful or row.line not in doubtful]
    if not kept:
        raise DataError(f"{path}: every row is doubtful, so that nothing is left; keep them, or ask about another file")
    if rows is not None:
        theirs = {row.content for row in _read(rows)[1]}
        chosen = [row for row in kept if row.content in theirs]
        if not chosen:
            raise DataError(f"{rows}: no row of {path} is in it; take the key rows out, or name another file")
        reader.repair(f"a row that is not in {rows} was left out", len(kept) - len(chosen))
        kept = chosen
    return ItemsOfFile([_item(reader, row, of, construction) for row in kept], reader.repairs)


def _read(path: Path) -> tuple[FileReader, list[_Row]]:
    """Return a file's reader and all its rows."""
    reader, rows = FileReader(path), []
    for line, cells in reader.rows(_READ, TEST_NAMES, _NOT_READ, strict=True):
        number, label, text, a, b, c, target = cells
        if not all(cells):
            empty = ", ".join(name for name, cell in zip(_READ, cells, strict=True) if not cell)
            reader.fault(line, f"{empty} is empty; fill it in, or take the row out")
            continue
        number, test, letter = reader.number(number), reader.read_as(label, TEST_NAMES), _TARGET.fullmatch(target)
        reader.repair("a number that is none was read as a name", int(not number.isdecimal()))
        if not test:
            reader.fault(line, f"test '{label}' is unknown, or means several (allowed: {', '.join(TEST_NAMES)})")
        if letter is None:
            reader.fault(line, f"target '{target}' is unknown (allowed: A, B, C)")
        elif letter[1].upper() != target:
            reader.repair(f"target '{target}' was read as {letter[1].upper()}")
        if not reader.read_as(plain_words(c), _NOTHING):
            reader.fault(line, f"option C '{c}' does not say that there is {_NOTHING[0]}; A and B are the readings")
        if test and letter:
            rows.append(_Row(line, number, test, text, a, b, letter[1].upper()))
    reader.check(items=bool(rows))
    return reader, rows


def _distinct(reader: FileReader, rows: Sequence[_Row]) -> list[_Row]:
    """Return the rows without those that repeat another; a test that a frame has twice is a fault."""
    first: dict[tuple[str, str], _Row] = {}
    for row in rows:
        known = first.setdefault((row.number, row.test), row)
        if known == row._replace(line=known.line):
            reader.repair("a row that the file has already was skipped", int(known is not row))
        else:
            reader.fault(
                row.line,
                f"item {row.number} has its test {row.test} in line {known.line} already, with another text, other "
                "options or another target; a file is about one construction, and numbers its items once",
            )
    return list(first.values())


def _doubtful(reader: FileReader, rows: Sequence[_Row], done: str) -> set[int]:
    """Return the lines of doubtful rows."""
    bases = {row.number: row for row in rows if row.test == _BASE}
    same: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        same[plain_words(row.text)].append(row)
    lines = set()
    for row in rows:
        base, alike = bases.get(row.number, row), same[plain_words(row.text)]
        faults = []
        if len(row.options) == 1:
            faults.append("both options are the same")
        elif row.options != base.options and not _any_is_in(row.options, row.text):
            faults.append("options are neither those of the item's Base row nor in the text")
        if row.test != _BASE and len({other.answer for other in alike}) > 1:
            faults.append("a row has the text of another and another answer")
        elif len(alike) > 1:
            reader.repair("a row that has the text of another was kept")
        for fault in faults:
            lines.add(row.line)
            reader.repair(f"{fault}; the row was {done}")
    return lines


def _item(reader: FileReader, row: _Row, of: str, construction: str) -> Reasoning:
    """Return the item of a row, whose text is divided into what is known and what is asked."""
    begins = max((end.end() for end in _END.finditer(row.text)), default=0)
    text, question = row.text[:begins].rstrip(), row.text[begins:]
    if question.endswith("?."):
        reader.repair("'?.' at the end of a text was read as '?'")
        question = question.removesuffix(".")
    reader.repair("a text with nothing before the question was kept", int(not text))
    reader.repair("a question without a question mark was kept", int(not question.endswith("?")))
    reader.repair(
        "a last sentence that begins as a statement was read as the question", int(not _ASKING.match(question))
    )
    frame, test, is_answerable = f"{of}-{construction}-{row.number}", TEST_NAMES[row.test], row.target != "C"
    id_ = f"{test}-{frame}"
    return Reasoning(id_, text, question, row.a, row.b, row.target, construction, test, frame, is_answerable, set=of)


def _any_is_in(options: frozenset[str], text: str) -> bool:
    words = set(_WORD.findall(text.lower()))
    return any(set(_WORD.findall(option)) <= words for option in options)
