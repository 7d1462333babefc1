"""The answers of people: files of three kinds, told by their columns.

The files may be separated by commas, semicolons or tabs, since spreadsheets write what they like.

- The project's own: what a form saves (export, form, number, rater, answer, saved), or a form-NN.csv that somebody has
  filled in; there a row without a rater is of the one above it.
- Label Studio's CSV export: form-NN.csv imported as tasks, each with the columns annotator, annotation_id, updated_at
  and choice, where ``choice`` is the name of the <Choices> tag with the values A, B and C.
- Prolific's export of a study's submissions ("Download demographic data"): Participant id and Status, no answers.
"""

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line, read_text, shown
from cxprobe.people.forms import CHECK, ITEM_COLUMNS, LETTERS
from cxprobe.people.ratings import ANSWERS, Rating, key_of

OWN = {"export", "form", "number", "rater", "answer"}
LABEL_STUDIO = {"export", "form", "number", "annotator", "annotation_id", "updated_at", "choice"}
PROLIFIC = {"participant_id", "status"}
_DELIMITERS = (",", ";", "\t")
_MOST_DIGITS = 9  # of a number
LONGEST_RATER = 200  # characters of a person's name


class Answer(NamedTuple):
    """One answer that was given.

    Attributes:
        rater: Who gave it, as the file has it.
        form: The number of the form.
        number: The number of the question.
        letter: "A", "B" or "C".
        when: When it was saved, in ISO 8601, or "" where the file does not tell.
    """

    rater: str
    form: int
    number: int
    letter: str
    when: str


class Answers(NamedTuple):
    """All that files say.

    Attributes:
        given: The answers; of several that one person has given to a question, the last.
        statuses: Participant -> the statuses of this person's submissions, in capitals; None without Prolific's export.
    """

    given: list[Answer]
    statuses: Mapping[str, frozenset[str]] | None


def read_items(path: Path) -> pd.DataFrame:
    """Read the items.csv of an export, see `items_table`; form and number are integers.

    Raises:
        DataError: It is not such a table, or one line for every row that is none of it.
    """
    header, rows = _read_rows(path)
    if not set(ITEM_COLUMNS) <= set(header):
        raise DataError(f"{path}: expected the columns {' '.join(ITEM_COLUMNS)}; is it the items.csv of an export?")
    faults = [one_line(f"{path}, line {line}: {what}") for line, row in rows if (what := _fault_of_item(row))]
    if not rows:
        raise DataError(f"{path}: there is no question in it; take the items.csv that the export has written")
    table = pd.DataFrame([row for _, row in rows], columns=header)[list(ITEM_COLUMNS)]
    if not faults and (table["export"].nunique() != 1 or table.duplicated(["form", "number"]).any()):
        faults = [f"{path}: has the questions of several exports, or a question twice; take the file of one export"]
    if faults:
        raise DataError("\n".join(faults))
    return table.astype({"form": int, "number": int})


def read_answers(paths: Sequence[Path], items: pd.DataFrame) -> Answers:
    """Read files of answers; a question without an answer is absent.

    Args:
        paths: The files.
        items: What was asked, see `read_items`.

    Raises:
        DataError: One line for every fault: a file of no known kind, an answer without a person, to a question that
            was not asked or that belongs to another export, or that is none of the question's letters; or no answers.
    """
    asked = _asked(items)
    given: dict[tuple[str, int, int], Answer] = {}
    statuses: dict[str, set[str]] | None = None
    faults: list[str] = []
    for path in paths:
        try:
            header, rows = _read_rows(path)
            columns = _columns_of_answers(path, header)
        except DataError as fault:
            faults.append(str(fault))
            continue
        if columns is None:
            statuses = defaultdict(set) if statuses is None else statuses
            for participant, status in _submissions(header, rows):
                statuses[participant].add(status)
            continue
        for line, raw in _raw_answers(rows, columns):
            try:
                answer = _checked(raw, asked)
            except ValueError as fault:
                faults.append(one_line(f"{path}, line {line}: {fault}"))
                continue
            if answer is not None:
                _keep(answer, given)
    if faults:
        raise DataError("\n".join(faults))
    if not given:
        raise DataError(f"{', '.join(map(str, paths))}: there is no answer in these files")
    known = None if statuses is None else {person: frozenset(own) for person, own in statuses.items()}
    return Answers(list(given.values()), known)


