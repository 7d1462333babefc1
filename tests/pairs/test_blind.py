"""Rules for minimal pairs: what they prefer, and that they cannot know which continuation is right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, NgramModel, Rule, UnigramModel
from cxprobe.lm.texts import Pair, read_pair_answers, token_scores_of
from cxprobe.pairs.blind import measure_blindly, preferences_of

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
        ("Ann helped Bob. Ann left.", " It was Ann.", " It was Bob.", 1, 1),  # Ann is the first and the last
        ("Ann helped Bob.", " Bob thanked Ann.", " Ann thanked Bob.", -1, 1),  # the first difference decides
        ("Name B met a cook.", " It was Name A.", " It was Name C.", 0, 0),
        ("Name B met a Name A.", " It was Name A.", " It was Name B.", -1, 1),  # the article is not A
        ("The cook met the actor.", " It was the actor.", " It was the cook.", -1, 1),
        ("The cook met the actor.", " The cook's turn.", " The actor's turn.", 1, -1),
        ("Cooks met actors.", " It was cooks.", " It was actors.", 1, -1),  # a capital at the start
        ("Ann helped Bob.", " It was Ann.", " It was Eve.", 1, 1),  # a mention before none
        ("Ann helped Bob.", " It was Eve.", " It was Ida.", 0, 0),
        ("Ann helped Bob.", " No poet ever sang.", " The poet ever sang.", 0, 0),
        ("", "The cats sing.", "The cats sings.", 0, 0),
        ("Ann helped Bob.", " It was surely Bob and not Ann.", " It was Bob.", -1, -1),  # "surely" is not named
    ],
)
def test_the_first_and_the_last_mentioned_are_told_by_the_first_words_that_differ(context, good, bad, first, last):
    assert margin("first_mentioned", context, good, bad) == first
    assert margin("last_mentioned", context, good, bad) == last


def test_the_shorter_one_has_fewer_characters():
    assert margin("shorter", "x", " She did so with effort.", " She did so without effort.") == 3
    assert margin("shorter", "", "unclear", "clear") == -2
    assert margin("shorter", "", "Bob", "Ann") == 0


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
    counts = measure_blindly(Member("one", spec, "panel"), PAIRS, tmp_path)
    scores = token_scores_of(read_pair_answers(tmp_path))
    assert [one.text for one in scores] == TEXTS_OF_PAIRS
    assert {one.scheme for one in scores} == {"causal"}
    assert counts == {"texts": 6, "token_scores": sum(len(one.log_probs) for one in scores)}
    assert all((one.log_probs < 0).all() for one in scores)
    facts = read_model_facts(tmp_path)
    assert (facts.kind, facts.state, facts.parameters, facts.weights) == ("blind", "none", None, "")


def test_a_rule_is_measured_by_its_preferences(tmp_path):
    counts = measure_blindly(Member("one", Rule(kind="first_mentioned"), "panel"), PAIRS, tmp_path)
    found = read_pair_answers(tmp_path)
    assert found.to_dict("list") == {"id": ["a", "b"], "margin": [1.0, 0.0]}
    assert counts == {"decided": 1}
    assert read_model_facts(tmp_path).kind == "blind"
