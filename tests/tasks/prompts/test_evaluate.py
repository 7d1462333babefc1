"""Rates of answers to questions, against plain loops over made-up answers; and how replies are evaluated."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cxprobe.errors import DataError
from cxprobe.results.rates import rates_of, with_all
from cxprobe.tasks.prompts.evaluate import (
    BY_SETTING,
    FACETS,
    beside_controls,
    choose_by_rule,
    prompt_responses,
    rates_beside_constant,
    read_replies,
)
from cxprobe.tasks.prompts.params import RELATIONS

pytestmark = pytest.mark.pipeline

REPLIES = [None, "", "0", "1", "2", "Answer: 0 or 1"]
PLAIN = {"shots": 0, "examples": "none", "chain_of_thought": False, "order": "", "test": "", "reading": ""}
PLAIN |= {"template": "", "answerable": True, "prompt": "p", "cluster_wording": ""}


def rates(evaluated: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of one model."""
    responses = prompt_responses(evaluated).assign(task="prompts", model="m")
    return rates_of(with_all(responses), FACETS, rates_beside_constant)


def table_of_replies(rows) -> pd.DataFrame:
    """Evaluate replies and return the table that is summed up."""
    table = []
    for number, (reply, relation, construction, premise) in enumerate(rows):
        id_, gold = f"i{number}", str(RELATIONS.index(relation))
        table.append((id_, id_, construction, gold, str(premise), reply or "", reply is None))
    columns = ["id", "item", "construction", "gold", "cluster_premise", "reply", "failed"]
    asked = pd.DataFrame(table, columns=columns).assign(**PLAIN, set="templatic", kind="inference")
    return read_replies(asked.drop(columns=["reply", "failed"]), asked)


def test_a_rate_is_that_of_the_replies_there_were():
    rows = [(*row, number % 4) for number, row in enumerate(product(REPLIES, RELATIONS, "ab"))]
    evaluated = table_of_replies([*rows, (None, "neutral", "c", 0)])
    table = rates(evaluated)
    assert set(table["question"]) == {"words"}
    found = table[BY_SETTING.among(table)].set_index(["construction", "measure"])
    for construction, every in evaluated.groupby("construction"):
        own = every[~every["failed"]]
        expected = {"failed": every["failed"], "accuracy": own["credit"], "unparsed": own["answer"] == ""}
        expected["accuracy_parsed"] = own.loc[own["answer"] != "", "credit"]
        means = {
            measure: (pytest.approx(values.mean()), len(values)) for measure, values in expected.items() if len(values)
        }
        rows = found.loc[construction]
        assert rows[["value", "n"]].apply(tuple, axis=1).to_dict() == means
        assert own.empty or rows.at["accuracy", "chance"] == own["gold"].value_counts().max() / len(own)


def test_the_fewest_examples_decide_and_neither_reasoning_nor_a_control_does():
    asked = [("a", "templatic", 0), ("a", "templatic", 1), ("b", "templatic", 1), ("b", "templatic", 3)]
    asked += [("b", "challenge", 3)]
    evaluated = pd.DataFrame(asked, columns=["construction", "set", "shots"])
    evaluated = evaluated.assign(**PLAIN | {"shots": evaluated["shots"]}, answer="0", gold="0", credit=1.0)
    evaluated = evaluated.assign(item=evaluated.index.astype(str), cluster_premise="p")
    responses = prompt_responses(evaluated)
    deciding = responses[responses["decides"]]
    assert deciding[["construction", "source", "shots"]].apply(tuple, axis=1).tolist() == [asked[n] for n in (0, 2, 4)]
    assert deciding[["measure", "question"]].drop_duplicates().to_numpy().tolist() == [["accuracy", "words"]]
    assert not prompt_responses(evaluated.assign(chain_of_thought=True))["decides"].any()
    control = prompt_responses(evaluated.assign(set="templatic-control"))
    assert not control["decides"].any()
    [compared] = [facet for facet in FACETS if not facet.columns]
    assert compared.divide(control).empty


def rotated(answer_of, golds):
    """Evaluate answers to items, each in three orders; ``answer_of`` returns the letter for an item and an order."""
    rows = []
    for number, gold in enumerate(golds):
        for order in ("ABC", "BCA", "CAB"):
            answer, shown = answer_of(number, order), "ABC"[order.index(gold)]
            rows.append((f"{number}/{order}", str(number), order, shown, answer, float(answer == shown), False))
    table = pd.DataFrame(rows, columns=["id", "item", "order", "gold", "answer", "credit", "failed"])
    asked = {name: value for name, value in PLAIN.items() if name != "order"}
    return table.assign(**asked, construction="a", set="reasoning", cluster_premise=table["item"])


GOLDS = ["A", "B", "C", "C", "C", "C"]


@pytest.mark.parametrize(
    ("answer_of", "accuracy"),
    [
        (lambda number, order: "A", 1 / 3),  # always the first option
        (lambda number, order: "ABC"[order.index("C")], 4 / 6),  # always "not enough information"
        (lambda number, order: "ABC"[order.index(GOLDS[number])], 1.0),
        (lambda number, order: "ABC"[order.index("A")] if number < 3 else "B", (1 + 3 * 1 / 3) / 6),
        (lambda number, order: "" if order == "CAB" else "ABC"[order.index("C")], 4 / 6 * 2 / 3),
    ],
)
def test_a_model_that_always_gives_the_same_letter_or_option_is_no_better_than_chance(answer_of, accuracy):
    table = rates(rotated(answer_of, GOLDS))
    found = table[BY_SETTING.among(table) & (table["construction"] == "a")].set_index("measure")
    assert found.at["accuracy", "value"] == pytest.approx(accuracy)
    # Every letter is right in a third of the questions, but "not enough information" in four items of six.
    assert found.at["accuracy", "chance"] == pytest.approx(4 / 6)


