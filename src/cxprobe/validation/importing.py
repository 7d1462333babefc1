"""From answers to ratings: who is left out, and what everybody else said of which item."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from cxprobe.constructions.ratings import Rating, key_of
from cxprobe.validation.answers import Answer, Answers
from cxprobe.validation.forms import CHECK, LETTERS

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
