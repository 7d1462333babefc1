import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import BLANK, TAGS, toy_pattern

from conftest import save_toy_tagger
from cxprobe.corpora.pattern import Pattern
from cxprobe.corpora.search import Found, Matchers
from cxprobe.people.cards import Hit, hit_finder

WORDS = st.sampled_from(["the", "red", "big", "old", "The", "cat", "runs", ",", "the", "small"])


@pytest.fixture(scope="module")
def tagger(tmp_path_factory):
    import spacy

    folder = tmp_path_factory.mktemp("tagger") / "toy"
    save_toy_tagger(folder)
    return spacy.load(folder)


def test_the_parts_of_the_construction_are_marked():
    text = "the red cat runs, the old dog sings."
    hits = hit_finder(toy_pattern(), BLANK)(text, TAGS)
    assert [text[hit.start : hit.end] for hit in hits] == ["the red", "the old"]
    assert {hit.form for hit in hits} == {"the + adjective"}


@given(st.lists(WORDS, min_size=1, max_size=12))
def test_what_is_marked_begins_where_mining_found_the_parts(tagger, words):
    text = " ".join(words)
    doc = tagger(text)
    found = Matchers(toy_pattern(), tagger).match(doc)
    hits = hit_finder(toy_pattern(), BLANK)(text, " ".join(token.tag_ for token in doc))
    if isinstance(found, Found):
        assert tuple(text.count(" ", 0, hit.start) for hit in hits) == found.marks
    else:
        assert hits == ()


def test_of_several_forms_at_one_place_the_longest_is_marked_but_nothing_twice():
    any_word = {"name": "the + word", "tokens": [{"LOWER": "the"}, {}]}
    longer = {"name": "the + words", "tokens": [{"LOWER": "the"}, {}, {"TAG": "JJ", "OP": "*"}]}
    part = {"prefilter": "the", "patterns": [any_word, longer]}
    content = {"parts": [part, part], "must_match": ["x"], "must_not_match": ["y"]}
    find = hit_finder(Pattern.model_validate(content), BLANK)
    text = "the very old red cat and the dog"
    assert find(text, "DT RB JJ JJ NN CC DT NN") == (Hit(0, 16, "the + words"), Hit(25, 32, "the + word"))
    overlapping = {"name": "long", "tokens": [{"LOWER": "the"}, {"OP": "+"}]}
    content["parts"] = [{"prefilter": "the", "patterns": [overlapping]}] * 2
    hits = hit_finder(Pattern.model_validate(content), BLANK)("the cat the dog", "DT NN DT NN")
    assert [(hit.start, hit.end) for hit in hits] == [(0, 8), (8, 15)]


def test_a_form_that_asks_for_more_than_tags_is_found_by_its_words_and_tags():
    content = toy_pattern().model_dump()
    for part in content["parts"]:
        part["patterns"][0]["tokens"] = [{"LOWER": "the"}, {"TAG": "JJ", "POS": "ADJ"}]
    hits = hit_finder(Pattern.model_validate(content), BLANK)("the red cat runs, the old dog sings.", TAGS)
    assert len(hits) == 2


@pytest.mark.parametrize("tags", ["DT", "DT NN NN NN , DT JJ NN NN ."], ids=["other tokens", "another pattern"])
def test_a_sentence_that_the_pattern_does_not_match_has_no_hits(tags):
    assert hit_finder(toy_pattern(), BLANK)("the red cat runs, the old dog sings.", tags) == ()


def test_of_two_places_that_overlap_the_one_that_ends_first_is_marked_as_in_mining(tagger):
    forms = [
        {"name": "long", "tokens": [{"LOWER": "the"}, {}, {}, {}, {"LOWER": "dog"}]},
        {"name": "short", "tokens": [{"LOWER": "the"}, {"LOWER": "cat"}]},
    ]
    content = {"parts": [{"prefilter": "the", "patterns": forms}], "must_match": ["x"], "must_not_match": ["y"]}
    pattern, text = Pattern.model_validate(content), "the the cat or dog"
    doc = tagger(text)
    (hit,) = hit_finder(pattern, BLANK)(text, " ".join(token.tag_ for token in doc))
    assert hit == Hit(4, 11, "short")
    assert Matchers(pattern, tagger).match(doc).marks == (1,)
