"""Calibration against its formulas, decisions, and models whose answers are known: what comes out is what they are."""

import re
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conftest import ROOT
from cxprobe.results.rates import rates_of
from cxprobe.stats import credits_of_margins
from cxprobe.tasks.scenarios.evaluate import (
    FACETS,
    TIE,
    calibrate,
    decide_tests,
    flips_from_base,
    scenario_responses,
    with_preferences,
)
from cxprobe.tasks.scenarios.make import enumerate_items, fill_texts
from cxprobe.tasks.scenarios.measure import baseline_scores
from cxprobe.tasks.scenarios.rules import Scenarios, load_scenarios

LOG_P = st.floats(-30, -0.01)
TESTED = arrays(np.float64, (3, 2), elements=LOG_P)
REFERENCE = arrays(np.float64, (3, 4, 2), elements=LOG_P)


@given(TESTED, REFERENCE)
def test_it_is_the_formula_of_the_paper(log_p, log_c):
    expected = [
        [np.exp(log_p[item, word]) / np.mean(np.exp(log_c[item, :, word])) for word in range(2)] for item in range(3)
    ]
    np.testing.assert_allclose(np.exp(calibrate(log_p, log_c, normalised=False)), expected, rtol=1e-9)


@given(TESTED, REFERENCE)
def test_normalised_it_is_contextual_calibration(log_p, log_c):
    """Zhao et al. 2021: W = diag(p_cf)^-1, b = 0, q = softmax(W p), where p and p_cf are normalised over the labels."""
    found = credits_of_margins(-np.diff(calibrate(log_p, log_c, normalised=True))[:, 0], TIE)
    for item in range(len(log_p)):
        p = np.exp(log_p[item]) / np.exp(log_p[item]).sum()
        p_cf = np.mean([np.exp(one) / np.exp(one).sum() for one in log_c[item]], axis=0)
        q = np.diag(1 / p_cf) @ p
        if not np.isclose(q[0], q[1], rtol=1e-6):
            assert found[item] == float(q[0] > q[1])


@pytest.mark.parametrize("normalised", [True, False])
@given(log_p=TESTED)
def test_a_model_that_heeds_no_text_is_left_with_ties(normalised, log_p):
    log_c = np.repeat(log_p[:, None], 5, axis=1)
    margins = np.diff(calibrate(log_p, log_c, normalised=normalised))[:, 0]
    assert (credits_of_margins(margins, TIE) == 0.5).all()


def test_rounding_decides_nothing_and_the_least_difference_in_float32_does():
    value = np.float32(-2.5)
    scores = np.array([[value, value + 1e-14], [value, np.nextafter(value, np.float32(0))]], dtype=np.float64)
    assert credits_of_margins(np.diff(scores)[:, 0], TIE).tolist() == [0.5, 1]


def tossed(credit: float) -> list[bool]:
    """Return a decision's two equally likely outcomes: the same one twice, unless it is a tie."""
    return [credit >= 0.5, credit > 0.5]


@pytest.mark.parametrize(("before", "after"), list(product([0.0, 0.5, 1.0], repeat=2)))
def test_a_flip_is_as_likely_as_with_a_coin_for_every_tie(before, after):
    ways = [(first, second) for first in tossed(before) for second in tossed(after)]
    decisions = pd.DataFrame({"calibration": "none", "item": "i", "base": [True, False], "accuracy": [before, after]})
    assert flips_from_base(decisions)["flips"].tolist() == [np.mean([one != other for one, other in ways])]


CONSTRUCTIONS = ["comparative-correlative", "let-alone"]
FILES = {name: load_scenarios(name, ROOT / "constructions") for name in CONSTRUCTIONS}
PAPER, FAMILY = ("S1", "S2", "S3", "S4"), ("paraphrase", "nonce", "distractor")


def said_of(construction: str, words: str, *forms: tuple[str, str]) -> dict[str, str]:
    """Return what is said in the second form of each pair -> the word of the first."""
    known = FILES[construction].words[words]
    places = [tuple(known.forms.index(form) for form in pair) for pair in forms]
    return {row[said]: row[meant] for row in known.rows for meant, said in places}


