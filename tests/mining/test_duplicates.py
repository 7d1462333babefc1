from hypothesis import given
from hypothesis import strategies as st

from cxprobe.mining.duplicates import Twin, find_duplicates

LONG = "the longer the two of them waited by the river that evening the colder and the darker it became around them"


def duplicates(texts, threshold=0.7):
    return find_duplicates(texts, shingle=3, permutations=128, threshold=threshold)


def test_the_same_words_are_an_exact_duplicate():
    assert duplicates(["The more, the better.", "x y z", "the MORE the better"]) == [Twin(2, 0, exact=True)]


def test_a_sentence_that_differs_in_a_word_is_a_near_duplicate():
    assert duplicates([LONG, "quite another sentence of some length", f"{LONG} all"]) == [Twin(2, 0, exact=False)]


def test_short_sentences_of_one_frame_are_no_duplicates():
    assert duplicates(["The more you eat, the more you want.", "The less you eat, the less you weigh."]) == []


@given(st.lists(st.lists(st.sampled_from(list("abcdefg")), max_size=6).map(" ".join), max_size=12))
def test_whatever_goes_has_a_sentence_that_stays(texts):
    twins = duplicates(texts)
    gone = {twin.position for twin in twins}
    assert all(twin.stays < twin.position and twin.stays not in gone for twin in twins)
    kept = [text for position, text in enumerate(texts) if position not in gone]
    assert len(set(kept)) == len(kept)
    assert duplicates(kept) == []
