import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from cxprobe.errors import DataError
from cxprobe.lm.replies import judge_reply
from cxprobe.prompts.items import RELATIONS
from cxprobe.prompts.judge import (
    RUN_KEY,
    accuracy_by_shots,
    answers_of_runs,
    consistency_over_orders,
    count_outcomes,
    judge_reply_table,
    judged_table,
    prompt_accuracy,
    prompt_headline,
    prompt_metrics,
    prompt_tables,
    spread_over_prompts,
)
from cxprobe.stats import estimate_rate

pytestmark = pytest.mark.pipeline

ANSWERS = {str(number): relation for number, relation in enumerate(RELATIONS)}
REPLIES = [None, "", "0", "1", "2", "Answer: 0 or 1"]
ROW = st.tuples(st.sampled_from(REPLIES), st.sampled_from(RELATIONS), st.sampled_from("ab"), st.integers(0, 3))


def table_of_replies(rows):
    """Judge replies and return the table that is summed up."""
    table = []
    for reply, relation, construction, premise in rows:
        gold = str(RELATIONS.index(relation))
        answer, outcome = judge_reply(reply, gold, ANSWERS, chain_of_thought=False)
        table.append((construction, gold, answer, outcome, float(outcome == "right"), str(premise)))
    columns = ["construction", "gold", "answer", "outcome", "credit", "cluster_premise"]
    return pd.DataFrame(table, columns=columns).assign(kind="inference", order="", template="", cluster_wording="")


@settings(deadline=None, max_examples=30)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_counts_add_up_to_what_was_asked_and_an_accuracy_is_that_of_the_replies_there_were(rows):
    judged = table_of_replies(rows)
    counts = count_outcomes(judged, ["construction"])
    assert (counts[["right", "wrong", "tied", "unparsed", "failed"]].sum(axis=1) == counts["questions"]).all()
    assert (counts["questions"].sum(), counts["failed"].sum()) == (len(rows), sum(row[0] is None for row in rows))
    table = prompt_accuracy(judged, ["construction"])
    for row in table.itertuples():
        own = judged[(judged["construction"] == row.construction) & (judged["outcome"] != "failed")]
        right = (own["outcome"] == "right").to_numpy(dtype=float)
        expected = estimate_rate(right, own[["cluster_premise"]].to_numpy(dtype=object))
        assert (row.accuracy, row.low, row.high, row.n) == (expected.value, expected.low, expected.high, expected.n)
        assert row.unparsed == (own["answer"] == "").mean()
        assert row.unparsed_low <= row.unparsed <= row.unparsed_high
        present = sorted(set(own["gold"]))
        each = [f1_score(own["gold"] == gold, own["answer"] == gold, zero_division=0) for gold in present]
        assert row.macro_f1 == pytest.approx(np.mean(each))
    replied = set(judged.loc[judged["outcome"] != "failed", "construction"])
    assert set(table["construction"]) == replied


def test_the_spread_over_prompts():
    table = pd.DataFrame({"construction": list("aaab"), "prompt": list("pqrp"), "accuracy": [0.5, 0.75, 1.0, 0.25]})
    spread = spread_over_prompts(table, ["construction"]).set_index("construction")
    assert spread.loc["a"].to_dict() == {"prompts": 3, "lowest": 0.5, "mean": 0.75, "highest": 1.0, "range": 0.5}


def metrics_of(judged, asked):
    """Return the numbers of one run, by the way of asking that decides."""
    return prompt_metrics(judged.assign(model="m", run="all"), {"m": asked})["m", "all"]