Rows = list[tuple[int, dict[str, str]]]  # of a file: the number of the line, and column -> cell


class _Columns(NamedTuple):
    """The columns of a file that answers are in; ``when`` may be absent."""

    rater: str
    answer: str
    when: str


class _Raw(NamedTuple):
    """The cells of an answer."""

    export: str
    form: str
    number: str
    rater: str
    answer: str
    when: str


class _Asked(NamedTuple):
    """What was asked: the name of the export, and how many letters each question has, by form and number."""

    export: str
    letters: Mapping[tuple[int, int], int]


def _asked(items: pd.DataFrame) -> _Asked:
    options = (items[["a", "b", "c"]] != "").sum(axis=1)
    letters = dict(zip(zip(items["form"], items["number"], strict=True), options, strict=True))
    return _Asked(str(items["export"].iloc[0]), letters)


def _columns_of_answers(path: Path, header: Sequence[str]) -> _Columns | None:
    """Return the columns of a file of answers, or None for Prolific's export."""
    if set(header) >= LABEL_STUDIO:
        return _Columns("annotator", "choice", "updated_at")
    if set(header) >= OWN:
        return _Columns("rater", "answer", "saved")
    if {_plain(column) for column in header} >= PROLIFIC:
        return None
    kinds = {"the project's own": OWN, "Label Studio's": LABEL_STUDIO, "Prolific's": PROLIFIC}
    known = "; ".join(f"{whose} has {', '.join(sorted(columns))}" for whose, columns in kinds.items())
    raise DataError(one_line(f"{path}: the columns {', '.join(header)} are those of no known kind of file: {known}"))


def _submissions(header: Sequence[str], rows: Rows) -> Iterator[tuple[str, str]]:
    names = {_plain(column): column for column in header}
    for _, row in rows:
        yield row[names["participant_id"]].strip(), row[names["status"]].strip().upper()


def _raw_answers(rows: Rows, columns: _Columns) -> Iterator[tuple[int, _Raw]]:
    rater = ""
    for line, row in rows:
        rater = row[columns.rater].strip() or rater
        export, form, number = (row[name].strip() for name in ("export", "form", "number"))
        yield line, _Raw(export, form, number, rater, row[columns.answer].strip(), row.get(columns.when, "").strip())


def _checked(raw: _Raw, asked: _Asked) -> Answer | None:
    """Return an answer, or None if none was given.

    Raises:
        ValueError: It cannot be an answer to what was asked.
    """
    if raw.export != asked.export:
        raise ValueError(
            f"export {shown(raw.export)} is not {asked.export}, the one of items.csv; take its own items.csv"
        )
    form, number = (cell.removesuffix(".0") for cell in (raw.form, raw.number))
    question = (int(form), int(number)) if _is_number(form) and _is_number(number) else None
    if question is None or question not in asked.letters:
        raise ValueError(f"form {shown(raw.form)} has no question {shown(raw.number)} in items.csv")
    if not raw.answer:
        return None
    allowed = LETTERS[: asked.letters[question]]
    if raw.answer.upper() not in allowed:
        raise ValueError(f"answer {shown(raw.answer)} is not allowed (allowed: {', '.join(allowed)}, or nothing)")
    if not 1 <= len(raw.rater) <= LONGEST_RATER:
        raise ValueError(
            f"rater {shown(raw.rater)}: an answer needs the person's ID, of 1 to {LONGEST_RATER} characters"
        )
    return Answer(raw.rater, *question, raw.answer.upper(), raw.when)


