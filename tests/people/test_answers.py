"""Files of answers and Prolific's submissions, whole and damaged."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import WORDING, items

from cxprobe.errors import DataError
from cxprobe.people.answers import Answer, merge_ratings, pseudonym, ratings_of_answers, read_answers, read_items
from cxprobe.people.forms import form_table, items_table, make_forms
from cxprobe.people.ratings import Rating

FORMS = make_forms(items(2, 2, 2), WORDING.checks, 2, 8, 1)
ITEMS = items_table(FORMS)
EXPORT = ITEMS["export"][0]
QUESTIONS = {(row["form"], row["number"]): row for row in ITEMS.to_dict("records")}
SAVED = ["export", "form", "number", "rater", "answer", "saved"]
PROLIFIC = [
    *("Submission id", "Participant id", "Status", "Custom study tncs accepted at", "Started at", "Completed at"),
    *("Reviewed at", "Archived at", "Time taken", "Completion code", "Total approvals", "Age", "Sex"),
]


def write(path, columns, rows, delimiter=",", bom=False):
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([columns, *rows])
    return path


def own(
    *answers: str, rater: str = "Ann", form: int = 1, saved: str = "2026-01-31T10:00:00.000Z", export: str = EXPORT
):
    return [[export, form, number, rater, answer, saved] for number, answer in enumerate(answers, start=1)]


def submissions(*rows: tuple[str, str]):
    return [[f"s{n}", who, status, *[""] * (len(PROLIFIC) - 3)] for n, (who, status) in enumerate(rows)]


@pytest.fixture
def asked(tmp_path):
    ITEMS.to_csv(tmp_path / "items.csv", index=False)
    return read_items(tmp_path / "items.csv")


def test_items_are_read_as_they_were_written(asked):
    assert asked.to_dict("records") == ITEMS.to_dict("records")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [False, True])
def test_what_a_form_saves_is_read_however_a_spreadsheet_has_saved_it_again(tmp_path, asked, delimiter, bom):
    path = write(tmp_path / "a.csv", SAVED, own("A", "b", "", " B ", rater='Ann, "x"; é'), delimiter, bom)
    answers, statuses = read_answers([path], asked)
    assert answers == [
        Answer('Ann, "x"; é', QUESTIONS[1, number], letter, "2026-01-31T10:00:00.000Z")
        for number, letter in ((1, "A"), (2, "B"), (4, "B"))
    ]
    assert statuses is None


def test_a_form_that_is_filled_in_as_a_table_needs_its_person_once(tmp_path, asked):
    table = form_table(ITEMS, FORMS[0])
    table.loc[0, "rater"] = "Bo"
    table["answer"] = "A"
    table.to_csv(tmp_path / "filled.csv", index=False)
    given, _ = read_answers([tmp_path / "filled.csv"], asked)
    assert given == [Answer("Bo", QUESTIONS[1, number], "A", "") for number in range(1, len(FORMS[0].questions) + 1)]


@pytest.mark.parametrize("columns", [PROLIFIC, ["session_id", "participant_id", "status", *PROLIFIC[3:]]])
def test_prolifics_export_tells_the_status_of_everybodys_submissions(tmp_path, asked, columns):
    rows = submissions(("p1", "APPROVED"), ("p2", "Returned"), ("p1", "TIMED-OUT"), ("p3", "AWAITING REVIEW"))
    paths = [write(tmp_path / "p.csv", columns, rows), write(tmp_path / "a.csv", SAVED, own("A", rater="p1"))]
    assert read_answers(paths, asked)[1] == {
        "p1": {"APPROVED", "TIMED-OUT"},
        "p2": {"RETURNED"},
        "p3": {"AWAITING REVIEW"},
    }


def test_the_last_answer_counts_if_a_form_was_saved_twice(tmp_path, asked):
    first = write(tmp_path / "1.csv", SAVED, own("A", "A", saved="2026-01-31T10:00:00.000Z"))
    later = write(tmp_path / "2.csv", SAVED, own("B", "", saved="2026-01-31T11:00:00.000Z"))
    for paths in ([first, later], [later, first]):
        answers, _ = read_answers(paths, asked)
        assert {one.question["number"]: one.letter for one in answers} == {1: "B", 2: "A"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([EXPORT, 1, 1, "Ann", "C", ""], "line 2: answer 'C' is not allowed (allowed: A, B, or nothing)"),
        ([EXPORT, 99, 1, "Ann", "A", ""], "line 2: form '99' has no question '1' in items.csv"),
        ([EXPORT, 1, 0, "Ann", "A", ""], "line 2: form '1' has no question '0'"),
        ([EXPORT, "9" * 5_000, 1, "Ann", "A", ""], "line 2: form '999"),
        ([EXPORT, "one", "²", "Ann", "A", ""], "line 2: form 'one' has no question '²'"),
        (["export-1", 1, 1, "Ann", "A", ""], f"line 2: export 'export-1' is not {EXPORT}"),
        ([EXPORT, 1, 1, " ", "A", ""], "line 2: rater '': an answer needs the person's ID"),
        ([EXPORT, 1, 1, "x" * 300, "A", ""], "line 2: rater 'xxx"),
        ([EXPORT, 1, 1, "Ann", "A"], "line 2: has 5 cells, and the first line has 6"),
        ([EXPORT, 1, 1, "Ann", "", ""], "there is no answer in these files"),
    ],
)
def test_a_fault_in_a_row_is_told_with_its_line(tmp_path, asked, row, message):
    with pytest.raises(DataError) as fault:
        read_answers([write(tmp_path / "a.csv", SAVED, [row])], asked)
    assert message in str(fault.value)


def test_the_faults_of_all_files_are_told_at_once(tmp_path, asked):
    paths = [
        write(tmp_path / "1.csv", SAVED, [*own("A"), *own("X", "A", "Y")]),
        tmp_path / "absent.csv",
        write(tmp_path / "other.csv", ["a", "b"], [["1", "2"]]),
    ]
    with pytest.raises(DataError) as fault:
        read_answers(paths, asked)
    first, second, absent, other = str(fault.value).split("\n")
    assert (first.split(": ")[0], second.split(": ")[0]) == (f"{paths[0]}, line 3", f"{paths[0]}, line 5")
    assert absent == f"{paths[1]}: there is no such file"
    assert "the columns a, b belong to no known kind of file" in other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="gold"), "is it the items.csv of an export?"),
        (lambda table: table.head(0), "there is no question in it"),
        (lambda table: table.assign(form="x"), "line 2: export 'export-"),
        (lambda table: table.assign(gold="C"), "something was changed"),
        (lambda table: table.iloc[1:], "something was changed"),
        (lambda table: table.assign(export=[*table["export"][:-1], "b"]), f"line {len(ITEMS) + 1}: export 'b'"),
    ],
)
def test_a_table_of_items_that_was_changed_is_told(tmp_path, change, message):
    change(ITEMS).to_csv(tmp_path / "items.csv", index=False)
    with pytest.raises(DataError) as fault:
        read_items(tmp_path / "items.csv")
    assert message in str(fault.value)


def answered(rater="Ann", form=1, failed=(), absent=(), wrong=(), when="2026"):
    """Return a person's answers to a form, all right but for checks and numbers of items that are named."""
    given = []
    for number, one in enumerate(FORMS[form - 1].questions, start=1):
        is_wrong = one.id in failed or (number in wrong and one.kind != "check")
        if one.id not in absent and number not in absent:
            letter = "BA"["AB".index(one.letter)] if is_wrong else one.letter
            given.append(Answer(rater, QUESTIONS[form, number], letter, when))
    return given


