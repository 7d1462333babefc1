from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import BLANK, TAGS, toy_pattern

from conftest import save_toy_tagger
from cxprobe.corpora.pattern import Pattern
from cxprobe.corpora.search import Found, Matchers
from cxprobe.people.mined import MinedSentence, piece_finder


def hits(pattern, text: str, tags: str) -> list[tuple[int, int, str]]:
    """Return where the parts of the construction are: first character, the one after the last, form."""
    pieces = piece_finder(pattern, BLANK)(MinedSentence("x", text, "u", 0, len(text)), tags)
    assert "".join(piece.text for piece in pieces) == text
    ends = list(accumulate(len(piece.text) for piece in pieces))
    return [(end - len(one.text), end, one.form) for one, end in zip(pieces, ends, strict=True) if one.form]


WORDS = st.sampled_from(["the", "red", "big", "old", "The", "cat", "runs", ",", "the", "small"])


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    import spacy

    folder = tmp_path_factory.mktemp("tagger") / "toy"
    save_toy_tagger(folder)
    return spacy.load(folder)


def test_the_parts_of_the_construction_are_marked():
    text = "the red cat runs, the old dog sings."
    found = hits(toy_pattern(), text, TAGS)
    assert [text[start:end] for start, end, _ in found] == ["the red", "the old"]
    assert {form for _, _, form in found} == {"the + adjective"}


@given(st.lists(WORDS, min_size=1, max_size=12))
def test_what_is_marked_begins_where_mining_found_the_parts(tagger, words):
    text = " ".join(words)
    doc = tagger(text)
    found = Matchers(toy_pattern(), tagger).match(doc)
    marked = hits(toy_pattern(), text, " ".join(token.tag_ for token in doc))
    if isinstance(found, Found):
        assert tuple(text.count(" ", 0, start) for start, _, _ in marked) == found.marks
    else:
        assert marked == []


def test_of_several_forms_at_one_place_the_longest_is_marked_but_nothing_twice():
    any_word = {"name": "the + word", "tokens": [{"LOWER": "the"}, {}]}
    longer = {"name": "the + words", "tokens": [{"LOWER": "the"}, {}, {"TAG": "JJ", "OP": "*"}]}
    part = {"prefilter": "the", "patterns": [any_word, longer]}
    content = {"parts": [part, part], "must_match": ["x"], "must_not_match": ["y"]}
    text = "the very old red cat and the dog"
    found = hits(Pattern.model_validate(content), text, "DT RB JJ JJ NN CC DT NN")
    assert found == [(0, 16, "the + words"), (25, 32, "the + word")]
    overlapping = {"name": "long", "tokens": [{"LOWER": "the"}, {"OP": "+"}]}
    content["parts"] = [{"prefilter": "the", "patterns": [overlapping]}] * 2
    found = hits(Pattern.model_validate(content), "the cat the dog", "DT NN DT NN")
    assert found == [(0, 8, "long"), (8, 15, "long")]


@pytest.mark.parametrize("tags", ["DT", "DT NN NN NN , DT JJ NN NN ."], ids=["other tokens", "another pattern"])
def test_a_sentence_that_the_pattern_does_not_match_has_no_hits(tags):
    assert hits(toy_pattern(), "the red cat runs, the old dog sings.", tags) == []


def test_words_that_fill_slots_are_marked_whatever_the_tags_say():
    text = "She gave Ann a book."
    sentence = MinedSentence("x", text, "u", 0, len(text), ((4, 8, "verb"), (9, 12, "recipient"), (15, 19, "theme")))
    pieces = piece_finder(toy_pattern(), BLANK)(sentence, "DT")
    assert [piece.text for piece in pieces] == ["She ", "gave", " ", "Ann", " a ", "book", "."]
    assert [piece.form for piece in pieces] == ["", "verb", "", "recipient", "", "theme", ""]
