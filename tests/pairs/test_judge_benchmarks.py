import numpy as np
import pandas as pd
import pytest
from judged_pairs import of_benchmark

from cxprobe.errors import DataError
from cxprobe.lm.texts import TokenScores, token_table
from cxprobe.pairs.judge import decide_pairs, paired_focus_shifts, with_groups
from cxprobe.pairs.params import Benchmark
from cxprobe.stats import credits_of_margins, rate_by

TEXTS = {"She sings.": -1.0, "She sing.": -2.0, "He ran.": -3.0, "He run.": -3.0, "We go.": -9.0, "We goes.": -4.0}
PAIRS = pd.DataFrame(
    [
        ("a", "", "She sings.", "She sing.", "agreement", "x"),
        ("b", "", "He ran.", "He run.", "tense", "x"),
        ("c", "", "We go.", "We goes.", "agreement", "y"),
    ],
    columns=["id", "context", "good", "bad", "phenomenon", "field"],
).assign(item=list("abc"), cluster_item=list("abc"))


def tokens(text, log_prob):
    spans = np.array([(0, len(text))])
    return TokenScores(text, "causal", np.array([1]), spans, np.array([0]), np.array([log_prob]))


ANSWERS = token_table([tokens(*one) for one in TEXTS.items()])


def judge(name, pairs, settings):
    judged = decide_pairs(pairs, ANSWERS, of_benchmark(settings, name))
    return type(judged).joined({"m": judged})


def rates_of(rows, by, *keys):
    return rate_by(with_groups(rows, by), "accuracy", ["group", *keys])


def benchmark(**changes) -> Benchmark:
    every = {"format": "blimp", "files": "*", "by": ["phenomenon", "field"], "score": "sum"}
    return Benchmark(**every | changes)


def test_a_benchmark_is_judged_by_its_own_score_and_by_those_of_whole_texts():
    judged = judge("others", PAIRS, benchmark(score="per_character"))
    assert judged.items["accuracy"].tolist() == [1.0, 0.5, 0.0]
    assert judged.items["score"].unique().tolist() == ["per_character"]
    assert set(judged.scores["score"]) == {"sum", "per_token", "per_character"}


def test_the_accuracies_are_those_of_all_and_of_each_group():
    items = judge("others", PAIRS, benchmark()).items
    rates = rates_of(items, ["phenomenon"])
    assert rates[["group", "accuracy", "n", "ties"]].to_numpy().tolist() == [
        ["all", 0.5, 3, 1],
        ["agreement", 0.5, 2, 0],
        ["tense", 0.5, 1, 1],
    ]
    assert rates_of(items, [])["group"].tolist() == ["all"]
    assert with_groups(items, ["phenomenon", "field"])["group"].tolist()[3:] == [
        "agreement, x",
        "tense, x",
        "agreement, y",
    ]


def focus(margins):
    rows = [
        {"item": item, "row": row, "cluster_verb": item, "margin": margin, "scheme": "causal", "score": "sum"}
        for item, pair in margins.items()
        for row, margin in zip(("construction", "control"), pair, strict=True)
    ]
    return pd.DataFrame(rows)


def test_paired_focus_asks_whether_the_construction_shifts_the_odds_the_expected_way():
    shifts = paired_focus_shifts(focus({"up": (0.2, -1.0), "down": (0.5, 1.0), "same": (-3.0, -3.0)}))
    assert shifts.set_index("item")["margin"].to_dict() == {"up": 1.2, "down": -0.5, "same": 0}
    credits = credits_of_margins(shifts["margin"].to_numpy())
    accuracy = rate_by(shifts.assign(accuracy=credits), "accuracy", ["row"])
    assert accuracy[["row", "accuracy", "n", "ties"]].to_numpy().tolist() == [["construction", 0.5, 3, 1]]


def test_paired_focus_needs_the_control_of_every_row():
    with pytest.raises(DataError, match="one row of the construction and one of the control"):
        paired_focus_shifts(focus({"one": (1.0, 0.0), "two": (1.0, 0.0)}).iloc[:-1])