def _keep(answer: Answer, given: dict[tuple[str, int, int], Answer]) -> None:
    """Keep an answer unless a later one to the same question is known; of two of one time, the last in the files."""
    key = (answer.rater, answer.form, answer.number)
    if key not in given or answer.when >= given[key].when:
        given[key] = answer


def _read_rows(path: Path) -> tuple[list[str], Rows]:
    """Return the columns and rows of a table; rows without any text are left out."""
    text = read_text(path, DataError)
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as fault:
        raise DataError(f"{path}, line {reader.line_num}: is no row of a table: {fault}") from None
    if twice := [name for name in dict.fromkeys(header) if header.count(name) > 1]:
        raise DataError(one_line(f"{path}, line 1: the column {shown(twice[0])} is there twice"))
    if wrong := next(((line, len(cells)) for line, cells in lines if len(cells) != len(header)), None):
        raise DataError(f"{path}, line {wrong[0]}: has {wrong[1]} cells, and the first line has {len(header)}")
    return header, [(line, dict(zip(header, cells, strict=True))) for line, cells in lines]


def _fault_of_item(row: Mapping[str, str]) -> str | None:
    """Return what is wrong with a row of items.csv, or None."""
    for column in ("form", "number"):
        if not _is_number(row[column]) or int(row[column]) < 1:
            return f"{column} {shown(row[column])} is not allowed: it must be a number from 1 on"
    answers, options = row["answers"].split(" "), [row[name] for name in ("a", "b", "c") if row[name]]
    if len(answers) != len(options) or row["gold"] not in LETTERS[: len(options)]:
        return f"answers {shown(row['answers'])} and gold {shown(row['gold'])} do not fit {len(options)} options"
    if row["kind"] == CHECK:
        return None
    if row["kind"] not in ANSWERS or not set(answers) <= set(ANSWERS[row["kind"]]):
        return f"kind {shown(row['kind'])} with the answers {shown(row['answers'])} is not allowed"
    empty = [column for column in ("item", "construction", "frame") if not row[column].strip()]
    return f"{empty[0]} is empty; it must not be" if empty else None


def _is_number(cell: str) -> bool:
    return cell.isdecimal() and len(cell) <= _MOST_DIGITS


def _plain(column: str) -> str:
    """Return the name of a column as Prolific's older exports have it: "Participant id" is participant_id."""
    return "_".join(column.lower().split())


APPROVED = "APPROVED"
Questions = Mapping[tuple[int, int], Mapping[str, Any]]  # (form, number) -> a row of items.csv


class LeftOut(NamedTuple):
    """A form that somebody has answered and that does not count: who, which form, and why."""

    rater: str
    form: int
    why: str


class Imported(NamedTuple):
    """What becomes of answers.

    Attributes:
        ratings: Construction -> what people who passed said of its items.
        withdrawn: Construction -> keys of ratings (`key_of`) that do not count: of forms that are left out.
        left_out: Forms that are left out.
        absent: How many questions of the forms that count have no answer.
    """

    ratings: Mapping[str, list[Rating]]
    withdrawn: Mapping[str, set[tuple[str, str, str]]]
    left_out: list[LeftOut]
    absent: int


