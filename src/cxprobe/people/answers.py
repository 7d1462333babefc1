"""The answers of people: files of two kinds, recognised by their columns, and what they become.

The files may be separated by commas, semicolons or tabs, since spreadsheets write what they like.

- What a form saves (export, form, number, rater, answer, saved), or a form-NN.csv that somebody has filled in; there a
  row without a rater is of the one above it.
- Prolific's export of a study's submissions ("Download demographic data"): Participant id and Status, no answers.
"""

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import one_line, read_text, shown
from cxprobe.people.forms import CHECK, ITEM_COLUMNS, OPTION_LETTERS, name_of_export
from cxprobe.people.ratings import Rating

APPROVED = "APPROVED"  # the status of a submission that counts
LONGEST_RATER = 200  # characters of a person's name
_ANSWER_COLUMNS = {"export", "form", "number", "rater", "answer"}
_PROLIFIC_COLUMNS = {"participant_id", "status"}

RatingKey = tuple[str, str, str]  # kind, item, rater
Statuses = Mapping[str, set[str]]  # participant -> the statuses of this person's submissions, in capitals


class Answer(NamedTuple):
    """One answer that was given.

    Attributes:
        rater: Who gave it, as the file has it.
        question: The row of items.csv.
        letter: "A", "B" or "C", or "" where the question was not answered.
        when: When it was saved, in ISO 8601, or "" where the file does not say.
    """

    rater: str
    question: Mapping[Hashable, Any]
    letter: str
    when: str


class ImportedRatings(NamedTuple):
    """What becomes of answers.

    Attributes:
        ratings: Construction -> what people who passed said of its items.
        withdrawn: Construction -> keys of ratings that do not count: of forms that are left out.
        left_out: Forms that somebody has answered and that do not count: who, which form, and why.
        absent: How many questions of the forms that count have no answer.
    """

    ratings: Mapping[str, list[Rating]]
    withdrawn: Mapping[str, set[RatingKey]]
    left_out: list[str]
    absent: int


def read_items(path: Path) -> pd.DataFrame:
    """Read the items.csv of an export, see `items_table`; form and number are integers.

    Raises:
        DataError: It is not such a table, or not as the export has written it.
    """
    header, rows = _read_table(path)
    if not set(ITEM_COLUMNS) <= set(header):
        raise DataError(f"{path}: expected the columns {' '.join(ITEM_COLUMNS)}; is it the items.csv of an export?")
    if not rows:
        raise DataError(f"{path}: there is no question in it; take the items.csv that the export has written")
    table = pd.DataFrame([row for _, row in rows])[list(ITEM_COLUMNS)]
    name = name_of_export(table.drop(columns="export"))
    for line, row in rows:
        if row["export"] != name:
            raise DataError(
                f"{path}, line {line}: export {shown(row['export'])} is not what follows from the questions, {name}: "
                "something was changed, added or left out; take the items.csv that the export has written"
            )
    return table.astype({"form": int, "number": int})


