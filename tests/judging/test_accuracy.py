import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from cxprobe.errors import DataError
from cxprobe.judging import accuracy, count_outcomes, judge_inference, spread_over_prompts
from cxprobe.records import RELATIONS
from cxprobe.stats import estimate_rate

REPLIES = [None, "", "0", "1", "2", "Answer: 0 or 1"]
ROW = st.tuples(
    st.sampled_from(REPLIES),
    st.sampled_from(RELATIONS),
    st.sampled_from("ab"),
    st.sampled_from("pq"),
    st.integers(0, 3),
)


def judged_table(rows):
    """Judge replies and return the table that is summed up."""
    table = []
    for reply, gold, construction, prompt, premise in rows:
        answer, outcome = judge_inference(reply, gold, chain_of_thought=False)
        table.append(
            (construction, prompt, str(RELATIONS.index(gold)), answer, outcome, float(outcome == "right"), str(premise))
        )
    columns = ["construction", "prompt", "gold", "answer", "outcome", "credit", "cluster_premise"]
    return pd.DataFrame(table, columns=columns)


@settings(deadline=None, max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_the_counts_add_up_to_what_was_asked(rows):
    judged = judged_table(rows)
    counts = count_outcomes(judged, ["construction", "prompt"])
    assert (counts[["right", "wrong", "tied", "unparsed", "failed"]].sum(axis=1) == counts["asked"]).all()
    assert counts["asked"].sum() == len(rows)
    assert counts["failed"].sum() == sum(row[0] is None for row in rows)


@settings(deadline=None, max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_an_accuracy_is_that_of_the_replies_there_were(rows):
    judged = judged_table(rows)
    table = accuracy(judged, ["construction"])
    for row in table.itertuples():
        own = judged[(judged["construction"] == row.construction) & (judged["outcome"] != "failed")]
        right = (own["outcome"] == "right").to_numpy(dtype=float)
        expected = estimate_rate(right, own[["cluster_premise"]].to_numpy(dtype=object))
        assert (row.accuracy, row.low, row.high, row.n) == (
            expected.value,
            expected.low,
            expected.high,
            expected.n,
        )
        assert row.unparsed == (own["answer"] == "").mean()
        assert row.unparsed_low <= row.unparsed <= row.unparsed_high
        present = sorted(set(own["gold"]))
        each = [f1_score(own["gold"] == gold, own["answer"] == gold, zero_division=0) for gold in present]
        assert row.macro_f1 == pytest.approx(np.mean(each))
    replied = set(judged.loc[judged["outcome"] != "failed", "construction"])
    assert set(table["construction"]) == replied


def test_failures_change_no_accuracy_and_unparsed_replies_do():
    rows = [("0", "entailment", "a", "p", n) for n in range(3)] + [("0", "neutral", "a", "p", 4)]
    plain = accuracy(judged_table(rows), ["construction"])
    failed = accuracy(judged_table([*rows, (None, "neutral", "a", "p", 5)]), ["construction"])
    pd.testing.assert_frame_equal(plain, failed)
    assert plain.loc[0, "accuracy"] == 0.75
    assert accuracy(judged_table([*rows, ("?", "neutral", "a", "p", 5)]), ["construction"]).loc[0, "accuracy"] == 0.6


def test_when_all_failed_there_is_no_accuracy_and_the_count_says_so():
    judged = judged_table([(None, "neutral", "a", "p", 1)])
    assert accuracy(judged, ["construction"]).empty
    assert count_outcomes(judged, ["construction"]).to_dict("records") == [
        {"construction": "a", "asked": 1, "right": 0, "wrong": 0, "tied": 0, "unparsed": 0, "failed": 1}
    ]


def test_items_of_one_premise_are_no_independent_ones():
    rows = [(reply, "entailment", "a", "p", premise) for premise in range(8) for reply in [str(premise % 2)] * 6]
    judged = judged_table(rows)
    together = accuracy(judged, ["construction"])
    apart = accuracy(judged.assign(cluster_premise=[str(n) for n in range(len(judged))]), ["construction"])
    assert together.loc[0, "accuracy"] == apart.loc[0, "accuracy"] == 0.5
    width = [(table["high"] - table["low"]).item() for table in (together, apart)]
    assert width[0] > 1.5 * width[1]


def test_a_table_without_clusters_or_with_another_outcome_is_refused():
    judged = judged_table([("0", "entailment", "a", "p", 1)])
    with pytest.raises(DataError, match="no column begins with cluster_"):
        accuracy(judged.drop(columns="cluster_premise"), ["construction"])
    with pytest.raises(DataError, match="outcome 'perhaps' is unknown"):
        count_outcomes(judged.assign(outcome="perhaps"), ["construction"])


def test_the_spread_over_prompts():
    table = pd.DataFrame(
        {"construction": ["a", "a", "a", "b"], "prompt": ["p", "q", "r", "p"], "accuracy": [0.5, 0.75, 1.0, 0.25]}
    )
    spread = spread_over_prompts(table, ["construction"]).set_index("construction")
    assert spread.loc["a"].to_dict() == {"prompts": 3, "lowest": 0.5, "mean": 0.75, "highest": 1.0, "range": 0.5}
    assert spread.loc["b", "range"] == 0
    with pytest.raises(DataError, match="a prompt stands twice"):
        spread_over_prompts(pd.concat([table, table]), ["construction"])