MEANT = said_of("comparative-correlative", "adjectives", ("ADJ", "FACT"), ("ANT", "ANTFACT"))
EASY = said_of("let-alone", "scenes", ("ACT", "EASY")).keys()


def correlative(text: str) -> str | None:
    """Return what follows by the rules of the text for whoever is asked about, if anything does."""
    asked = re.search(r"Therefore, (\w+) is \[MASK\] than (\w+)", text)
    said = re.search(r"(?:^|\. )(\w+) (?:is (\w+) than|([^.\[]+)) (\w+)\. Therefore", text)
    rules = dict(re.findall(r"The (\w+) you are, the (\w+) you are", text))
    if not said or not asked or (follows := rules.get(said[2] or MEANT.get(said[3]))) is None:
        return None
    if (asked[1], asked[2]) == (said[1], said[4]):
        return follows
    others = [other for other in rules.values() if other != follows]
    return others[0] if (asked[2], asked[1]) == (said[1], said[4]) else None  # whoever is not more of it is less


def let_alone(text: str) -> str | None:
    """Return which of the owner's things the text puts further along the scale that is asked about, if it does."""
    asked = re.search(r"Therefore, (\w+)'s \[MASK\] (\w+) is the (?:one that ([^.]+)|(\w+) one)\.", text)
    owner = re.search(r"(\w+) has the", text)
    unrelated = {"cleaner", "dirtier", "dustier", "prettier", "uglier", "shinier"}
    if not (owner and asked) or owner[1] != asked[1] or asked[4] in unrelated:
        return None
    tried = re.search(rf"the (\w+) {asked[2]}, let alone the (\w+) {asked[2]}", text)
    easy = asked[3] in EASY or (asked[3] or "").startswith("is easier to ")
    return tried and tried[1 if easy else 2]


RULES = {"comparative-correlative": correlative, "let-alone": let_alone}


def favourite(text: str, word: str) -> float:
    """Prefer one word to another whatever the text: here by the alphabet."""
    return 1 / (1 + sum(ord(letter) / 128**place for place, letter in enumerate(word, start=1)))


def last_word(text: str, word: str) -> float:
    """Prefer the word that was said last."""
    return 0.01 + text.split("[MASK]")[0].rfind(f" {word} ") / 1000


def rule(construction: str) -> Callable[[str, str], float]:
    return lambda text, word: 0.9 if RULES[construction](text) == word else 0.1


def ask(scenarios: Scenarios, items: pd.DataFrame, model: Callable[[str, str], float], own=True) -> pd.DataFrame:
    texts = fill_texts(scenarios, items, own_texts=own, seed=1)
    probabilities = {
        f"log_p_{which}": [np.log(model(row.text, getattr(row, which))) for row in texts.itertuples()]
        for which in ("first", "second")
    }
    return texts.assign(**probabilities)


def evaluated(scenarios: Scenarios, items: pd.DataFrame, scores: pd.DataFrame) -> tuple[dict, dict]:
    """Return (calibration, scenario) -> accuracy, and -> flips."""
    decisions = decide_tests(scores, items, scenarios)
    keys = ["calibration", "scenario"]
    flips = flips_from_base(decisions)
    return decisions.groupby(keys)["accuracy"].mean().to_dict(), flips.groupby(keys)["flips"].mean().to_dict()


def results(construction: str, model: Callable[[str, str], float], own=True) -> tuple[dict, dict]:
    scenarios = FILES[construction]
    items = enumerate_items(scenarios, share=0.02, seed=1)
    return evaluated(scenarios, items, ask(scenarios, items, model, own))


