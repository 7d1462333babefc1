"""Pairs judged by what any model answered: token scores, or a rule's preferences."""

import pandas as pd
import pytest
from judged_pairs import TEXTS, own, tokens

from cxprobe.errors import DataError
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec
from cxprobe.lm.texts import token_table
from cxprobe.pairs.judge import judge_answers, pairs_for

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
