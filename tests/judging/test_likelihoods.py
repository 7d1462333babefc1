import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.judging import accuracy, count_outcomes, judge_likelihoods

VALUES = st.lists(st.tuples(*[st.sampled_from([-3.0, -2.0, -1.0])] * 3), min_size=1, max_size=12)


def tables(values, golds="012"):
    questions = pd.DataFrame(
        [(f"q{n}", golds[n % len(golds)], f"p{n // 2}") for n in range(len(values))],
        columns=["id", "gold", "cluster_premise"],
    )
    scores = pd.DataFrame(
        [(f"q{n}", str(answer), "sum", value) for n, row in enumerate(values) for answer, value in enumerate(row)],
        columns=["id", "answer", "score", "value"],
    )
    return questions, scores


@settings(deadline=None, max_examples=60)
@given(VALUES)
def test_the_likeliest_answer_wins_and_a_tie_is_shared(values):
    judged = judge_likelihoods(*tables(values))
    for row, own in zip(judged.itertuples(), values, strict=True):
        best = [str(answer) for answer, value in enumerate(own) if value == max(own)]
        assert row.credit == (1 / len(best) if row.gold in best else 0)
        assert row.answer == (best[0] if len(best) == 1 else "")
        assert row.outcome == ("tied" if len(best) > 1 else "right" if best == [row.gold] else "wrong")
    counts = count_outcomes(judged.assign(all="x"), ["all"]).iloc[0]
    assert counts["right"] + counts["wrong"] + counts["tied"] == counts["asked"] == len(values)


def test_constant_likelihoods_are_right_as_often_as_chance():
    judged = judge_likelihoods(*tables([(-1.0, -1.0, -1.0)] * 9))
    assert accuracy(judged.assign(all="x"), ["all"]).loc[0, "accuracy"] == pytest.approx(1 / 3)
    assert set(judged["outcome"]) == {"tied"}


def test_each_score_judges_for_itself():
    questions, scores = tables([(-1.0, -2.0, -3.0)])
    other = scores.assign(score="pmi", value=-scores["value"])
    judged = judge_likelihoods(questions, pd.concat([scores, other])).set_index("score")
    assert judged["answer"].to_dict() == {"sum": "0", "pmi": "2"}
    assert judged["credit"].to_dict() == {"sum": 1.0, "pmi": 0.0}


def test_a_question_without_a_score_for_its_answer_is_refused():
    questions, scores = tables([(-1.0, -2.0, -3.0)] * 2)
    with pytest.raises(DataError, match="1 questions have no score for their right answer, such as q1"):
        judge_likelihoods(questions, scores[scores["id"] == "q0"])
    with pytest.raises(DataError, match="such as q0"):
        judge_likelihoods(questions, scores[scores["answer"] != "0"])
