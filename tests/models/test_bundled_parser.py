"""The parser in models/parser/: what is promised of it in its card."""

import json

import pytest
import spacy

from conftest import ROOT

FOLDER = ROOT / "models" / "parser" / "en_ewt_cxprobe"


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(FOLDER)


def relations(doc) -> set[tuple[str, str, str]]:
    return {(token.text, token.dep_, token.head.text) for token in doc}


def test_it_sets_tags_features_dependencies_and_lemmas(nlp):
    assert nlp.pipe_names == ["tok2vec", "morphologizer", "tagger", "parser", "trainable_lemmatizer"]
    doc = nlp("She quickly gave him two books.")
    assert all(doc.has_annotation(name) for name in ("POS", "MORPH", "TAG", "DEP", "LEMMA"))
    assert doc[2].morph.get("Tense") == ["Past"]
    assert (doc[5].pos_, doc[5].tag_, doc[5].lemma_) == ("NOUN", "NNS", "book")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She gave him a book.", {("She", "nsubj", "gave"), ("him", "iobj", "gave"), ("book", "obj", "gave")}),
        ("The old house was sold.", {("house", "nsubj:pass", "sold"), ("old", "amod", "house")}),
        ("He picked up the phone.", {("up", "compound:prt", "picked"), ("phone", "obj", "picked")}),
    ],
)
def test_arguments_and_particles_are_called_as_universal_dependencies_call_them(nlp, text, expected):
    assert expected <= relations(nlp(text))


def test_irregular_forms_keep_their_lemmas_without_the_words_of_the_treebank(nlp):
    assert [token.lemma_ for token in nlp("The children went home.")][1:3] == ["child", "go"]
    strings = json.loads((FOLDER / "vocab" / "strings.json").read_text("utf-8"))
    assert len(strings) < 3_000


def test_it_is_small_and_says_its_licence(nlp):
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 15 * 10**6
    assert nlp.meta["license"] == "CC BY-SA 4.0"
