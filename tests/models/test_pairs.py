"""Minimal pairs: their texts and scores, rules for them, and classifiers that cannot know which end is right."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.models.pairs import (
    check_scored,
    learn_preferences,
    measure_pairs,
    preferences_of,
    score_texts,
    texts_of_pairs,
)
from cxprobe.models.params import Member, NgramFeatures, NgramModel, PairClassifier, UnigramModel
from cxprobe.models.texts import Pair, ScoringConfig, read_pair_answers
from cxprobe.run.record import read_model_facts

pytest_plugins = ["loaded_lms"]

PAIRS = [
    Pair("a", "a", "the old cat runs.", " the cat sings.", " the dog sings.", {}, {}),
    Pair("b", "b", "", "the old cats run.", "the old cats runs.", {}, {}),
]
MEMBERS = ["the old cat runs. the cat sings.", "the old cat runs. the dog sings.", "the old cats run."]
MEMBERS += ["the old cats runs."]

HOW = ScoringConfig(["pll", "pll_word_l2r"], 64)


@pytest.fixture
def models(lms):
    return {"bert": lms("bert"), "gpt2": replace(lms("gpt2"), bos="add")}


@pytest.mark.parametrize(("kind", "schemes"), [("bert", ["pll", "pll_word_l2r"]), ("gpt2", ["causal"])])
def test_members_are_scored_under_every_scheme_of_the_model(models, kind, schemes):
    texts = texts_of_pairs(models[kind], PAIRS)
    assert texts == dict.fromkeys(MEMBERS, 0)
    found = score_texts(models[kind], [texts], HOW)
    assert [(one.scheme, one.text) for one in found] == [(scheme, text) for scheme in schemes for text in texts]
    assert all(np.isfinite(one.log_probs).all() for one in found)


def test_pairs_that_could_not_be_judged_are_refused_before_anything_is_computed(models, monkeypatch):
    model = replace(models["gpt2"], bos="none")
    monkeypatch.setattr(type(model.model), "forward", lambda *_, **__: pytest.fail("the model was asked"))
    pair = Pair("c", "c", "", "old cats run.", "the cats run.", {}, {})
    with pytest.raises(DataError, match=r"1 of 1 pairs, such as c, differ in.*take bos: add$"):
        check_scored(model, [pair])
    nameless = deepcopy(model)
    nameless.tokenizer.bos_token = None  # so that "add" would be refused too
    with pytest.raises(DataError, match=r"; take bos: <the token that began documents in its training>$"):
        check_scored(nameless, [pair])
    for sound in ((models["gpt2"], [pair]), (model, PAIRS), (models["bert"], [*PAIRS, pair])):
        check_scored(*sound)


RULES = ["first_mentioned", "last_mentioned", "shorter"]
NAMES = st.sampled_from(["Ann", "Bob", "the cook", "the actor's", "Name A", "Name B", "a", "sings", "Sings", ",", ""])
SIDES = st.lists(NAMES, max_size=6).map(" ".join)


def margin(rule: str, context: str, good: str, bad: str) -> float:
    [found] = preferences_of(rule, [Pair("p", "p", context, good, bad, {}, {})])["margin"]
    return found


@given(context=SIDES, good=SIDES, bad=SIDES, rule=st.sampled_from(RULES))
def test_exchanging_good_and_bad_turns_the_margin_round(context, good, bad, rule):
    assert margin(rule, context, good, bad) == -margin(rule, context, bad, good)


@pytest.mark.parametrize(
    ("context", "good", "bad", "first", "last"),
    [
        ("Ann helped Bob.", " The one who helped is Ann.", " The one who helped is Bob.", 1, -1),
        ("Ann helped Bob.", " Bob thanked Ann.", " Ann thanked Bob.", -1, 1),  # the first difference decides
        ("Name B met a cook.", " It was Name A.", " It was Name C.", 0, 0),
        ("Name B met a Name A.", " It was Name A.", " It was Name B.", -1, 1),  # the article is not A
        ("The cook met the actor.", " The cook's turn.", " The actor's turn.", 1, -1),
        ("Cooks met actors.", " It was cooks.", " It was actors.", 1, -1),  # a capital at the start
        ("Ann helped Bob.", " It was Ann.", " It was Eve.", 1, 1),  # a mention before none
        ("Ann helped Bob.", " It was Eve.", " It was Ida.", 0, 0),
        ("Ann helped Bob.", " It was surely Bob and not Ann.", " It was Bob.", -1, -1),  # "surely" is not named
    ],
)
def test_the_first_and_the_last_mentioned_are_told_by_the_first_words_that_differ(context, good, bad, first, last):
    assert margin("first_mentioned", context, good, bad) == first
    assert margin("last_mentioned", context, good, bad) == last


NGRAMS = NgramModel(kind="ngrams", name=str(ROOT / "models/mini-ngrams"), sha256=None)


@pytest.mark.parametrize("spec", [UnigramModel(kind="unigrams", language="en"), NGRAMS], ids=lambda spec: spec.kind)
def test_models_of_words_are_measured_like_causal_models(spec, tmp_path):
    how = ScoringConfig(["pll"], 64)
    counts = measure_pairs(None, Member("one", spec, "panel"), [PAIRS], [PAIRS], texts_of_pairs, how, tmp_path, 1)
    scores = read_pair_answers(tmp_path)
    assert scores["text"].tolist() == MEMBERS
    assert set(scores["scheme"]) == {"causal"}
    assert counts == {"pairs": 2, "texts": 4, "token_scores": scores["log_probs"].map(len).sum()}
    assert (scores["log_probs"].explode() < 0).all()
    facts = read_model_facts(tmp_path)
    assert (facts.kind, facts.state, facts.parameters, facts.weights) == ("baseline", "none", None, "")


def test_the_margins_are_those_of_a_logistic_regression_by_hand():
    """The oracle writes every feature out as a dense column, also those that cancel."""
    rng, words = np.random.default_rng(2), ["red", "old", "big", "sad"]
    pairs = []
    for number in range(60):
        context, (good, bad) = " ".join(rng.choice(words, size=3)), rng.choice(["so", "not", "ever"], 2, replace=False)
        good, bad = (good, bad) if rng.random() < 0.3 or "red" in context else (bad, good)
        texts, frame = (f"{context}.", f" It is {good}.", f" It is {bad}."), {"frame": f"toy {number % 12}"}
        pairs.append(Pair(f"{number}", f"{number}", *texts, {"construction": "toy"}, frame))

    def count(texts: list[str]) -> np.ndarray:
        vocabulary = sorted({word for pair in pairs for word in f"{pair.context} {pair.good} {pair.bad}".split()})
        vocabulary = sorted({word.strip(".").lower() for word in vocabulary})
        return CountVectorizer(vocabulary=vocabulary).transform(texts).toarray().astype(float)

    contexts = count([pair.context for pair in pairs])
    sides = []
    for ends in ([pair.good for pair in pairs], [pair.bad for pair in pairs]):
        own = count(ends)  # (pairs, words)
        crossed = (contexts[:, :, None] * own[:, None, :]).reshape(len(pairs), -1)
        sides.append(np.hstack([contexts + own, crossed]))
    difference = sides[0] - sides[1]
    both, labels = np.vstack([difference, -difference]), np.repeat([True, False], len(pairs))
    frames = np.tile([pair.clusters["frame"] for pair in pairs], 2)
    expected = np.empty(2 * len(pairs))
    for train, test in StratifiedGroupKFold(5, shuffle=True, random_state=1).split(both, labels, frames):
        assert not set(frames[train]) & set(frames[test])
        model = LogisticRegression(max_iter=1000, tol=1e-8).fit(both[train], labels[train])
        expected[test] = model.predict_proba(both[test])[:, 1]
    bag = PairClassifier(kind="pair_classifier", folds=5, counts=NgramFeatures(kind="word_ngrams", lengths=[1, 1]))
    found = learn_preferences(bag, pairs, 1, "one")
    assert found["id"].tolist() == [pair.id for pair in pairs]
    np.testing.assert_allclose(found["margin"], expected[: len(pairs)] - 0.5, atol=2e-3)
    assert 20 < (found["margin"] > 0).sum() < 60
