"""Precision and recall of a pattern on a treebank, against counts by hand."""

import pytest
import spacy
from small_corpora import pattern_of

from cxprobe.corpora.conllu import ConlluSentence, TreeWord
from cxprobe.corpora.search import Matchers
from cxprobe.corpora.treebanks import rates_on_treebank, search_treebank
from cxprobe.errors import DataError
from cxprobe.stats import estimate_rate

TWO_OBJECTS = [
    {"RIGHT_ID": "verb", "RIGHT_ATTRS": {"TAG": {"REGEX": "^VB"}}},
    {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "recipient", "RIGHT_ATTRS": {"DEP": "iobj"}},
    {"LEFT_ID": "verb", "REL_OP": ">", "RIGHT_ID": "theme", "RIGHT_ATTRS": {"DEP": "obj"}},
]


def matchers(prefilter=".", **form):
    return Matchers(pattern_of(prefilter, **form), spacy.blank("en"))


def sentence(text, *cxn, dep="iobj", document="letters", number=1):
    """Return "They gave her tea" or the like, of four words, with a construction on the verb."""
    tags, deps = ["PRP", "VBD", "PRP", "NN"], ["nsubj", "root", dep, "obj"]
    words = [
        TreeWord(form, xpos=tag, head=0 if place == 1 else 2, deprel=deprel, cxn=cxn if place == 1 else ())
        for place, (form, tag, deprel) in enumerate(zip(text.split(" "), tags, deps, strict=True))
    ]
    return ConlluSentence(f"{document}-{number}", text, document, tuple(words))


TREEBANK = [
    sentence("They gave her tea", "Ditransitive"),
    sentence("They told him lies", "Ditransitive-Speech#2", "Negation"),
    sentence("They called her Ann", dep="iobj", document="notes"),
    sentence("They sent her tea", "Ditransitive", dep="obl", document="notes", number=2),
    sentence("They forged her tea", "Ditransitives", dep="obl", document=""),
    sentence("They brewed her tea", "Ditransitive", document="", number=2),
]


def test_sentences_are_found_and_annotated_and_say_why_they_are_missed():
    found = search_treebank(
        TREEBANK, matchers("gave|told|called|sent", dependencies=TWO_OBJECTS), ["Ditransitive"], gold=True
    )
    assert found["annotated"].tolist() == [True, True, False, True, False, True]
    assert found["found"].tolist() == [True, True, True, False, False, False]
    assert found["why_not"].tolist() == ["", "", "", "other dependencies", "pre-filter", "pre-filter"]
    assert found["cluster_document"].nunique() == 4  # two documents, and two sentences of none
    rates = rates_on_treebank(found).set_index("measure")
    assert rates["n"].to_dict() == {"precision": 3, "recall": 4}
    assert rates["rate"].to_dict() == pytest.approx({"precision": 2 / 3, "recall": 1 / 2})
    clusters = found.loc[found["annotated"], ["cluster_document"]].to_numpy(dtype=object)
    recall = estimate_rate(found.loc[found["annotated"], "found"].to_numpy(dtype=float), clusters)
    assert rates.loc["recall", ["low", "high"]].tolist() == pytest.approx([recall.low, recall.high])


def test_without_gold_the_pipeline_tags_the_text(toy_tagger):
    treebank = [
        sentence("Red cats run fast", "Toy"),  # its own tags differ
        sentence("The cats run fast", number=2),
    ]
    adjective = Matchers(pattern_of(tokens=[{"TAG": "JJ"}]), spacy.load(toy_tagger))
    assert search_treebank(treebank, adjective, ["Toy"], gold=False)["found"].tolist() == [True, True]
    assert search_treebank(treebank, adjective, ["Toy"], gold=True)["found"].tolist() == [False, False]


def test_a_name_that_no_file_has_is_refused_with_those_there_are():
    with pytest.raises(DataError, match="no sentence has the construction Resultative; the files have Ditransitive, "):
        search_treebank(TREEBANK, matchers(dependencies=TWO_OBJECTS), ["Resultative"], gold=True)
