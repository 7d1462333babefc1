from collections import Counter

import pytest
from nltk import CFG

from conftest import TRAIN_CFG, WORDS
from cxprobe.constructions import load_construction
from cxprobe.errors import ConstructionError
from cxprobe.records import Shortfall
from cxprobe.sentences import generate_sentences, load_grammars

PER_LABEL = 5


@pytest.fixture(scope="module")
def toy(toy_constructions):
    construction = load_construction("toy", toy_constructions)
    return construction, load_grammars("toy", construction, toy_constructions)


def test_every_value_of_every_feature_is_filled_for_both_labels(toy):
    sentences, shortfalls = generate_sentences(*toy, per_label=PER_LABEL, seed=1)
    assert not shortfalls
    cells = Counter((one.split, one.drawn_for, one.features[one.drawn_for], one.label) for one in sentences)
    assert set(cells.values()) == {PER_LABEL}
    lengths = {value for split, feature, value, _ in cells if (split, feature) == ("test", "length")}
    assert lengths == set(range(8, 18))


def test_no_sentence_occurs_twice(toy):
    sentences, _ = generate_sentences(*toy, per_label=PER_LABEL, seed=1)
    assert len({one.id for one in sentences}) == len({(one.split, one.text) for one in sentences}) == len(sentences)


def test_features_can_be_recounted_from_the_text(toy):
    sentences, _ = generate_sentences(*toy, per_label=PER_LABEL, seed=1)
    for one in sentences:
        words = one.text.split()
        assert one.features["length"] == len(words)
        article = words.index("the") if one.label == "positive" else words.index("the") - 1
        assert one.features["second_start"] >= article + 3


def test_the_two_labels_are_drawn_from_the_same_words(toy):
    """Both orders have one bag of words, so that of a label's share of any word nothing can be told."""
    sentences, _ = generate_sentences(*toy, per_label=40, seed=1)
    used = {
        label: {w.strip(".,") for one in sentences if one.label == label for w in one.text.split()}
        for label in ("positive", "negative")
    }
    assert used["positive"] == used["negative"] <= set(WORDS)


def test_templates_name_the_categories_of_content_words(toy):
    sentences, _ = generate_sentences(*toy, per_label=PER_LABEL, seed=1)
    assert any(one.template.startswith("the ADJ NOUN VERB") for one in sentences if one.label == "positive")
    assert any(one.template.startswith("ADJ the VERB NOUN") for one in sentences if one.label == "negative")


def test_the_seed_decides_and_nothing_else(toy):
    first, _ = generate_sentences(*toy, per_label=PER_LABEL, seed=1)
    again, _ = generate_sentences(*toy, per_label=PER_LABEL, seed=1)
    other, _ = generate_sentences(*toy, per_label=PER_LABEL, seed=2)
    assert first == again
    assert first != other


def test_a_value_that_the_grammar_cannot_fill_is_reported(toy):
    construction, grammars = toy
    small = CFG.fromstring("POS -> '0' 'a' '0' 'b' | '0' 'a' '0' 'b' N\nNEG -> '0' 'b' '0' 'a'\nN -> 'c' | 'd'")
    construction = construction.model_copy(
        update={"grammar": construction.grammar.model_copy(update={"content": ["N"]})}
    )
    sentences, shortfalls = generate_sentences(
        construction, {"train": small, "test": grammars["test"]}, per_label=2, seed=1
    )
    assert Shortfall("train", "length", 2, "positive", 2, 1) in shortfalls
    assert Shortfall("train", "length", 3, "negative", 2, 0) in shortfalls
    assert not any(shortfall.split == "test" for shortfall in shortfalls)
    assert len([one for one in sentences if one.split == "train"]) == 4


def test_a_wrong_number_of_markers_is_refused(toy):
    construction, grammars = toy
    one_marker = CFG.fromstring(TRAIN_CFG.replace("'0' ADJ 'the' VERB NOUN TAIL", "ADJ 'the' VERB NOUN TAIL"))
    with pytest.raises(
        ConstructionError, match=r"NEG has sentences with 1 markers '0', but construction\.yaml says that each has 2"
    ):
        generate_sentences(construction, grammars | {"train": one_marker}, per_label=1, seed=1)