def of(found: dict, calibration: str) -> dict[str, float]:
    return {scenario: rate for (name, scenario), rate in found.items() if name == calibration}


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_a_fixed_preference_is_half_right_and_flips_only_when_the_answer_is_turned_round(construction):
    accuracy, flips = results(construction, favourite)
    assert of(accuracy, "none") == dict.fromkeys([*PAPER, *FAMILY], 0.5)
    assert of(flips, "none") == {"S2": 0, "S3": 1, "S4": 0, **dict.fromkeys(FAMILY, 0.5)}
    for calibration in ("S5", "S6", "S7", "PMI", "contextual"):  # nothing is left of it but ties
        assert set(of(accuracy, calibration).values()) == {0.5}
        assert set(of(flips, calibration).values()) == {0.5}


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_a_model_that_applies_the_rule_is_always_right(construction):
    accuracy, flips = results(construction, rule(construction))
    assert of(accuracy, "none") == dict.fromkeys([*PAPER, *FAMILY], 1)
    assert of(flips, "none") == dict.fromkeys([*PAPER[1:], *FAMILY], 0)
    for calibration in ("S5", "S6", "S7", "PMI", "contextual"):
        assert of(accuracy, calibration) == dict.fromkeys(PAPER, 1)
        assert of(flips, calibration) == dict.fromkeys(PAPER[1:], 0)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("kind", ["fixed_word", "last_rule", "first_rule", "copier"])
def test_beside_the_tests_of_the_paper_no_rule_about_places_is_right_in_more_or_less_than_half(construction, kind):
    scenarios = FILES[construction]
    items = enumerate_items(scenarios, share=0.02, seed=1)
    texts = fill_texts(scenarios, items, own_texts=True, seed=1)
    if kind == "first_rule":
        answers = ask(scenarios, items, lambda text, word: 0.9 - text.find(f" {word} ") / 1000)
    else:
        answers = baseline_scores(kind, texts)
    accuracy, _ = evaluated(scenarios, items, answers)
    assert {name: accuracy["none", name] for name in FAMILY} == dict.fromkeys(FAMILY, 0.5)
    if kind == "copier":
        assert {name: accuracy["none", name] for name in PAPER} == dict.fromkeys(PAPER, 1)


@pytest.mark.parametrize(
    ("own", "accuracies"),
    [
        (True, {"S1": 0.5, "S2": 0.5, "S3": 0.5, "S4": 0.5}),  # nothing is left of recency but ties
        (False, {"S1": 0.5, "S2": 1, "S3": 0, "S4": 0.5}),  # it is added where the rules are others than in S1
    ],
)
def test_recency_is_taken_away_by_texts_in_a_tests_own_order_and_by_those_of_the_base_test_only_there(own, accuracies):
    recent = lambda text, word: np.exp(10 * last_word(text, word)) / 100  # noqa: E731
    accuracy, _ = results("comparative-correlative", recent, own)
    assert [accuracy["none", name] for name in PAPER] == [0, 1, 0, 0]
    assert of(accuracy, "S6") == of(accuracy, "S7") == accuracies


@pytest.mark.parametrize(("model", "prefers"), [(favourite, True), (rule("let-alone"), False)])
def test_a_model_that_keeps_to_a_word_where_the_other_becomes_right_has_a_fixed_preference(model, prefers):
    scenarios = FILES["let-alone"]
    items = enumerate_items(scenarios, share=0.05, seed=1)
    scores = ask(scenarios, items, model)
    keys = {"task": "scenarios", "model": "m", "construction": "let-alone", "source": "own"}
    responses = scenario_responses(scores, items, scores, scenarios).assign(**keys)
    rates = with_preferences(rates_of(responses, FACETS), {"let-alone": scenarios})
    assert set(rates["prefers"]) == {prefers}
    base = rates[rates["decides"]]
    found = base[["scenario", "calibration", "measure", "question"]].to_numpy().tolist()
    assert found == [["S1", "none", "accuracy", "meaning"]]
    accuracies = responses[responses["measure"] == "accuracy"]
    right = accuracies["chosen"] == accuracies["gold"]
    assert (accuracies["value"] == np.where(accuracies["chosen"] == "", 0.5, right)).all()
