"""Pairs judged by replies in words, in both orders: against counting by hand, and models whose answers are known."""

import numpy as np
import pandas as pd
import pytest
from evaluated_pairs import crossed, own, rates_of_pairs, responses_of
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.tasks.pairs.evaluate import evaluate_replies, read_replies, reply_responses

ORDERS = ("A", "B")


def pairs() -> pd.DataFrame:
    """Return pairs in two variants and two orders, with clusters of frames."""
    table = crossed(number=range(6), variant=["A", "B"], order=["original", "switched"])
    table["item"] = [f"toy-{number}" for number in table["number"]]
    table["id"] = table["item"] + "-" + table["variant"] + "-" + table["order"]
    table["cluster_frame"] = [f"f{number % 3}" for number in table.pop("number")]
    is_ann = (table["variant"] == "A") == (table["order"] == "original")
    good, bad = (np.where(ann, " It was Ann.", " It was Bo.") for ann in (is_ann, ~is_ann))
    return table.assign(context="Ann sent Bo a card.", good=good, bad=bad)


def asked_about(table: pd.DataFrame, say) -> pd.DataFrame:
    """Return the replies of a model that says ``say(gold, id)``; None for a request that failed."""
    rows = []
    for id_, context, good, bad in table[["id", "context", "good", "bad"]].itertuples(index=False, name=None):
        for gold in ORDERS:
            a, b = (context + good, context + bad) if gold == "A" else (context + bad, context + good)
            said = say(gold, id_)
            rows.append((f"{id_}/{gold}", id_, gold, a, b, said or "", said is None, ""))
    columns = ["id", "pair", "gold", "option_a", "option_b", "reply", "failed", "error"]
    return pd.DataFrame(rows, columns=columns)


def judged(say) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the decided pairs of a model, and its rates by measure."""
    table = pairs()
    read = read_replies(table, asked_about(table, say))
    decided = evaluate_replies(table, read, own())
    replies = reply_responses(read).assign(task="pairs", model="m")
    responses = pd.concat([responses_of({"m": decided}), replies], ignore_index=True)
    return decided, rates_of_pairs(responses).loc["toy", "real"].droplevel("model")


REPLIES = {"A": "A", "B": "b.", "open": "A or B", "nothing": "I cannot say.", "failed": None}


@pytest.mark.pipeline
@settings(max_examples=10)
@given(st.lists(st.sampled_from(sorted(REPLIES)), min_size=48, max_size=48))
def test_accuracies_and_shares_are_those_that_are_counted_by_hand(answers):
    given_ = iter(answers)
    said = {(id_, gold): next(given_) for id_ in pairs()["id"] for gold in ORDERS}
    decided, rates = judged(lambda gold, id_: REPLIES[said[id_, gold]])
    credits, letters = {}, []
    for id_ in pairs()["id"]:
        read = {gold: said[id_, gold] for gold in ORDERS if said[id_, gold] in ORDERS}
        letters += read.values()
        if read:
            credits[id_] = np.mean([answer == gold for gold, answer in read.items()])
    assert decided.set_index("id")["accuracy"].to_dict() == credits
    failed = [answer == "failed" for answer in answers]
    unparsed = [answer in ("open", "nothing") for answer in answers if answer != "failed"]
    is_a = [one == "A" for one in letters]
    counted = {"position_bias": is_a, "unparsed": unparsed, "failed": failed}
    for measure, values in {**counted, "accuracy": [*credits.values()]}.items():
        assert (measure in rates.index) == bool(values)
        if values:
            row = rates.loc[measure]
            assert (row["value"], row["n"]) == (pytest.approx(np.mean(values)), len(values))
            assert row["low"] <= row["value"] <= row["high"]


def test_replies_about_other_pairs_are_refused():
    replies = asked_about(pairs(), lambda gold, _: gold)
    with pytest.raises(DataError, match="pairs were asked about that are not there"):
        read_replies(pairs(), replies.assign(pair="old-" + replies["pair"]))


def test_biases_leave_out_items_that_were_decided_in_one_way_only():
    decided, _ = judged(lambda gold, id_: "?" if id_ == "toy-0-A-original" else gold)
    rates = rates_of_pairs(responses_of({"m": decided}), "compared", "noun_type").loc["toy", "real"]
    assert rates.index.unique("measure").tolist() == ["bias"]
    assert rates["n"].tolist() == [11, 11]
    assert rates["value"].tolist() == [0.0, 0.0]
