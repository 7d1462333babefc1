"""Pairs judged by what any model answered: token scores, or a rule's preferences."""

import pandas as pd
import pytest
from test_judge_pairs import SCHEMES, TEXTS, tokens

from cxprobe.errors import DataError
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec, Rule
from cxprobe.lm.token_table import token_table
from cxprobe.pairs.judge import (
    JudgedPairs,
    judge_benchmark_answers,
    judge_pair_answers,
    judge_preferences,
    pair_headline,
    pair_tables,
)
from cxprobe.pairs.params import Benchmark, JudgePairs

SPEC = ModelSpec(name="models/x", revision=None, sha256=None, dtype="float32")
RULE = Member("first", Rule(kind="first_mentioned"), "blind")
ALONE = Member("alone", ContinuationAlone(kind="continuation_alone", checkpoint=SPEC), "blind")
MODEL = Member("x", SPEC, "x")
SETTINGS = JudgePairs(scheme="pll", score="sum", scores=["sum"])
PREFERENCES = pd.DataFrame({"id": ["b", "a"], "margin": [0.0, 3.0]})


def test_a_preference_decides_and_an_undecided_pair_is_a_tie():
    judged = judge_preferences(TEXTS, PREFERENCES)
    assert judged.items[["id", "accuracy", "scheme", "score"]].to_numpy().tolist() == [
        ["a", 1.0, "rule", "preference"],
        ["b", 0.5, "rule", "preference"],
    ]
    assert judged.items["good"].tolist() == [" so", "it is so"]
    assert judged.scores["accuracy"].tolist() == [1.0, 0.5]


def test_the_settings_of_models_do_not_concern_a_rule_and_its_tables_are_those_of_models():
    pairs = {"toy": TEXTS.assign(noun_type="none", origin="paper", sentence="construction")}
    rule = judge_pair_answers(RULE, pairs, PREFERENCES, SETTINGS)["toy"]
    tokens_of_model = token_table([one for texts in SCHEMES.values() for one in texts.values()])
    model = judge_pair_answers(MODEL, pairs, tokens_of_model, SETTINGS)["toy"]
    assert rule.items.columns.tolist() == model.items.columns.tolist()
    assert rule.scores.columns.tolist() == model.scores.columns.tolist()
    assert pair_tables(rule).keys() == pair_tables(model).keys()


def test_a_pair_without_a_preference_or_with_two_is_refused():
    with pytest.raises(DataError, match=r"1 of 2 pairs have no preference \(b\)"):
        judge_preferences(TEXTS, PREFERENCES[PREFERENCES["id"] == "a"])
    with pytest.raises(DataError, match="a pair has several"):
        judge_preferences(TEXTS, pd.concat([PREFERENCES, PREFERENCES]))


def test_a_model_that_is_shown_the_continuation_alone_is_asked_about_pairs_with_a_context():
    scored = token_table([tokens("it is so", "pll", [-1, -1, -4]), tokens("it is not", "pll", [-1, -1, -3])])
    bare = TEXTS[TEXTS["context"] == ""]
    judged = judge_pair_answers(ALONE, {"toy": TEXTS, "bare": bare}, scored, SETTINGS)
    assert list(judged) == ["toy"]
    assert judged["toy"].items["id"].tolist() == ["a"]
    assert judge_pair_answers(MODEL, {"bare": bare}, scored, SETTINGS)["bare"].items["id"].tolist() == ["b"]


BENCHMARK = {"format": "pairs", "files": "*", "by": ["kind"], "score": "sum", "pairs_per_file": None}


def test_a_benchmark_is_judged_by_preferences_too():
    pairs = TEXTS.assign(kind="one")
    judged = judge_benchmark_answers("own", RULE, pairs, PREFERENCES, Benchmark(**BENCHMARK), "pll")
    assert judged.items["accuracy"].tolist() == [1.0, 0.5]


def paired_focus(items=2):
    rows = [
        {"id": f"{item}-{row}", "item": str(item), "row": row, "context": "x", "good": " easier", "bad": " harder"}
        for item in range(items)
        for row in ("construction", "control")
    ]
    return pd.DataFrame(rows).assign(cluster_verb="v", swapped_condition="0")


def test_a_rule_that_prefers_the_same_after_the_control_is_undecided_in_a_paired_focus_table():
    pairs = paired_focus()
    benchmark = Benchmark(**BENCHMARK | {"format": "paired_focus", "by": ["swapped_condition"]})
    same = pd.DataFrame({"id": pairs["id"], "margin": [1.0, 1.0, 1.0, -1.0]})
    judged = judge_benchmark_answers("focus", RULE, pairs, same, benchmark, "pll")
    assert judged.items[["id", "margin", "accuracy"]].to_numpy().tolist() == [
        ["0-construction", 0.0, 0.5],
        ["1-construction", 2.0, 1.0],
    ]


def test_the_headline_has_the_balanced_pairs_with_real_words_of_meaning_and_of_form():
    balanced = TEXTS.assign(good=[" so", "it is not"], bad=[" not", "it is so"])
    judged = judge_preferences(balanced, PREFERENCES)
    assert list(pair_headline(judged)) == ["meaning"]
    numbers = pair_headline(judged)["meaning"]
    assert list(numbers) == ["accuracy", "low", "high", "n"]
    assert (numbers["accuracy"], numbers["n"]) == (0.75, 2)
    form = JudgedPairs(judged.items.assign(tests="form"), judged.scores.assign(tests="form"))
    assert list(pair_headline(form)) == ["form"]
    pseudo = JudgedPairs(judged.items.assign(words="pseudo"), judged.scores)
    assert pair_headline(pseudo) == {}
    assert pair_headline(judge_preferences(TEXTS, PREFERENCES)) == {}  # "so" is always right
