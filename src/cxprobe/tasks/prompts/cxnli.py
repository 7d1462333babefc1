"""Files in the shape of the CxNLI release: inferences, three rows an item, and multiple choice, a row an item.

What cells of the release say wrongly stands in ``prompts/cxnli_repairs.tsv``, with what they are read as.

Source:
    Scivetti et al. 2025; github.com/melissatorgbi/beyond-memorization, folder data/; of multiple choice (experiment 3),
    commit b1ddce8b42e8, folder data/QA_constructional_reasoning.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import check_separator, kind_of, read_text
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.tasks.prompts.items import RELATIONS, Inference, Reasoning

REPAIRS = PROMPTS_FOLDER / "cxnli_repairs.tsv"
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
_INFERENCE = ("CxN Type", "P/H/R", "Annotation Targets")
_PARTS = ["premise", "hypothesis", "relation"]
_SUFFIX = "-CxN"  # some names of constructions end in it
_RELATION = re.compile(r"([012])(?: \((\w+)\))?")
_REASONING = ("Ex Num", "Type", "Text", "Option A", "Option B", "Option C", "Target")
_NOTHING = "not enough info"
# The end of a sentence, unless it is that of a title or of an initial.
_END = re.compile(r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\b[A-Z]\.)(?<=[.!?])[\"'”’)]*\s+")


def read_inference_file(path: Path, of: str) -> list[Inference]:
    """Read a .tsv or .csv file of inferences.

    An item is a row for its premise, one for its hypothesis and one for its relation. The first row of an item may name
    its construction, else it is that of the item before.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.

    Raises:
        DataError: An absent file or column, a row that does not belong to an item, or an unknown relation.
    """
    rows, items, construction = _rows(path, _INFERENCE), list[Inference](), ""
    for start in range(0, len(rows), len(_PARTS)):
        of_item = rows[start : start + len(_PARTS)]
        line, (name, *_) = of_item[0]
        labels, texts = ([cells[column] for _, cells in of_item] for column in (1, 2))
        if [label.lower() for label in labels] != _PARTS or not all(texts):
            raise DataError(f"{path}, line {line}: expected the rows {', '.join(_PARTS)}, found {', '.join(labels)}")
        construction = name.removesuffix(_SUFFIX) or construction
        if not construction:
            raise DataError(f"{path}, line {line}: no construction has been named yet")
        premise, hypothesis, relation = texts
        match = _RELATION.fullmatch(relation)
        if match is None or match[2] not in (None, RELATIONS[int(match[1])]):
            allowed = ", ".join(f"{number} ({name})" for number, name in enumerate(RELATIONS))
            raise DataError(f"{path}, line {of_item[2][0]}: relation '{relation}' is unknown (allowed: {allowed})")
        items.append(Inference(premise, hypothesis, RELATIONS[int(match[1])], construction, of))
    return items


def read_reasoning_file(path: Path, of: str, construction: str, *, rows: Path | None = None) -> list[Reasoning]:
    """Read a .tsv or .csv file of multiple choice.

    A row is an item: a text that ends in a question, the options and the letter of the right one. The rows with the
    same number are the tests of one frame. The last sentence of the text is the question. The third option must say
    that there is not enough information; it is shown in the words of the project's prompts.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.
        construction: What the file is about; it does not say so itself.
        rows: A file in the same shape; only rows that it has too, by text, options and target, are items.

    Raises:
        DataError: An absent file or column, an empty cell, an unknown test or target, a test that a frame has twice, or
            no row that ``rows`` has too.
    """
    chosen = None if rows is None else {_content(cells) for _, cells in _reasoning_rows(rows)}
    items: dict[str, Reasoning] = {}
    left_out = set()
    for line, cells in _reasoning_rows(path):
        number, test, text, a, b, _, target = cells
        begins = max((end.end() for end in _END.finditer(text)), default=0)
        question = text[begins:]
        if question.endswith("?."):
            question = question.removesuffix(".")
        frame = f"{of}-{construction}-{number.removesuffix('.0')}"
        id_ = f"{TEST_NAMES[test]}-{frame}"
        if id_ in items:
            raise DataError(
                f"{path}, line {line}: item {number} has its test {test} already; a file is about one construction, "
                "and numbers its items once"
            )
        about = (construction, TEST_NAMES[test], frame, target != "C")
        items[id_] = Reasoning(id_, text[:begins].rstrip(), question, a, b, target, *about, set=of)
        if chosen is not None and _content(cells) not in chosen:
            left_out.add(id_)
    if len(left_out) == len(items):
        raise DataError(f"{rows}: no row of {path} is in it; take the key rows out, or name another file")
    return [item for id_, item in items.items() if id_ not in left_out]


def _reasoning_rows(path: Path) -> list[tuple[int, list[str]]]:
    rows = _rows(path, _REASONING)
    for line, cells in rows:
        for column, cell in zip(_REASONING, cells, strict=True):
            allowed = {"Type": [*TEST_NAMES], "Target": [*"ABC"]}.get(column, [cell or "a text"])
            if cell not in allowed:
                raise DataError(f"{path}, line {line}: {column} is '{cell}' (allowed: {', '.join(allowed)})")
        if not cells[5].lower().startswith(_NOTHING):
            raise DataError(f"{path}, line {line}: option C '{cells[5]}' does not say that there is {_NOTHING}rmation")
    return rows


def _content(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the key of a row of multiple choice, which is the same in another file: its texts and target."""
    _, _, *texts, _, target = cells
    return (*(" ".join(text.lower().split()) for text in texts), target)


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Return the line of each row that is not empty, and its cells in the order of the columns, with repairs.

    A name in the file may go on after that of the column. Further columns are not read.
    """
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; `dvc import` brings it (docs: Repeat Scivetti et al. 2025)")
    delimiter, text = "\t" if kind_of(path) == "tsv" else ",", read_text(path, DataError)
    check_separator(text, delimiter, DataError, path)
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header = [name.strip().lower() for name in next(table, [])]
    places = []
    for column in columns:
        at = [index for index, name in enumerate(header) if f"{name} ".startswith(f"{column.lower()} ")]
        if len(at) != 1:
            raise DataError(
                f"{path}, line 1: the column {column} is not there once; found {', '.join(header) or 'nothing'}"
            )
        places += at
    repairs: Mapping[Any, str] = {}  # line, column and what the cell says -> what it is read as
    if REPAIRS.is_file():
        known = pd.read_csv(REPAIRS, sep="\t", dtype={"line": int}, keep_default_na=False)
        known = known[known["file"] == path.name.removesuffix(".gz")].set_index(["line", "column", "says"])
        repairs = known["reads"].to_dict()
    rows = []
    try:
        for line, row in enumerate(table, start=2):
            if table.line_num != line or len(row) not in (0, len(header)):
                raise DataError(
                    f"{path}, line {line}: {len(row)} cells in {table.line_num - line + 1} lines, but a row is a line "
                    f"of {len(header)} cells; is a quotation mark never closed, or a text not quoted?"
                )
            if any(cell.strip() for cell in row):
                cells = [row[at].strip() for at in places]
                repaired = [repairs.get((line, *named), named[1]) for named in zip(columns, cells, strict=True)]
                rows.append((line, repaired))
    except csv.Error as fault:
        raise DataError(
            f"{path}, line {table.line_num}: {fault}; is a quotation mark not doubled in a text?"
        ) from fault
    if not rows:
        raise DataError(f"{path}: there is no item in the file")
    return rows
