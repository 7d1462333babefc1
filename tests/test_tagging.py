"""Where sentences end, and tags by a spaCy pipeline: each sentence once, by the pipeline that params name."""

from functools import cache

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.errors import ModelError
from cxprobe.tagging import open_tagger, sentence_spans

load = cache(spacy.load)


def test_the_tags_of_a_text_are_those_that_spacy_gives_to_its_sentences(toy_tagger):
    nlp = load(toy_tagger)
    texts = ["The old cat sings.", "The older cat. It runs slowly, ever so slowly!", "The old cat sings. Now.", ""]
    cut = [[texts[0]], ["The older cat.", "It runs slowly, ever so slowly!"], [texts[0], "Now."], []]
    expected = [" ".join(token.tag_ for one in own for token in nlp(one)) for own in cut]
    assert open_tagger(str(toy_tagger), None).tags_of(texts) == expected
    assert expected[0] == "DT JJ NN NN ."


def test_a_sentence_is_tagged_once_however_many_texts_and_models_ask_for_it(toy_tagger, monkeypatch):
    tagged = []
    tagger = open_tagger(str(toy_tagger), None)
    assert tagger is open_tagger(str(toy_tagger), None)
    pipe = tagger._nlp.pipe
    monkeypatch.setattr(tagger._nlp, "pipe", lambda texts, **how: pipe(tagged.append(list(texts)) or texts, **how))
    first = tagger.tags_of(["A fox. A hen.", "A hen.", "A hen. A fox."])
    assert tagger.tags_of(["A hen.", "A cow.", "A fox. A hen."]) == [first[1], first[1], first[0]]
    assert tagged == [["A fox.", "A hen."], ["A cow."]]


def test_a_pipeline_that_is_not_there_or_sets_no_tags_is_refused(tmp_path):
    with pytest.raises(ModelError, match="tagger: 'no_such_pipeline' is neither a folder"):
        open_tagger("no_such_pipeline", None)
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(ModelError, match="does not set TAG, which is needed"):
        open_tagger(str(tmp_path), None)


PIECES = ["The", "the", "a", " ", "  ", "\n", "\u00a0", "\t", ".", "!", "…", "?", "”", '"', ")", "“", "(", "_", "’"]
PIECES += ["Mr", "Messrs", "É", "é", "St", "J", "e.g.", "7", "Etc", "better", "\x85", "\x1c", "\u2003", "ǅ", "#", "*"]
PIECES += [","]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def cut(document: str) -> list[str]:
    return [document[start:end] for start, end in sentence_spans(document)]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("He came. She left.", ["He came.", "She left."]),
        ("“Did he?” Yes… “Well.” (He did.)", ["“Did he?”", "Yes…", "“Well.”", "(He did.)"]),
        ("Mr. Smith met J. R. Brown. They spoke.", ["Mr. Smith met J. R. Brown.", "They spoke."]),
        ("It costs 3.5 dollars, e.g. in Rome.", ["It costs 3.5 dollars, e.g. in Rome."]),
        ("“Really?” he said.\nA heading\n\n  Text", ["“Really?” he said.", "A heading", "Text"]),
        ("  \n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_say(document, expected):
    assert cut(document) == expected


@given(TEXTS)
def test_the_sentences_hold_every_word_of_the_document_in_order(document):
    assert " ".join(cut(document)).split() == document.split()


@pytest.mark.parametrize("unit", ["...", '".', ". (", "_*", "  "])
def test_a_megabyte_of_signs_takes_no_longer_than_one_of_words(unit):
    """Each sign was the beginning of a search to the end of the line: four megabytes of dots took days."""
    assert cut(f"A {unit * (10**6 // len(unit))}.") != []
