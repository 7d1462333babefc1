"""The linter of items: each fault planted in clean items, and the balance beside a count by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.constructions.checking import Item, lint_items, with_lines


def item(row: int, person: str = "Ann", thing: str = "an egg", rival: str = "") -> Item:
    texts = [f"Bo gave {person} {thing}{rival}. {end} got it." for end in (person, "Bo")]
    return Item(("variants", "A"), "variant A", texts, ("frames", row), [(person, "Bo")])


CLEAN = [item(0), item(1, "Eve"), item(2, thing="a pie")]


@pytest.mark.parametrize(
    ("items", "place", "said"),
    [
        (CLEAN, None, ""),
        ([*CLEAN, item(3, thing="a egg")], ("frames", 3), "'a egg' has the wrong article; write 'an egg'"),
        ([*CLEAN, item(3, thing="the an egg")], ("frames", 3), "'the an' is two articles in a row"),
        ([*CLEAN, item(3, thing="{thing}")], ("frames", 3), "is left over from a slot"),
        ([*CLEAN, item(3, "Bo")], ("frames", 3), "says the same as another text of it; change one"),
        ([*CLEAN, item(3, "eve")], ("frames", 3), "says the same as variant A (frames.1); replace one of the two"),
        ([*CLEAN, item(3, "Eve")._replace(texts=CLEAN[1].texts[::-1])], ("frames", 3), "says the same as variant A"),
        ([*CLEAN, item(3, "Di")._replace(fault="no contrast")], ("frames", 3), "variant A: no contrast"),
        ([one._replace(texts=["No end"]) for one in CLEAN], ("variants", "A"), "write one (so with 2 more rows)"),
        ([item(0)._replace(texts=["No end"], row=())], ("variants", "A"), "variant A: 'No end': it does not end"),
    ],
)
def test_a_fault_is_told_once_for_a_template_and_at_its_row_where_no_other_has_one(items, place, said):
    assert [fault.keys for fault in lint_items(items)] == ([place] if place else [])
    assert all(said in fault.what for fault in lint_items(items))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=6))
def test_words_are_balanced_if_each_is_right_as_often_as_wrong(answers):
    items = [Item((n,), "one", [f"Item {n}."], answers=[pair]) for n, pair in enumerate(answers)]
    rights, wrongs = ([pair[side] for pair in answers] for side in (0, 1))
    found = list(lint_items(items, are_balanced=True))
    assert bool(found) == (sorted(rights) != sorted(wrongs))
    for word in "abc" if found else "":
        if more := rights.count(word) - wrongs.count(word):
            assert f"'{word}' is {'right' if more > 0 else 'wrong'} {abs(more)} times more" in found[0].what
    assert list(lint_items(items)) == []
    assert not any("often" in one.what for one in lint_items([*items, Item((), "x", ["No end"])], are_balanced=True))


def test_faults_have_their_file_and_line_and_each_is_told_once(tmp_path):
    (tmp_path / "a.yaml").write_text("frames:\n  - one\n  - two\n")
    faults = list(lint_items([item(1, thing="a egg"), item(0, "Di", thing="an pie")._replace(name="variant B")])) * 2
    assert [line.partition(": ")[0] for line in with_lines(tmp_path / "a.yaml", faults)] == [
        f"{tmp_path}/a.yaml, line 2",
        f"{tmp_path}/a.yaml, line 3",
    ]
