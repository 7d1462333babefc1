"""Tags by a spaCy pipeline: each sentence once, by the pipeline that params name."""

from functools import cache

import pytest
import spacy

from conftest import ROOT
from cxprobe.errors import ModelError
from cxprobe.models.params import TagNgrams
from cxprobe.project.params import load_params
from cxprobe.tagging import open_tagger

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


def test_params_name_the_tagger_that_the_project_carries():
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    spec = params.models["baselines-recognition"].members["tag-ngrams"]
    assert isinstance(spec, TagNgrams)
    assert spec.tagger == params.mining.tagger
    assert open_tagger(str(ROOT / spec.tagger), spec.sha256)