def judged_answers():
    """Return judged answers of one model by two scores: two sets of inferences, with 0 and 1 shots, and reasoning."""
    rows = []
    for number in range(24):
        construction, parity, id_ = "ab"[number // 12], number % 2, str(number)
        row = {"id": id_, "item": id_, "construction": construction, "prompt": "pq"[parity]}
        row |= {"kind": "inference", "set": ("templatic", "challenge", "reasoning")[number % 3], "gold": "0"}
        row |= {"shots": parity, "examples": "x" if parity else "none", "order": "", "template": f"t{parity}"}
        row |= {"reading": ("asserted", "denied")[number // 2 % 2], "cluster_wording": f"{construction} t{parity}"}
        if number % 3 == 2:
            row |= {"kind": "reasoning", "gold": "A", "shots": 0, "examples": "none", "order": "ABC"}
            row |= {"template": "", "reading": "", "cluster_wording": id_}
        row |= {"cluster_premise": str(number // 2), "test": "base"}
        row |= {"control": False, "answerable": True, "chain_of_thought": False}
        for asked, right in (("sum", number % 4 != 0), ("pmi", number < 6)):
            answer = row["gold"] if right else {"0": "1", "A": "B"}[row["gold"]]
            outcome = "right" if right else "wrong"
            rows.append(row | {"asked": asked, "answer": answer, "outcome": outcome, "credit": float(right)})
    return pd.DataFrame(rows)


def test_numbers_are_of_the_way_of_asking_that_decides_and_the_headline_has_no_intervals_of_parts():
    judged = judged_answers()
    metrics = metrics_of(judged, "pmi")
    assert list(metrics)[:7] == ["accuracy", "low", "high", "n", "accuracy_parsed", "n_parsed", "chance"]
    assert (metrics["accuracy"], metrics["n"], metrics["failed"]) == (6 / 24, 24, 0)
    assert (metrics["score.sum"], metrics["score.pmi"]) == (18 / 24, 6 / 24)
    own = judged[judged["asked"] == "pmi"]
    for name in ("templatic", "challenge", "reasoning"):
        assert metrics[f"set.{name}"] == own.loc[own["set"] == name, "credit"].mean()
        assert metrics[f"set.{name}_low"] <= metrics[f"set.{name}"] <= metrics[f"set.{name}_high"]
    headline = [*prompt_headline(metrics)]
    assert headline[:4] == ["accuracy", "low", "high", "n"]
    assert {"set.templatic", "set.challenge", "set.reasoning"} < {*headline}
    assert len(headline) <= 12
    assert not any(name.endswith(("_low", "_high")) for name in headline)


def test_ties_unparsed_replies_and_failures_have_their_rates_and_a_model_that_never_replied_has_no_accuracy():
    judged = judged_answers().query("asked == 'sum'").reset_index(drop=True)
    judged.loc[:2, ["answer", "outcome", "credit"]] = [["", "failed", 0.0], ["", "unparsed", 0.0], ["", "tied", 0.5]]
    metrics = metrics_of(judged, "sum")
    assert (metrics["n"], metrics["failed"]) == (23, 1 / 24)
    assert (metrics["unparsed"], metrics["tie_rate"]) == (1 / 23, 1 / 23)
    assert not any(name.startswith("score.") for name in metrics)
    assert metrics_of(judged.assign(outcome="failed"), "sum") == {"failed": 1.0}


def test_models_and_constructions_that_are_judged_together_have_the_numbers_of_each_alone():
    models = {"one": judged_answers(), "two": judged_answers().query("kind == 'inference' and asked == 'pmi'")}
    deciding = {"one": "sum", "two": "pmi"}
    together = answers_of_runs(judged_table(models))
    metrics, series = prompt_metrics(together, deciding), accuracy_by_shots(together, deciding)
    tables = prompt_tables(together, [*RUN_KEY, "asked"])
    assert set(metrics) == {(model, run) for model in models for run in ("a", "b", "all")}
    for (model, run), numbers in metrics.items():
        alone = judged_table({model: models[model]})
        alone = alone[alone["construction"].isin([run] if run != "all" else ["a", "b"])].reset_index(drop=True)
        assert metrics_of(alone, deciding[model]) == numbers
        of_run = alone.assign(run="all")
        assert accuracy_by_shots(of_run, deciding)[model, "all"] == series[model, run]
        for name, table in prompt_tables(alone, ["asked"]).items():
            rows = tables[name].query("model == @model and run == @run").drop(columns=RUN_KEY).reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, table, check_dtype=False)


def test_every_table_begins_with_what_it_is_of_and_counts_every_question_once():
    judged = judged_answers()
    tables = prompt_tables(judged, ["asked"])
    assert all(table.columns[0] == "asked" for table in tables.values())
    assert tables["outcomes"].groupby("asked")["questions"].sum().to_dict() == {"pmi": 24, "sum": 24}
    for name in ("accuracy_by_construction", "accuracy_by_setting", "accuracy_by_prompt"):
        assert tables[name].groupby("asked")["n"].sum().to_dict() == {"pmi": 24, "sum": 24}
    for name in ("accuracy_by_test", "accuracy_answerable"):
        assert tables[name].groupby("asked")["n"].sum().to_dict() == {"pmi": 8, "sum": 8}
    assert prompt_tables(judged[judged["kind"] == "inference"], ["asked"])["accuracy_by_test"].empty


def test_accuracy_among_the_parsed_leaves_out_what_has_no_answer_and_says_how_many_there_are():
    rows = [("0" if n < 3 else "?", "entailment", "a", n) for n in range(9)] + [("1", "entailment", "a", 9)]
    [row] = prompt_accuracy(table_of_replies(rows), ["construction"]).to_dict("records")
    assert (row["accuracy"], row["n"]) == (0.3, 10)
    assert (row["accuracy_parsed"], row["n_parsed"]) == (0.75, 4)
    assert row["parsed_low"] < 0.75 < row["parsed_high"]
    [nothing] = prompt_accuracy(table_of_replies(rows[3:9]), ["construction"]).to_dict("records")
    assert (nothing["accuracy"], nothing["n_parsed"]) == (0.0, 0)
    assert nothing["accuracy_parsed"] == nothing["parsed_low"] == nothing["parsed_high"] == ""


def test_chance_is_what_the_best_constant_answer_gets():
    golds = ["entailment"] * 5 + ["neutral"] * 3 + ["contradiction"] * 2
    judged = table_of_replies([("2", gold, "a", n) for n, gold in enumerate(golds)])
    assert prompt_accuracy(judged, ["construction"])["chance"].item() == 0.5
    # With a second kind there is a constant for each: 5 of 10 digits, and 2 of 4 letters.
    letters = judged[:4].assign(kind="reasoning", gold=["A", "B", "C", "C"])
    both = pd.concat([judged, letters], ignore_index=True)
    assert prompt_accuracy(both, ["construction"])["chance"].item() == (5 + 2) / 14
    # Where options are shown in every order, no constant answer knows which letter a reading has.
    readings = rotated(lambda number, order: "A", ["A", "A", "A"])
    assert prompt_accuracy(readings, ["asked"])["chance"].item() == pytest.approx(1 / 3)
    assert prompt_accuracy(readings[readings["order"] == "ABC"], ["asked"])["chance"].item() == 1.0


def rotated(answer_of, golds):
    """Judge answers to items, each in three orders; ``answer_of`` returns the letter for an item and an order."""
    rows = []
    for number, gold in enumerate(golds):
        for order in ("ABC", "BCA", "CAB"):
            answer, shown = answer_of(number, order), "ABC"[order.index(gold)]
            outcome = ("right" if answer == shown else "wrong") if answer else "unparsed"
            rows.append((f"{number}/{order}", str(number), order, shown, answer, outcome, float(outcome == "right")))
    table = pd.DataFrame(rows, columns=["id", "item", "order", "gold", "answer", "outcome", "credit"])
    asked = {"kind": "reasoning", "construction": "a", "asked": "reply", "prompt": "p", "shots": 0, "examples": "none"}
    asked |= {"chain_of_thought": False, "template": "", "cluster_wording": ""}
    return table.assign(**asked, cluster_premise=table["item"])


GOLDS = ["A", "B", "C", "C", "C", "C"]


@pytest.mark.parametrize(
    ("answer_of", "consistent", "accuracy"),
    [
        (lambda number, order: "A", 0.0, 1 / 3),  # always the first option
        (lambda number, order: "ABC"[order.index("C")], 1.0, 4 / 6),  # always "not enough information"
        (lambda number, order: "ABC"[order.index(GOLDS[number])], 1.0, 1.0),
        (lambda number, order: "ABC"[order.index("A")] if number < 3 else "B", 0.5, (1 + 3 * 1 / 3) / 6),
        (lambda number, order: "" if order == "CAB" else "ABC"[order.index("C")], 0.0, 4 / 6 * 2 / 3),
    ],
)
def test_consistency_is_the_share_of_items_with_the_same_option_in_all_orders(answer_of, consistent, accuracy):
    judged = rotated(answer_of, GOLDS)
    [row] = consistency_over_orders(judged, ["asked", "construction", "prompt"]).to_dict("records")
    assert (row["consistent"], row["n"], row["orders"], row["clusters"]) == (consistent, 6, 3, 6)
    assert row["low"] <= consistent <= row["high"]
    [rates] = prompt_accuracy(judged, ["asked"]).to_dict("records")
    assert rates["accuracy"] == pytest.approx(accuracy)
    # Every letter is right in a third of the questions, but "not enough information" in four items of six.
    assert rates["chance"] == pytest.approx(4 / 6)
    assert consistency_over_orders(judged[judged["order"] == "ABC"], ["asked"]).empty
    judged.loc[0, ["outcome", "answer"]] = ["failed", ""]
    assert consistency_over_orders(judged, ["asked"])["n"].item() == 5


def test_accuracies_by_template_are_those_of_their_items():
    judged = judged_answers()
    table = prompt_tables(judged, ["asked"])["accuracy_by_template"]
    assert table["n"].sum() == 2 * (judged["kind"] == "inference").sum() / 2
    rates = judged.groupby(["asked", "construction", "set", "template"])["credit"].mean()
    for row in table.itertuples():
        assert row.accuracy == pytest.approx(rates[row.asked, row.construction, row.set, row.template])
        assert (row.relations, row.chance) == ("0", 1.0)
        assert row.left_out == "wording"
    without = prompt_tables(judged.assign(template="", cluster_wording=judged["id"]), ["asked"])
    assert without["accuracy_by_template"].empty


QUESTIONS = pd.DataFrame({"id": list("abcd"), "kind": ["inference"] * 2 + ["reasoning"] * 2, "gold": list("10BC")})
QUESTIONS = QUESTIONS.assign(chain_of_thought=[False, False, False, True], cluster_premise=list("ppqq"))
GIVEN = pd.DataFrame({"id": list("dcba"), "reply": ["A says so.", "", "Answer: 1", "Answer: 1"]})
GIVEN = GIVEN.assign(failed=[False, True, False, False], error=["", "no connection", "", ""])


def test_a_reader_that_compares_strings_exactly_takes_a_digit_or_letter_alone():
    replies = GIVEN.assign(reply=["C", "", "Answer: 1", "1"])
    judged = judge_reply_table(QUESTIONS, replies, "exact")
    assert judged["outcome"].tolist() == ["right", "unparsed", "failed", "right"]
    assert judge_reply_table(QUESTIONS, replies, "stated")["outcome"].tolist() == ["right", "wrong", "failed", "right"]


def test_every_question_is_judged_by_its_own_reply_in_whatever_order_they_came():
    judged = judge_reply_table(QUESTIONS, GIVEN)
    assert judged["id"].tolist() == QUESTIONS["id"].tolist()
    assert judged["outcome"].tolist() == ["right", "wrong", "failed", "unparsed"]
    assert judged["answer"].tolist() == ["1", "1", "", ""]
    assert judged["credit"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert judged["cluster_premise"].tolist() == ["p", "p", "q", "q"]
    with pytest.raises(DataError, match=r"not those to the questions \(3 replies, 4 questions\); run ask_prompts"):
        judge_reply_table(QUESTIONS, GIVEN[:3])
    with pytest.raises(DataError, match="4 replies, 4 questions"):
        judge_reply_table(QUESTIONS, GIVEN.replace({"id": {"a": "e"}}))
