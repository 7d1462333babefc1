"""What every construction with pairs promises."""

import re
from collections import Counter
from operator import attrgetter

import pytest
from toy_pairs import load_all

from cxprobe.models.pairs import learn_preferences, preferences_of
from cxprobe.models.params import PairClassifier
from cxprobe.tasks.pairs.make import render_pairs
from cxprobe.tasks.pairs.params import FORM, PairsStage

pytestmark = pytest.mark.pipeline

LOADED, PEOPLE = load_all()
PER_CELL = {"meaning": 100, "form": 50, "control": 30}


@pytest.fixture(scope="module")
def rendered():
    """Construction -> its pairs."""
    return {
        name: render_pairs(name, content, PEOPLE, PER_CELL[content.tests], seed=2022)
        for name, content in LOADED.items()
    }


def rate(margins):
    return (margins > 0).mean() + (margins == 0).mean() / 2


def test_the_paper_s_nine_and_four_of_form_are_there():
    assert Counter(content.tests for content in LOADED.values()) == {"meaning": 9, "form": 13, "control": 10}
    assert all(len(content.frames) >= (30 if content.tests == "control" else 40) for content in LOADED.values())
    meaning = [content for content in LOADED.values() if content.tests == "meaning"]
    for content in meaning:
        assert [variant.origin_of("construction") for variant in content.variants.values()].count("paper") == 2
    assert [content.switched for content in meaning].count(True) == 7


@pytest.mark.parametrize("name", [name for name, content in LOADED.items() if content.tests == "control"])
def test_in_a_control_every_rule_about_places_or_words_is_right_in_half_of_the_pairs(name, rendered):
    content, pairs = LOADED[name], rendered[name]
    for rule in ("first_mentioned", "last_mentioned") if content.switched else ():
        assert rate(preferences_of(rule, pairs)["margin"]) == 0.5
    for variant in content.variants.values():
        asked_alike = [one for one in content.variants.values() if one.continuation == variant.continuation]
        assert len(asked_alike) == 2 or variant.rival  # with the other answer after another sentence


SIDES = (attrgetter("good"), attrgetter("bad"))
OF_FORM = [name for name in LOADED if name.endswith(FORM)]


def test_each_construction_of_meaning_has_pairs_of_form():
    meaning = [name for name, content in LOADED.items() if content.tests == "meaning"]
    assert sorted(map(PairsStage.construction_of, OF_FORM)) == sorted(meaning)
    assert all(len(LOADED[name].frames) >= 60 for name in OF_FORM)


@pytest.mark.parametrize("name", OF_FORM)
def test_what_is_right_in_a_pair_of_form_is_wrong_as_often(name, rendered):
    """Words alone, however frequent, and length then decide nothing."""
    for item in {pair.item for pair in rendered[name]}:
        own = [pair for pair in rendered[name] if pair.item == item]
        good, bad = (Counter(word for pair in own for word in words_in(side(pair))) for side in SIDES)
        if name != f"way-manner{FORM}":  # whose pronouns are exchanged over items
            assert good == bad
    assert abs(rate(preferences_of("shorter", rendered[name])["margin"]) - 0.5) <= 0.03
    good, bad = (Counter(word for pair in rendered[name] for word in words_in(side(pair))) for side in SIDES)
    assert all(abs(good[word] - bad[word]) <= 2 for word in good | bad)


def words_in(text):
    return re.findall(r"[\w']+", text.lower())


@pytest.mark.parametrize("name", [name for name, content in LOADED.items() if content.tests == "meaning"])
def test_no_bag_of_words_trained_on_other_frames_answers_a_variant(name):
    pairs = render_pairs(name, LOADED[name], PEOPLE, 10, seed=2022)
    counts = {"kind": "word_ngrams", "lengths": [1, 1]}
    words = PairClassifier.model_validate({"kind": "pair_classifier", "folds": 5, "counts": counts})
    margins = learn_preferences(words, pairs, 2022, "words")["margin"]
    for variant in LOADED[name].variants:
        assert rate(margins[[pair.groups["variant"] == variant for pair in pairs]]) <= 0.6


@pytest.mark.parametrize("name", [name for name, content in LOADED.items() if content.tests == "meaning"])
def test_no_rule_solves_the_pairs_of_a_construction(name, rendered):
    for kind in ("first_mentioned", "last_mentioned", "shorter"):
        assert rate(preferences_of(kind, rendered[name])["margin"]) <= 0.6
