"""Rules and classifiers for minimal pairs: what they prefer, and that they cannot know which continuation is right."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from conftest import ROOT
from cxprobe.models.pairs import learn_preferences, measure_pairs, preferences_of, texts_of_pairs
from cxprobe.models.params import Member, NgramFeatures, NgramModel, PairClassifier, UnigramModel
from cxprobe.models.texts import Pair, ScoringConfig, read_pair_answers
from cxprobe.run.record import read_model_facts

RULES = ["first_mentioned", "last_mentioned", "shorter"]
NAMES = st.sampled_from(["Ann", "Bob", "the cook", "the actor's", "Name A", "Name B", "a", "sings", "Sings", ",", ""])
TEXTS = st.lists(NAMES, max_size=6).map(" ".join)


def margin(rule: str, context: str, good: str, bad: str) -> float:
    [found] = preferences_of(rule, [Pair("p", "p", context, good, bad, {}, {})])["margin"]
    return found


@given(context=TEXTS, good=TEXTS, bad=TEXTS, rule=st.sampled_from(RULES))
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


PAIRS = [
    Pair("a", "a", "Ann ran.", " It was Ann.", " It was Bob.", {}, {}),
    Pair("b", "b", "", "It is.", "Is it.", {}, {}),
]
TEXTS_OF_PAIRS = [
    *("Ann ran. It was Ann.", "Ann ran. It was Bob.", "It is.", "Is it."),
    *("It was Ann.", "It was Bob."),  # what follows a context, alone
]
NGRAMS = NgramModel(kind="ngrams", name=str(ROOT / "models/mini-ngrams"), sha256=None)


@pytest.mark.parametrize("spec", [UnigramModel(kind="unigrams", language="en"), NGRAMS], ids=lambda spec: spec.kind)
def test_models_of_words_are_measured_like_causal_models(spec, tmp_path):
    how = ScoringConfig(["pll"], 64)
    counts = measure_pairs(None, Member("one", spec, "panel"), [PAIRS], [PAIRS], texts_of_pairs, how, tmp_path, 1)
    scores = read_pair_answers(tmp_path)
    assert scores["text"].tolist() == TEXTS_OF_PAIRS
    assert set(scores["scheme"]) == {"causal"}
    assert counts == {"pairs": 2, "texts": 6, "token_scores": scores["log_probs"].map(len).sum()}
    assert (scores["log_probs"].explode() < 0).all()
    facts = read_model_facts(tmp_path)
    assert (facts.kind, facts.state, facts.parameters, facts.weights) == ("baseline", "none", None, "")


BAG = PairClassifier(kind="pair_classifier", folds=5, counts=NgramFeatures(kind="word_ngrams", lengths=[1, 1]))
STEMS = [f"{first}{second}l" for first in "bcdfgkmnpt" for second in "aeiou"]


def learnt(pairs: list[Pair], spec: PairClassifier = BAG) -> list[float]:
    """Return the margins of pairs."""
    found = learn_preferences(spec, pairs, 1, "one")
    assert found["id"].tolist() == [pair.id for pair in pairs]
    return found["margin"].tolist()


def made(context: str, good: str, bad: str, frame: int, variant: str = "A") -> Pair:
    id_ = f"{variant}-{frame}-{context}-{good}"
    return Pair(id_, id_, context, good, bad, {"construction": "toy"}, {"frame": f"toy {frame}"})


def test_nothing_is_learnt_from_the_own_frame():
    """A frame's own noun decides in both of its pairs; with frames cut through the answer is known."""
    pairs = [
        made(f"Ann saw the {STEMS[frame]} {place}.", f" It was {good}.", f" It was {bad}.", frame)
        for frame in range(20)
        for place in ("here", "there")
        for good, bad in ([("red", "blue"), ("blue", "red")][frame % 2],)
    ]
    assert np.mean(np.sign(learnt(pairs))) <= 0.2
    apart = [Pair(p.id, p.item, p.context, p.good, p.bad, p.groups, {"frame": p.id}) for p in pairs]
    assert np.mean(np.sign(learnt(apart))) > 0.7


def test_the_margins_are_those_of_a_logistic_regression_by_hand():
    """The oracle writes every feature out as a dense column, also those that cancel."""
    rng, words = np.random.default_rng(2), ["red", "old", "big", "sad"]
    pairs = []
    for number in range(60):
        context, (good, bad) = " ".join(rng.choice(words, size=3)), rng.choice(["so", "not", "ever"], 2, replace=False)
        good, bad = (good, bad) if rng.random() < 0.3 or "red" in context else (bad, good)
        pairs.append(made(f"{context}.", f" It is {good}.", f" It is {bad}.", number % 12, str(number)))

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
    np.testing.assert_allclose(learnt(pairs), expected[: len(pairs)] - 0.5, atol=2e-3)
    assert 20 < Counter(np.sign(learnt(pairs)))[1] < 60
