"""Pairs judged by replies in words, in both orders: against counting by hand, and models whose answers are known."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_pairs import crossed, metrics_of, own

from cxprobe.pairs.judge import JudgedPairs, biases_of
from cxprobe.pairs.replies import asked_metrics, asked_rates, judge_replies, read_replies

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


class Asked(NamedTuple):
    """What a model replied about pairs, judged."""

    judged: JudgedPairs
    replies: pd.DataFrame

    @property
    def metrics(self) -> dict[str, float]:
        (rates,) = asked_rates(self.replies.assign(every=""), ["every"]).to_dict("records")
        return (metrics_of(self.judged) if len(self.judged.items) else {}) | asked_metrics(rates)


def judged(say) -> Asked:
    table = pairs()
    read = read_replies(table, asked_about(table, say), own())
    return Asked(judge_replies(table, read, own()), read)


REPLIES = {"A": "A", "B": "b.", "open": "A or B", "nothing": "I cannot say.", "failed": None}


@pytest.mark.pipeline
@settings(max_examples=10)
@given(st.lists(st.sampled_from(sorted(REPLIES)), min_size=48, max_size=48))
def test_accuracies_and_shares_are_those_that_are_counted_by_hand(answers):
    given_ = iter(answers)
    said = {(id_, gold): next(given_) for id_ in pairs()["id"] for gold in ORDERS}
    found = judged(lambda gold, id_: REPLIES[said[id_, gold]])
    credits, same, letters = {}, [], []
    for id_ in pairs()["id"]:
        read = {gold: said[id_, gold] for gold in ORDERS if said[id_, gold] in ORDERS}
        letters += read.values()
        if read:
            credits[id_] = np.mean([answer == gold for gold, answer in read.items()])
        if len(read) == 2:
            same.append(read["A"] != read["B"])  # two letters are the same text
    items = found.judged.items.set_index("id")["accuracy"]
    assert items.to_dict() == credits
    (rates,) = asked_rates(found.replies, ["construction"]).to_dict("records")
    assert (rates["pairs"], rates["requests"], rates["left_out"]) == (24, 48, 24 - len(credits))
    assert rates["unparsed"] == sum(answer in ("open", "nothing") for answer in answers)
    assert rates["failed"] == answers.count("failed")
    assert (rates["n_consistency"], rates["n_parsed"]) == (len(same), len(letters))
    assert rates["consistency"] == (pytest.approx(np.mean(same)) if same else "")
    assert rates["position_bias"] == (pytest.approx(np.mean([one == "A" for one in letters])) if letters else "")
    if credits:
        assert metrics_of(found.judged)["accuracy"] == pytest.approx(np.mean(list(credits.values())))
    for rate in ("consistency", "position_bias"):
        if rates[rate] != "":
            assert rates[f"{rate}_low"] <= rates[rate] <= rates[f"{rate}_high"]


def test_what_could_not_be_read_is_neither_right_nor_wrong_and_a_single_reply_decides():
    lost = {"toy-0-A-original": "Who knows?", "toy-1-A-original": None}
    found = judged(lambda gold, id_: lost.get(id_, gold) if gold == "B" or id_ == "toy-0-A-original" else gold)
    items = found.judged.items.set_index("id")["accuracy"]
    assert "toy-0-A-original" not in items
    assert items["toy-1-A-original"] == 1.0  # one of its two requests failed
    assert len(items) == 23
    assert items.eq(1.0).all()
    metrics = found.metrics
    assert (metrics["unparsed"], metrics["failed"]) == (2 / 47, 1 / 48)
    assert metrics["n_consistency"] == 22


def test_biases_leave_out_items_that_were_decided_in_one_way_only():
    found = judged(lambda gold, id_: "?" if id_ == "toy-0-A-original" else gold).judged.items
    by_way = biases_of(found, ["construction", "noun_type"]).set_index("compares")
    assert by_way["n"].to_dict() == {"order": 11, "variant": 11}
    assert by_way["bias"].to_dict() == {"order": 0.0, "variant": 0.0}