@pytest.mark.parametrize(("orders", "chance"), [(["ABC", "BCA", "CAB"], 1 / 3), (["ABC"], 1.0)])
def test_no_constant_answer_knows_which_letter_a_reading_has(orders, chance):
    table = rotated(lambda number, order: "A", ["A", "A", "A"])
    [found] = rates(table[table["order"].isin(orders)]).query("decides and construction == 'a'")["chance"]
    assert found == pytest.approx(chance)


def compared_rates(*control_lows: float) -> pd.DataFrame:
    """Return the rate of a model on a construction, and on controls with these lower ends of its intervals."""
    rows = [("toy", "templatic", "0", "False", "none", 0.2), ("toy", "templatic", "", "", "", 0.3)]
    rows += [(f"plain-{n}", "templatic-control", "0", "False", "none", low) for n, low in enumerate(control_lows)]
    table = pd.DataFrame(rows, columns=["construction", "source", "shots", "chain_of_thought", "examples", "low"])
    table = table.assign(model="m", measure="accuracy", value=table["low"] + 0.1, high=table["low"] + 0.2, n=30)
    compared = table["shots"] == ""
    numbers = dict.fromkeys(["difference", "diff_low", "diff_high", "p_adjusted"], 0.25)
    table = table.assign(chance=1 / 3, baseline=np.where(compared, "rule", ""), **numbers)
    table.loc[~compared, [*numbers]] = np.nan
    return table


@pytest.mark.parametrize(("lows", "worst"), [((0.3,), 0.3), ((0.4,), 0.4), ((0.3, 0.4), 0.3), ((0.5, 0.4), 0.4)])
def test_of_controls_in_the_same_setting_the_one_that_the_model_is_the_least_above_chance_in_counts(lows, worst):
    table = beside_controls(compared_rates(*lows))
    row = table.iloc[0]
    assert (row["control_low"], row["passes_control"]) == (worst, worst > 1 / 3)
    assert (row["baseline"], row["difference"]) == ("rule", 0.25)  # over all settings
    assert table["passes_control"].iloc[1:].isna().all()
    assert beside_controls(compared_rates())["passes_control"].isna().all()


QUESTIONS = pd.DataFrame({"id": list("abcd"), "kind": ["inference"] * 2 + ["reasoning"] * 2, "gold": list("10BC")})
QUESTIONS = QUESTIONS.assign(chain_of_thought=[False, False, False, True], cluster_premise=list("ppqq"))
QUESTIONS = QUESTIONS.assign(option_a="", option_b="", option_c="")
GIVEN = pd.DataFrame({"id": list("dcba"), "reply": ["A says so.", "", "Answer: 1", "Answer: 1"]})
GIVEN = GIVEN.assign(failed=[False, True, False, False], error=["", "no connection", "", ""])


def test_every_question_is_evaluated_by_its_own_reply_in_whatever_order_they_came():
    evaluated = read_replies(QUESTIONS, GIVEN)
    assert evaluated["id"].tolist() == QUESTIONS["id"].tolist()
    assert evaluated["failed"].tolist() == [False, False, True, False]
    assert evaluated["answer"].tolist() == ["1", "1", "", ""]
    assert evaluated["credit"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert evaluated["cluster_premise"].tolist() == ["p", "p", "q", "q"]
    for replies in (GIVEN[:3], GIVEN.replace({"id": {"a": "e"}})):
        with pytest.raises(DataError, match=rf"not those to the questions \({len(replies)} replies, 4 questions\)"):
            read_replies(QUESTIONS, replies)


def items() -> pd.DataFrame:
    rows = [(f"i{n}", "inference", "own", "toy", "", True, gold, f"p{n}") for n, gold in enumerate("0120120120")]
    columns = ["id", "kind", "set", "construction", "test", "answerable", "gold", "cluster_premise"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(template="", reading="", cluster_wording=table["id"])


def baseline_answers(chosen: str) -> pd.DataFrame:
    """Return answers to the first items: for each the symbol that is chosen, or "-" where there is no choice."""
    rows = []
    for n, own in enumerate(chosen):
        rates = {symbol: 1 / 3 if own == "-" else 0.6 if symbol == own else 0.2 for symbol in "012"}
        rows += [(f"i{n}", symbol, np.log(rate)) for symbol, rate in rates.items()]
    return pd.DataFrame(rows, columns=["id", "symbol", "log_p"])


def test_a_baseline_answers_an_item_once_and_some_items_not_at_all():
    evaluated = choose_by_rule(items(), baseline_answers("0-0"))
    assert evaluated["id"].tolist() == evaluated["item"].tolist() == ["i0", "i1", "i2"]
    assert evaluated["credit"].tolist() == pytest.approx([1, 1 / 3, 0])
    assert evaluated["answer"].tolist() == ["0", "", "0"]
    assert (evaluated[["prompt", "shots", "examples"]] == ["none", 0, "none"]).all(axis=None)
    assert prompt_responses(evaluated)["decides"].all()
    assert choose_by_rule(items(), baseline_answers("")).empty
