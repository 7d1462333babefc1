import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.likelihood import (
    SCORES,
    decide,
    given_context,
    per_character,
    per_token,
    pmi,
    total,
)
from cxprobe.records import TokenScores

NAN = float("nan")


def scored(text, spans, log_probs, ids=None) -> TokenScores:
    numbers = list(range(len(spans))) if ids is None else ids
    return TokenScores(
        text, "causal", np.array(numbers), np.array(spans), np.arange(len(spans)), np.array(log_probs, dtype=float)
    )


#                       the     ␣old    ␣cat     s
WHOLE = scored("the old cats", [(0, 3), (3, 7), (8, 11), (11, 12)], [-1.0, -2.0, -4.0, -0.5])
FIRST_UNSCORED = scored("the old cats", [(0, 3), (3, 7), (8, 11), (11, 12)], [NAN, -2.0, -4.0, -0.5])


def test_scores_by_name():
    assert {name: score(WHOLE) for name, score in SCORES.items()} == {
        "sum": -7.5,
        "per_token": -7.5 / 4,
        "per_character": -7.5 / 10,
    }


def test_only_scored_tokens_count_in_a_denominator():
    assert total(FIRST_UNSCORED) == -6.5
    assert per_token(FIRST_UNSCORED) == -6.5 / 3
    assert per_character(FIRST_UNSCORED) == -6.5 / 7


def test_a_character_of_several_tokens_counts_once():
    assert per_character(scored("é", [(0, 1), (0, 1)], [-1.0, -3.0])) == -4.0


def test_given_context_takes_the_tokens_that_end_in_the_part():
    assert given_context(WHOLE, 8) == -4.5
    assert given_context(WHOLE, 4) == given_context(WHOLE, 3) == -6.5
    with pytest.raises(DataError, match="not every token from character 0 on has a score"):
        given_context(FIRST_UNSCORED, 0)
    with pytest.raises(DataError, match="not every token from character 12 on has a score"):
        given_context(WHOLE, 12)


def test_pmi_is_what_the_context_adds():
    alone = scored("cats", [(0, 3), (3, 4)], [-6.0, -0.75])
    assert pmi(WHOLE, 8, alone) == -4.5 + 6.75
    with pytest.raises(DataError, match="'the old cats' from character 7 on is not 'cats'"):
        pmi(WHOLE, 7, alone)
    with pytest.raises(DataError, match="'cats': not every token from character 0 on has a score"):
        pmi(WHOLE, 8, scored("cats", [(0, 3), (3, 4)], [NAN, -0.75]))


def test_a_text_without_a_scored_token_has_no_score():
    with pytest.raises(DataError, match="'a' has no scored token"):
        total(scored("a", [(0, 1)], [NAN]))


def test_a_tie_is_half_whichever_member_stands_first():
    decisions = decide(["a", "b", "c", "d"], [-1.0, -2.0, -3.0, -4.0], [-1.0, -1.0, -4.0, -4.0])
    assert decisions.credits.tolist() == [0.5, 0.0, 1.0, 0.5]
    assert decisions.margins.tolist() == [0.0, -1.0, 1.0, 0.0]
    assert decisions.tie_rate == 0.5


@given(st.lists(st.tuples(*[st.floats(-1e6, 0)] * 2), min_size=1))
def test_exchanging_the_members_gives_the_other_credit(pairs):
    ids, (one, other) = [str(number) for number in range(len(pairs))], zip(*pairs, strict=True)
    there, back = decide(ids, one, other), decide(ids, other, one)
    np.testing.assert_array_equal(there.credits + back.credits, 1)
    np.testing.assert_array_equal(there.credits, [0.5 if a == b else float(a > b) for a, b in pairs])


def test_a_score_that_is_not_finite_names_its_pair():
    for broken in (NAN, float("inf")):
        with pytest.raises(DataError, match=r"pair b: a score is not finite"):
            decide(["a", "b"], [-1.0, -2.0], [-1.0, broken])
    with pytest.raises(DataError, match="decisions need pairs with two scores each"):
        decide([], [], [])
