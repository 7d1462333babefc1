"""Ratings: the file, and tables that a spreadsheet has saved."""

import csv
import io

import pytest

from cxprobe.errors import ConstructionError
from cxprobe.labels.ratings import (
    RATING_COLUMNS,
    RatedItem,
    Rating,
    merge_ratings,
    rating_rows,
    read_rating_sheet,
    read_ratings,
)
from cxprobe.labels.tables import write_judgements

HEADER = "\t".join(Rating._fields)
RELATIONS = {"entailment": "It must be true.", "neutral": "It may be.", "contradiction": "It cannot be true."}
ITEMS = [
    *(RatedItem("pairs", f"p{n}", f"f{n}", "", "Which?", {"A": "=1", "B": f"Two {n}."}, "AB"[n % 2]) for n in range(6)),
    RatedItem("inference", "i1", "g", "Suppose: x.", "So: y.", RELATIONS, "neutral"),
]


def line(**changes: str) -> str:
    known = {"kind": "pairs", "item": "i1", "frame": "f1", "rater": "r1", "answer": "A", "gold": "B"}
    return "\t".join((known | changes).values())


def test_what_is_written_is_read(tmp_path):
    known = [Rating("inference", "i1", "f 1", "é", "neutral", "neutral"), Rating("pairs", "i1", '"f"', "r1", "A", "B")]
    write_judgements(Rating._fields, known, tmp_path / "ratings.tsv")
    assert read_ratings(tmp_path / "ratings.tsv") == known


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([line(kind="pair")], "line 2: pair: A, gold B: not allowed (allowed: pairs: A, B; inference: entailment,"),
        ([line(kind="inference", answer="neutral")], "line 2: inference: neutral, gold B: not allowed"),
        ([line(), line(answer="B")], "line 3: pairs i1 r1 is there twice"),
        ([line(), line(rater="r2", gold="A")], "line 3: gold 'A' of 'i1' is 'B' above"),
    ],
)
def test_every_fault_is_told_with_its_line(tmp_path, lines, fault):
    (tmp_path / "ratings.tsv").write_text("\n".join([HEADER, *lines]) + "\n")
    with pytest.raises(ConstructionError) as told:
        read_ratings(tmp_path / "ratings.tsv")
    assert fault in str(told.value)


def sheet(folder, rater="Ann", known=()):
    write_judgements(RATING_COLUMNS, rating_rows(ITEMS, known, rater, 1), folder / "a.tsv")
    return list(csv.DictReader(io.StringIO((folder / "a.tsv").read_text()), delimiter="\t"))


def filled_in(folder, rows):
    write_judgements(RATING_COLUMNS, [tuple(row.values()) for row in rows], folder / "a.tsv")
    return read_rating_sheet(folder / "a.tsv", ITEMS, "Ann")


def test_a_table_has_every_item_and_not_what_is_right_in_one_order_for_everybody(tmp_path):
    rows = sheet(tmp_path)
    assert {row["item"] for row in rows} == {item.id for item in ITEMS}
    assert rows == [row | {"rater": "Ann"} for row in sheet(tmp_path, "Bo")]
    assert not {"gold", "frame"} & rows[0].keys()
    texts = {"text": "Suppose: x.", "question": "So: y."} | dict(zip("ABC", RELATIONS.values(), strict=True))
    assert rows[0] | {"rater": ""} == {"kind": "inference", "item": "i1", "rater": "", "answer": ""} | texts
    assert {row["A"] for row in rows[1:]} == {"'=1"}  # a text, which a spreadsheet does not run


def test_letters_become_the_answers_of_the_items_and_come_back_in_the_next_table(tmp_path):
    rows = sheet(tmp_path)
    for row in rows[:3]:
        row["answer"] = "b"
    ratings = filled_in(tmp_path, rows)
    assert ratings[0] == Rating("inference", "i1", "g", "Ann", "neutral", "neutral")
    assert [one.answer for one in ratings] == ["neutral", "B", "B"]
    assert [row["answer"] for row in sheet(tmp_path, known=ratings)] == ["B"] * 3 + [""] * 4
    assert {row["answer"] for row in sheet(tmp_path, "Bo", ratings)} == {""}


def test_ratings_merge_in_any_order_and_twice_changes_nothing():
    ann, bo = ([Rating("pairs", f"p{n}", f"f{n}", who, "A", "AB"[n % 2]) for n in range(4)] for who in ("Ann", "Bo"))
    merged = merge_ratings(ann, bo, ITEMS)
    assert merged == merge_ratings(bo, ann, ITEMS) == sorted([*ann, *bo])
    assert merge_ratings(merged, ann, ITEMS) == merged
    other = ann[0]._replace(answer="B")
    assert merge_ratings(ann, [other], ITEMS) == sorted([other, *ann[1:]])


def test_what_is_right_is_what_the_item_says_now():
    known = [Rating("pairs", "p0", "old", "Bo", "A", "B"), Rating("pairs", "gone", "f", "Bo", "A", "B")]
    assert merge_ratings(known, [], ITEMS) == sorted([known[0]._replace(frame="f0", gold="A"), known[1]])


def test_every_fault_of_a_filled_in_table_is_told_with_its_line(tmp_path):
    rows = sheet(tmp_path)
    rows[1]["answer"], rows[2]["answer"], rows[3]["answer"], rows[3]["item"] = "C", "A", "A", "other"
    with pytest.raises(ConstructionError) as told:
        filled_in(tmp_path, rows)
    first, second = str(told.value).split("\n")
    assert "a.tsv, line 3: answer 'C' is not allowed (allowed: A, B)" in first
    assert "a.tsv, line 5: there is no item pairs other; its text has changed: export again" in second
