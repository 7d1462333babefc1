"""The parser in models/parser/: what is promised of it in its card."""

import json

import pytest
import spacy

from conftest import ROOT

FOLDER = ROOT / "models" / "parser" / "en_ewt_cxprobe"


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(FOLDER)


def test_it_sets_tags_features_dependencies_and_lemmas(nlp):
    assert nlp.pipe_names == ["tok2vec", "morphologizer", "tagger", "parser", "trainable_lemmatizer"]
    doc = nlp("She quickly gave him two books.")
    assert all(doc.has_annotation(name) for name in ("POS", "MORPH", "TAG", "DEP", "LEMMA"))
    assert doc[2].morph.get("Tense") == ["Past"]
    assert (doc[5].pos_, doc[5].tag_, doc[5].lemma_) == ("NOUN", "NNS", "book")


def test_irregular_forms_keep_their_lemmas_without_the_words_of_the_treebank(nlp):
    assert [token.lemma_ for token in nlp("The children went home.")][1:3] == ["child", "go"]
    strings = json.loads((FOLDER / "vocab" / "strings.json").read_text("utf-8"))
    assert len(strings) < 3_000


def test_it_is_small_and_says_its_licence(nlp):
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 15 * 10**6
    assert nlp.meta["license"] == "CC BY-SA 4.0"
