import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import items

from conftest import ROOT
from cxprobe.people.answers import Answer, Answers, judge_answers, merge_ratings, pseudonym
from cxprobe.people.forms import items_table, make_forms
from cxprobe.people.ratings import Rating, key_of
from cxprobe.people.wording import load_wording

FORMS = make_forms(items(2, 2, 2), load_wording(ROOT / "prompts" / "validation.yaml").checks, 2, 8, 1)
ITEMS = items_table(FORMS)
EXPORT = ITEMS["export"][0]


def answered(rater="Ann", form=1, failed=(), absent=(), wrong=(), when="2026"):
    """Return a person's answers to a form, all right but for checks and numbers of items that are named."""
    given = []
    for number, one in enumerate(FORMS[form - 1].questions, start=1):
        is_wrong = one.item in failed or number in wrong
        if one.item not in absent and number not in absent:
            given.append(Answer(rater, form, number, "BA"["AB".index(one.gold)] if is_wrong else one.gold, when))
    return given


def judged(*given, statuses=None, most_failed=0):
    return judge_answers(Answers([one for own in given for one in own], statuses), ITEMS, most_failed)


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


@pytest.mark.parametrize(("failed", "allowed", "counts"), [(1, 0, False), (1, 1, True), (2, 1, False), (3, 3, True)])
def test_more_wrong_checks_than_are_allowed_leave_a_form_out(failed, allowed, counts):
    names = ["agreement", "instruction", "shuffled"][:failed]
    imported = judged(answered(failed=names), most_failed=allowed)
    assert bool(all_ratings(imported)) == counts
    expected = [] if counts else [("Ann", 1, f"{failed} of 3 attention checks wrong ({', '.join(names)})")]
    assert imported.left_out == expected


def test_a_form_that_is_left_out_does_not_take_another_of_the_same_person_with_it():
    imported = judged(answered(form=1, failed=["shuffled"]), answered(form=2))
    assert [(one.rater, one.form) for one in imported.left_out] == [("Ann", 1)]
    assert len(all_ratings(imported)) == 8


def test_absent_answers_are_neither_wrong_items_nor_wrong_checks():
    place = next(n for n, one in enumerate(FORMS[0].questions, start=1) if one.kind != "check")
    imported = judged(answered(absent=["shuffled", "agreement", place]))
    assert len(all_ratings(imported)) == 7
    assert all(one.answer == one.gold for one in all_ratings(imported))
    assert (imported.absent, imported.left_out) == (3, [])


def test_somebody_who_answered_no_check_is_left_out():
    imported = judged(answered(absent=["shuffled", "agreement", "instruction"]))
    assert imported.left_out == [("Ann", 1, "no attention check answered")]
    assert imported.absent == 0


def test_with_prolifics_export_only_approved_people_count():
    statuses = {
        "ok": frozenset({"RETURNED", "APPROVED"}),
        "gone": frozenset({"TIMED-OUT", "RETURNED"}),
    }
    people = [answered(rater) for rater in ("ok", "gone", "unknown")]
    imported = judged(*people, statuses=statuses)
    assert imported.left_out == [
        ("gone", 1, "not approved on Prolific (RETURNED, TIMED-OUT)"),
        ("unknown", 1, "not in Prolific's export"),
    ]
    assert {one.rater for one in all_ratings(imported)} == {pseudonym("ok", EXPORT)}


def test_an_item_that_somebody_met_twice_counts_as_it_was_answered_first():
    asked = {}
    for form in FORMS:
        for number, one in enumerate(form.questions, start=1):
            if one.kind != "check":
                asked.setdefault(one.item, []).append((form.number, number))
    everything = range(1, 99)
    early = [answered(form=form.number, when="2026-01-01") for form in FORMS[::2]]
    late = [answered(form=form.number, wrong=everything, when="2026-01-02") for form in FORMS[1::2]]
    first = {item: min(places, key=lambda place: (place[0] % 2 == 0, place)) for item, places in asked.items()}
    passed = [one for own in late for one in own if FORMS[one.form - 1].questions[one.number - 1].kind != "check"]
    ratings = all_ratings(judged(*early, passed, [one for own in late for one in right_checks(own)]))
    assert len({key_of(one) for one in ratings}) == len(ratings) == len(asked)
    for one in ratings:
        assert (one.answer == one.gold) == (first[one.item][0] % 2 == 1)


def right_checks(given):
    for one in given:
        question = FORMS[one.form - 1].questions[one.number - 1]
        if question.kind == "check":
            yield one._replace(letter=question.gold)


def test_a_pseudonym_does_not_show_the_person_and_is_another_in_every_export():
    assert "Ann" not in pseudonym("Ann", EXPORT)
    assert pseudonym("Ann", EXPORT) == pseudonym("Ann", EXPORT) != pseudonym("Bo", EXPORT)
    assert pseudonym("Ann", EXPORT) != pseudonym("Ann", "export-other")


def rating(item="i", rater="r", answer="A", gold="A", frame="f"):
    return Rating("pairs", item, frame, rater, answer, gold)


some = st.lists(
    st.builds(rating, st.sampled_from("ij"), st.sampled_from("rs"), st.sampled_from("AB")), unique_by=key_of
)


@given(some, some)
def test_importing_twice_changes_nothing_and_the_new_answer_counts(known, new):
    once = merge_ratings(known, new)
    assert merge_ratings(once, new) == once == sorted(once)
    assert {key_of(one) for one in once} == {key_of(one) for one in [*known, *new]}
    assert set(new) <= set(once)


def test_a_corrected_item_is_corrected_in_all_its_ratings():
    merged = merge_ratings([rating(rater="r", answer="B"), rating("j")], [rating(rater="s", gold="B", frame="g")])
    assert merged == [
        rating(rater="r", answer="B", gold="B", frame="g"),
        rating(rater="s", gold="B", frame="g"),
        rating("j"),
    ]


def test_what_was_imported_before_somebody_was_left_out_is_taken_back():
    before = all_ratings(judged(answered("p1"), answered("p2")))
    after = judged(
        answered("p1"), answered("p2"), statuses={"p1": frozenset({"APPROVED"}), "p2": frozenset({"REJECTED"})}
    )
    withdrawn = {key for keys in after.withdrawn.values() for key in keys}
    merged = merge_ratings(before, all_ratings(after), withdrawn)
    assert {one.rater for one in merged} == {pseudonym("p1", EXPORT)}
    assert len(before) == 2 * len(merged)