def read_answers(paths: Sequence[Path], items: pd.DataFrame) -> tuple[list[Answer], Statuses | None]:
    """Read files of answers; a question without an answer is absent.

    Args:
        paths: The files.
        items: What was asked, see `read_items`.

    Returns:
        The answers, of several that one person has given to a question the last; and the statuses of submissions, None
        without an export of Prolific.

    Raises:
        DataError: One line for every fault: a file of no known kind, an answer without a person, to a question that
            was not asked or that belongs to another export, or that is none of the question's letters; or no answers.
    """
    questions = {(str(row["form"]), str(row["number"])): row for row in items.to_dict("records")}
    answers: list[Answer] = []
    statuses: dict[str, set[str]] | None = None
    faults: list[str] = []
    for path in paths:
        try:
            header, rows = _read_table(path)
        except DataError as fault:
            faults.append(str(fault))
            continue
        if set(header) >= _ANSWER_COLUMNS:
            rater = ""
            for line, row in rows:
                rater = row["rater"].strip() or rater
                try:
                    answers.append(_answer(row, rater, questions))
                except ValueError as fault:
                    faults.append(one_line(f"{path}, line {line}: {fault}"))
        elif set(header) >= _PROLIFIC_COLUMNS:
            statuses = defaultdict(set) if statuses is None else statuses
            for _, row in rows:
                statuses[row["participant_id"].strip()].add(row["status"].strip().upper())
        else:
            known = f"answers have {', '.join(sorted(_ANSWER_COLUMNS))}; Prolific's has participant_id, status"
            columns = ", ".join(header)
            faults.append(one_line(f"{path}: the columns {columns} belong to no known kind of file: {known}"))
    if faults:
        raise DataError("\n".join(faults))
    # Of two answers to one question the later counts; of two of one time, the last in the files.
    by_time = sorted((answer for answer in answers if answer.letter), key=lambda answer: answer.when)
    given = {(answer.rater, answer.question["form"], answer.question["number"]): answer for answer in by_time}
    if not given:
        raise DataError(f"{', '.join(map(str, paths))}: there is no answer in these files")
    return list(given.values()), statuses


def ratings_of_answers(
    answers: Sequence[Answer], statuses: Statuses | None, items: pd.DataFrame, most_failed: int = 0
) -> ImportedRatings:
    """Leave out forms whose attention checks were failed, and return the ratings of the others.

    One person's answers to one form are left out if

    - there is an export of Prolific, and none of the person's submissions is approved, or it does not have the person;
    - more than ``most_failed`` of its attention checks were answered wrongly;
    - none of its attention checks was answered, so that nothing is known of the person's attention.

    A question without an answer is absent: it is wrong neither as an item nor as a check. An item that one person has
    answered in several forms counts once, as it was answered first.

    Args:
        answers: What people answered, see `read_answers`.
        statuses: The statuses of their submissions.
        items: What was asked, see `read_items`.
        most_failed: How many wrong attention checks of a form are allowed.
    """
    by_form: dict[tuple[str, int], list[Answer]] = defaultdict(list)
    for answer in answers:
        by_form[answer.rater, answer.question["form"]].append(answer)
    left_out: list[str] = []
    kept: list[Answer] = []
    withdrawn: dict[str, set[RatingKey]] = defaultdict(set)
    absent = 0
    for (rater, form), given in sorted(by_form.items()):
        asked = items[items["form"] == form]
        checks = [answer for answer in given if answer.question["kind"] == CHECK]
        if why := _why_left_out(rater, checks, statuses, most_failed):
            left_out.append(f"{rater}, form {form}: {why}")
            for row in asked[asked["kind"] != CHECK].to_dict("records"):
                withdrawn[row["construction"]].add((row["kind"], row["item"], pseudonym(rater, row["export"])))
        else:
            kept += [answer for answer in given if answer.question["kind"] != CHECK]
            absent += len(asked) - len(given)
    ratings: dict[str, dict[RatingKey, Rating]] = defaultdict(dict)
    for answer in sorted(kept, key=lambda answer: (answer.when, answer.question["form"], answer.question["number"])):
        question = answer.question
        codes = dict(zip(OPTION_LETTERS, question["answers"].split(" "), strict=False))
        rater = pseudonym(answer.rater, question["export"])
        given_and_right = codes[answer.letter], codes[question["gold"]]
        rating = Rating(question["kind"], question["item"], question["frame"], rater, *given_and_right)
        ratings[question["construction"]].setdefault(rating.key, rating)  # the first of a person and item
    by_construction = {name: list(by_key.values()) for name, by_key in ratings.items()}
    return ImportedRatings(by_construction, withdrawn, left_out, absent)


