from hypothesis import given
from hypothesis import strategies as st

from cxprobe.recognition.grammar import Spelling

SPELLING = Spelling("0", frozenset(",;."))
TERMINALS = st.lists(
    st.sampled_from(["0", "the", "two cats", ",", ";", ", and by the way ,", "established , well-known", "."])
)


def test_punctuation_belongs_to_the_word_before_it_and_marks_are_no_words():
    terminals = ["Nowadays ,", "0", "the", "faster", ", and by the way ,", "0", "the", "better", "."]
    text, words, marks = SPELLING.spell(terminals)
    assert text == "Nowadays, the faster, and by the way, the better."
    assert words == 9
    assert [text.split()[mark] for mark in marks] == ["the", "the"]


@given(TERMINALS)
def test_words_are_what_stands_between_blanks(terminals):
    text, words, marks = SPELLING.spell(terminals)
    assert words == len(text.split())
    assert all(mark <= words for mark in marks)
