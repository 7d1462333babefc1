"""Pairs judged by what any model answered: token scores, or a rule's preferences."""

import pandas as pd
import pytest
from judged_pairs import ANSWERS, TEXTS, as_run, of_benchmark, own, tokens

from cxprobe.errors import DataError
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec
from cxprobe.lm.texts import token_table
from cxprobe.pairs.judge import judge_answers, pair_tables, pairs_for
from cxprobe.pairs.params import Benchmark

SPEC = ModelSpec(name="models/x", revision=None, sha256=None, dtype="float32")
ALONE = Member("alone", ContinuationAlone(kind="continuation_alone", checkpoint=SPEC), "blind")
MODEL = Member("x", SPEC, "x")
PREFERENCES = pd.DataFrame({"id": ["b", "a"], "margin": [0.0, 3.0]})


def test_a_preference_decides_and_an_undecided_pair_is_a_tie():
    judged = judge_answers(TEXTS, PREFERENCES, own())
    assert judged.items[["id", "accuracy", "scheme", "score"]].to_numpy().tolist() == [
        ["a", 1.0, "rule", "preference"],
        ["b", 0.5, "rule", "preference"],
    ]
    assert judged.items["good"].tolist() == [" so", "it is so"]
    assert judged.scores["accuracy"].tolist() == [1.0, 0.5]


def test_the_settings_of_models_do_not_concern_a_rule_and_its_tables_are_those_of_models():
    pairs = TEXTS.assign(noun_type="none", origin="paper", sentence="construction")
    rule, model = (as_run(judge_answers(pairs, answers, own())) for answers in (PREFERENCES, ANSWERS))
    assert rule.items.columns.tolist() == model.items.columns.tolist()
    assert rule.scores.columns.tolist() == model.scores.columns.tolist()
    assert pair_tables(rule).keys() == pair_tables(model).keys()


def test_a_pair_without_a_preference_or_with_two_is_refused():
    with pytest.raises(DataError, match=r"1 of 2 pairs have no preference \(b\)"):
        judge_answers(TEXTS, PREFERENCES[PREFERENCES["id"] == "a"], own())
    with pytest.raises(DataError, match="a pair has several"):
        judge_answers(TEXTS, pd.concat([PREFERENCES, PREFERENCES]), own())


def test_a_model_that_is_shown_the_continuation_alone_is_asked_about_pairs_with_a_context():
    scored = token_table([tokens("it is so", "pll", [-1, -1, -4]), tokens("it is not", "pll", [-1, -1, -3])])
    assert judge_answers(pairs_for(ALONE, TEXTS), scored, own()).items["id"].tolist() == ["a"]
    assert pairs_for(ALONE, TEXTS[TEXTS["context"] == ""]).empty
    assert pairs_for(MODEL, TEXTS) is TEXTS


BENCHMARK = {"format": "pairs", "files": "*", "by": ["kind"], "score": "sum", "pairs_per_file": None}


def test_a_benchmark_is_judged_by_preferences_too():
    pairs = TEXTS.assign(kind="one")
    judged = judge_answers(pairs, PREFERENCES, of_benchmark(Benchmark(**BENCHMARK)))
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
    judged = judge_answers(pairs, same, of_benchmark(benchmark))
    assert judged.items[["id", "margin", "accuracy"]].to_numpy().tolist() == [
        ["0-construction", 0.0, 0.5],
        ["1-construction", 2.0, 1.0],
    ]