def merge_ratings(known: Iterable[Rating], new: Sequence[Rating], withdrawn: Iterable[RatingKey] = ()) -> list[Rating]:
    """Return the ratings of a construction with new ones added.

    A new rating replaces an older one of the same person and item, and its right answer and frame that of
    all ratings of the item, since an item may have been corrected without any of its words. The same answers imported
    twice change nothing.

    Args:
        known: What ratings.tsv has.
        new: What is added.
        withdrawn: Keys of ratings that count no more, see `ImportedRatings`.
    """
    gone = set(withdrawn)
    merged = {rating.key: rating for rating in known if rating.key not in gone} | {rating.key: rating for rating in new}
    latest = {(rating.kind, rating.item): rating for rating in new}
    corrected = ((rating, latest.get((rating.kind, rating.item), rating)) for rating in merged.values())
    return sorted(rating._replace(gold=item.gold, frame=item.frame) for rating, item in corrected)


def pseudonym(rater: str, export: str) -> str:
    """Return what a person is called in ratings.tsv.

    A pseudonym is a keyed hash: without the items.csv of the export nobody can look up whether a known ID is among
    them. It does not protect against a reader who has that file.
    """
    return hashlib.blake2b(rater.encode(), key=export.encode()[:64], digest_size=6).hexdigest()


def _answer(row: Mapping[str, str], rater: str, questions: Mapping[tuple[str, str], Mapping[Hashable, Any]]) -> Answer:
    """Return the answer of a row.

    Raises:
        ValueError: It cannot be an answer to what was asked.
    """
    export = next(iter(questions.values()))["export"]
    if row["export"].strip() != export:
        raise ValueError(f"export {shown(row['export'])} is not {export}; take the items.csv of that export")
    form, number = (row[name].strip().removesuffix(".0") for name in ("form", "number"))
    question = questions.get((form, number))
    if question is None:
        raise ValueError(f"form {shown(form)} has no question {shown(number)} in items.csv")
    letter, allowed = row["answer"].strip(), OPTION_LETTERS[: len(question["answers"].split(" "))]
    if letter and letter.upper() not in allowed:
        raise ValueError(f"answer {shown(letter)} is not allowed (allowed: {', '.join(allowed)}, or nothing)")
    if letter and not 1 <= len(rater) <= LONGEST_RATER:
        raise ValueError(f"rater {shown(rater)}: an answer needs the person's ID, of 1 to {LONGEST_RATER} characters")
    return Answer(rater, question, letter.upper(), row.get("saved", "").strip())


def _why_left_out(rater: str, checks: Sequence[Answer], statuses: Statuses | None, most_failed: int) -> str | None:
    """Return why a form of a person does not count, from the answers to its attention checks; None if it does."""
    if statuses is not None and rater not in statuses:
        return "not in Prolific's export"
    if statuses is not None and APPROVED not in statuses[rater]:
        return f"not approved on Prolific ({', '.join(sorted(statuses[rater]))})"
    failed = sorted(check.question["item"] for check in checks if check.letter != check.question["gold"])
    if len(failed) > most_failed:
        return f"{len(failed)} of {len(checks)} attention checks wrong ({', '.join(failed)})"
    return None if checks else "no attention check answered"


def _read_table(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the columns of a table, and of each row with any text the number of its line and its cells.

    Columns are named as in Prolific's newer exports: "Participant id" is participant_id.
    """
    text = read_text(path, DataError)
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = ["_".join(name.lower().split()) for name in next(reader, [])]
        lines = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as fault:
        raise DataError(f"{path}, line {reader.line_num}: is no row of a table: {fault}") from None
    if twice := [name for name in header if header.count(name) > 1]:
        raise DataError(one_line(f"{path}, line 1: the column {shown(twice[0])} is there twice"))
    for line, cells in lines:
        if len(cells) != len(header):
            raise DataError(f"{path}, line {line}: has {len(cells)} cells, and the first line has {len(header)}")
    return header, [(line, dict(zip(header, cells, strict=True))) for line, cells in lines]
