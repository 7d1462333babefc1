import numpy as np
import pytest
import spacy
from thinc.api import Model

from conftest import ROOT
from cxprobe.corpora.tagging import run_forward_only

TAGGER = ROOT / "models" / "tagger" / "en_ewt_cxprobe"


@pytest.fixture(scope="module")
def pipelines():
    plain, fast = spacy.load(TAGGER), spacy.load(TAGGER)
    for _, component in fast.pipeline:
        run_forward_only(component.model)
    return plain, fast


@pytest.mark.parametrize(
    "texts",
    [
        [(ROOT / "LICENSE").read_text(), "The more, the better.", "It can't be the can't of Can't."],
        ["One"],
        ["", "Two words", ""],
    ],
)
def test_vectors_and_tags_are_those_of_the_network_as_it_was(pipelines, texts):
    expected, docs = (list(nlp.pipe(texts)) for nlp in pipelines)
    for doc, plain in zip(docs, expected, strict=True):
        np.testing.assert_allclose(doc.tensor, plain.tensor, rtol=1e-4, atol=1e-5)
        for attribute in ("tag_", "pos_", "morph", "is_sent_start"):
            assert [str(getattr(token, attribute)) for token in doc] == [
                str(getattr(token, attribute)) for token in plain
            ]


def test_each_kind_of_word_is_embedded_once(pipelines):
    _, fast = pipelines
    (once,) = [node for node in fast.get_pipe("tok2vec").model.walk() if node.name == "once"]
    rows = []
    embed = once.layers[0]

    def counted(_, tokens, is_train):
        rows.append(len(tokens.dataXd))
        return embed(tokens, is_train)

    once.layers[0] = Model("counted", counted)
    fast.get_pipe("tok2vec").model.predict([fast.make_doc("the dog saw the cat and the dog")])
    once.layers[0] = embed
    assert rows == [5]