def judge_answers(answers: Answers, items: pd.DataFrame, most_failed: int = 0) -> Imported:
    """Leave out forms whose attention checks were failed, and return the ratings of the others.

    One person's answers to one form are left out if

    - there is an export of Prolific, and none of the person's submissions is approved, or it does not have the person;
    - more than ``most_failed`` of its attention checks were answered wrongly;
    - none of its attention checks was answered, so that nothing is known of the person's attention.

    A question without an answer is absent: it is wrong neither as an item nor as a check. An item that one person has
    answered in several forms counts once, as it was answered first.

    Args:
        answers: What the files say, see `read_answers`.
        items: What was asked, see `read_items`.
        most_failed: How many wrong attention checks of a form are allowed.
    """
    questions: Questions = {(row["form"], row["number"]): row for row in _rows(items)}
    export = str(items["export"].iloc[0])
    by_form: dict[tuple[str, int], list[Answer]] = defaultdict(list)
    for answer in answers.given:
        by_form[answer.rater, answer.form].append(answer)
    left_out, kept = [], []
    withdrawn: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    absent = 0
    for (rater, form), given in sorted(by_form.items()):
        why = _why_left_out(rater, given, questions, answers.statuses, most_failed)
        if why is None:
            kept += given
            absent += sum(place[0] == form for place in questions) - len(given)
            continue
        left_out.append(LeftOut(rater, form, why))
        for place, question in questions.items():
            if place[0] == form and question["kind"] != CHECK:
                withdrawn[question["construction"]].add((question["kind"], question["item"], pseudonym(rater, export)))
    return Imported(_ratings(kept, questions, export), withdrawn, left_out, absent)


def merge_ratings(
    known: Iterable[Rating], new: Sequence[Rating], withdrawn: Iterable[tuple[str, str, str]] = ()
) -> list[Rating]:
    """Return the ratings of a construction with new ones added.

    A new rating takes the place of an older one of the same person and item, and its right answer and frame that of
    all ratings of the item, since an item may have been corrected without any of its words. The same answers imported
    twice change nothing.

    Args:
        known: What ratings.tsv has.
        new: What is added.
        withdrawn: Keys of ratings that count no more, see `Imported`.
    """
    gone = set(withdrawn)
    merged = {key_of(one): one for one in known if key_of(one) not in gone} | {key_of(one): one for one in new}
    latest = {(one.kind, one.item): one for one in new}
    corrected = (
        one._replace(gold=item.gold, frame=item.frame) if (item := latest.get((one.kind, one.item))) else one
        for one in merged.values()
    )
    return sorted(corrected)


def pseudonym(rater: str, export: str) -> str:
    """Return what a person is called in ratings.tsv.

    It is a keyed hash: without the items.csv of the export nobody can look up whether a known ID is among them. It is
    no protection against whoever has that file.
    """
    return hashlib.blake2b(rater.encode(), key=export.encode()[:64], digest_size=6).hexdigest()


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(column): value for column, value in row.items()} for row in table.to_dict("records")]


def _why_left_out(
    rater: str,
    given: Sequence[Answer],
    questions: Questions,
    statuses: Mapping[str, frozenset[str]] | None,
    most_failed: int,
) -> str | None:
    if statuses is not None and rater not in statuses:
        return "not in Prolific's export"
    if statuses is not None and APPROVED not in statuses[rater]:
        return f"not approved on Prolific ({', '.join(sorted(statuses[rater]))})"
    checks = [(one, question) for one in given if (question := questions[one.form, one.number])["kind"] == CHECK]
    failed = sorted(question["item"] for one, question in checks if one.letter != question["gold"])
    if len(failed) > most_failed:
        return f"{len(failed)} of {len(checks)} attention checks wrong ({', '.join(failed)})"
    return None if checks else "no attention check answered"


def _ratings(kept: Iterable[Answer], questions: Questions, export: str) -> dict[str, list[Rating]]:
    first: dict[tuple[str, str, str], tuple[str, Rating]] = {}
    for one in sorted(kept, key=lambda answer: (answer.when, answer.form, answer.number)):
        question = questions[one.form, one.number]
        if question["kind"] == CHECK:
            continue
        codes = question["answers"].split(" ")
        rating = Rating(
            kind=question["kind"],
            item=question["item"],
            frame=question["frame"],
            rater=pseudonym(one.rater, export),
            answer=codes[LETTERS.index(one.letter)],
            gold=codes[LETTERS.index(question["gold"])],
        )
        first.setdefault(key_of(rating), (question["construction"], rating))
    by_construction: dict[str, list[Rating]] = defaultdict(list)
    for construction, rating in first.values():
        by_construction[construction].append(rating)
    return by_construction
