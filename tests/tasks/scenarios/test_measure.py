import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.tasks.scenarios.measure import baseline_scores

FACT = "Ann is taller than Bob. Therefore, Ann is [MASK] than Bob."
KINDS = ("fixed_word", "last_rule", "copier")


def chosen(kind: str, text: str, first: str, second: str) -> str:
    """Return the word that a baseline chooses, or "" for none."""
    row = baseline_scores(kind, pd.DataFrame({"text": [text], "first": [first], "second": [second]})).iloc[0]
    assert np.exp(row["log_p_first"]) + np.exp(row["log_p_second"]) == pytest.approx(1)
    if row["log_p_first"] == row["log_p_second"]:
        return ""
    return first if row["log_p_first"] > row["log_p_second"] else second


def rules(a: str, b: str, c: str, d: str) -> str:
    return f"The {a} you are, the {b} you are. The {c} you are, the {d} you are."


def test_a_fixed_word_is_the_same_whatever_the_text_says():
    text = f"{rules('taller', 'wiser', 'shorter', 'duller')} {FACT}"
    assert chosen("fixed_word", text, "wiser", "duller") == "duller"
    assert chosen("fixed_word", "Ann is [MASK].", "duller", "wiser") == "duller"


def test_the_last_rule_has_the_last_of_the_two_words_before_the_mask():
    there, turned = rules("taller", "wiser", "shorter", "duller"), rules("shorter", "duller", "taller", "wiser")
    assert chosen("last_rule", f"{there} {FACT}", "wiser", "duller") == "duller"
    assert chosen("last_rule", f"{turned} {FACT}", "wiser", "duller") == "wiser"
    assert chosen("last_rule", f"{there} Ann is [MASK], not wiser.", "wiser", "duller") == "duller"
    assert chosen("last_rule", FACT, "wiser", "duller") == ""
    text = "The likelier it is, the less likely she is. It is [MASK]."
    assert chosen("last_rule", text, "likely", "less likely") == "likely"  # inside the other, and later
    assert chosen("last_rule", text, "like", "likelier") == "likelier"


def test_the_copier_takes_what_followed_the_word_of_the_fact():
    there = rules("taller", "wiser", "shorter", "duller")
    for text in (there, rules("shorter", "duller", "taller", "wiser"), there.replace("taller", "Taller")):
        assert chosen("copier", f"{text} {FACT}", "wiser", "duller") == "wiser"
        assert chosen("copier", f"{text} {FACT}", "duller", "wiser") == "wiser"
        assert chosen("copier", f"{text} {FACT.replace('taller', 'shorter')}", "wiser", "duller") == "duller"
    other = FACT.replace("taller", "older")
    assert chosen("copier", f"{there} {other}", "wiser", "duller") == ""


@settings(deadline=None, max_examples=40)
@given(st.permutations(["wiser", "duller", "taller", "shorter"]))
def test_the_order_of_the_candidates_changes_nothing(words):
    for kind in KINDS:
        text = f"{rules(*words)} {FACT}"
        assert chosen(kind, text, "wiser", "duller") == chosen(kind, text, "duller", "wiser")
