import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.people.sessions import Candidate
from cxprobe.people.surroundings import LONGEST, Record, Surroundings, find_surroundings, needed

TEXT = "One. Two  here. Three it is. Four. Five."


def candidate(text: str, within: str = TEXT, url: str = "u", base: int = 0) -> Candidate:
    start = within.index(text)
    return Candidate(text, " ".join(text.split()), url, base + start, base + start + len(text))


def around(one: Candidate, *records: Record, paragraphs: bool = False) -> Surroundings | None:
    return find_surroundings([one], records, paragraphs=paragraphs).get(one.id)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("One.", "", "Two here. Three it is."),
        ("Two  here.", "One.", "Three it is. Four."),
        ("Four.", "Two here. Three it is.", "Five."),
        ("Five.", "Three it is. Four.", ""),
    ],
)
def test_two_sentences_of_the_record_are_shown_on_each_side(text, before, after):
    assert around(candidate(text), Record("u", TEXT, 0)) == (before, after)


def test_of_several_records_of_one_source_the_one_with_the_sentence_is_taken():
    records = [Record("u", "Nothing. Here.", 0), Record("u", TEXT, 20), Record("u", TEXT.upper(), 20)]
    assert around(candidate("Four.", base=20), *records) == ("Two here. Three it is.", "Five.")


def test_a_sentence_that_is_no_longer_there_has_no_surroundings():
    assert around(candidate("Four."), Record("u", "Another text altogether, it is.", 0)) is None
    assert around(candidate("Four."), Record("v", TEXT, 0)) is None


def test_the_paragraphs_before_and_after_are_looked_at_where_there_are_paragraphs():
    records = [Record("p/a.py#9", "Nine.", 0), Record("p/a.py#10", "Ten.", 0), Record("p/a.py#11", "Eleven. More.", 0)]
    one = Candidate("x", "Ten.", "p/a.py#10", 0, 4)
    assert around(one, *records, paragraphs=True) == ("Nine.", "Eleven. More.")
    assert around(one, *records) == ("", "")
    assert needed([one], paragraphs=True) == {"p/a.py#9", "p/a.py#10", "p/a.py#11"}
    assert needed([one], paragraphs=False) == {"p/a.py#10"}
    assert needed([one._replace(url="p#0")], paragraphs=True) == {"p#0", "p#1"}


@given(st.integers(1, 2000))
def test_long_surroundings_are_cut_at_a_word(length):
    long = " ".join(["word"] * length)
    text = f"{long} Middle {long}"
    one = Candidate("x", "Middle", "u", len(long) + 1, len(long) + 7)
    before, after = around(one, Record("u", text, 0))
    assert max(len(before), len(after)) <= LONGEST + 4
    assert set(f"{before} {after}".split()) <= {"word", "..."}
    assert ("..." in before) == (len(long) > LONGEST)