def judged(*given):
    return ratings_of_answers([answer for of_form in given for answer in of_form], None, ITEMS)


def all_ratings(imported):
    return [one for own in imported.ratings.values() for one in own]


def test_right_and_wrong_answers_become_ratings_with_the_items_own_answers():
    known = {one.id: one for one in items(2, 2, 2)}
    wrong = [n for n, one in enumerate(FORMS[0].questions, start=1) if one.kind != "check"][:3]
    imported = judged(answered(wrong=wrong))
    ratings = all_ratings(imported)
    assert len(ratings) == 8
    assert sum(one.answer != one.gold for one in ratings) == 3
    assert all(one.gold == known[one.item].gold and one.frame == known[one.item].frame for one in ratings)
    assert all(one.item.startswith(name) for name, own in imported.ratings.items() for one in own)
    assert {one.rater for one in ratings} == {pseudonym("Ann", EXPORT)}
    assert (imported.left_out, imported.absent) == ([], 0)


def test_absent_answers_are_neither_wrong_items_nor_wrong_checks():
    place = next(n for n, one in enumerate(FORMS[0].questions, start=1) if one.kind != "check")
    imported = judged(answered(absent=["shuffled", "agreement", place]))
    assert len(all_ratings(imported)) == 7
    assert all(one.answer == one.gold for one in all_ratings(imported))
    assert (imported.absent, imported.left_out) == (3, [])


def test_an_item_that_somebody_met_twice_counts_as_it_was_answered_first():
    late = [answered(form=form.number, wrong=range(99), when="2026-01-02") for form in FORMS[1:]]
    ratings = all_ratings(judged(answered(when="2026-01-01"), *late))
    first = {question.id for question in FORMS[0].questions}
    assert len({rating.key for rating in ratings}) == len(ratings) == len(items(2, 2, 2))
    assert all((rating.answer == rating.gold) == (rating.item in first) for rating in ratings)


def test_a_pseudonym_does_not_show_the_person_and_is_another_in_every_export():
    names = [pseudonym(*who) for who in (("Ann", EXPORT), ("Bo", EXPORT), ("Ann", "export-other"))]
    assert "Ann" not in "".join(names)
    assert len(set(names)) == 3


def rating(item="i", rater="r", answer="A", gold="A", frame="f"):
    return Rating("pairs", item, frame, rater, answer, gold)


some = st.lists(
    st.builds(rating, st.sampled_from("ij"), st.sampled_from("rs"), st.sampled_from("AB")),
    unique_by=lambda one: one.key,
)


@given(some, some)
def test_importing_twice_changes_nothing_and_the_new_answer_counts(known, new):
    once = merge_ratings(known, new)
    assert merge_ratings(once, new) == once == sorted(once)
    assert {one.key for one in once} == {one.key for one in [*known, *new]}
    assert set(new) <= set(once)


def test_a_corrected_item_is_corrected_in_all_its_ratings():
    merged = merge_ratings([rating(rater="r", answer="B"), rating("j")], [rating(rater="s", gold="B", frame="g")])
    assert merged == [
        rating(rater="r", answer="B", gold="B", frame="g"),
        rating(rater="s", gold="B", frame="g"),
        rating("j"),
    ]
