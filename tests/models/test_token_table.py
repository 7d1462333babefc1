"""Scores of tokens as tables and as files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.models.language_models import read_model_facts
from cxprobe.models.texts import (
    TokenScores,
    read_pair_answers,
    token_table,
    write_token_scores,
)
from cxprobe.run.record import ModelFacts

NUMBERS = st.one_of(st.floats(max_value=0, allow_nan=False, allow_infinity=False), st.just(np.nan))
TOKENS = st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 99), NUMBERS)
SCORES = st.tuples(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["causal", "pll", "pll_word_l2r"]),
    st.lists(TOKENS, min_size=1, max_size=5),
)


def scores_of(text, scheme, tokens) -> TokenScores:
    ids, starts, stops, words, log_probs = zip(*tokens, strict=True)
    spans = np.array([starts, stops], dtype=np.int64).T
    return TokenScores(
        text, scheme, np.array(ids, dtype=np.int32), spans, np.array(words, dtype=np.int64), np.array(log_probs)
    )


@settings(deadline=None, max_examples=50)  # each writes files
@given(st.lists(SCORES, max_size=4))
def test_scores_come_back_from_a_file_exactly_as_they_were(tmp_path_factory, drawn):
    folder = tmp_path_factory.mktemp("scores")
    scores = [scores_of(*one) for one in drawn]
    facts = ModelFacts("models/tiny", "causal", 12, "sha256 abc")
    write_token_scores(scores, facts, folder)
    found, expected = read_table(folder / "tokens.parquet"), token_table(scores)
    assert found.columns.tolist() == expected.columns.tolist()
    for name in expected:
        for one, other in zip(found[name], expected[name], strict=True):
            assert getattr(one, "dtype", str) == getattr(other, "dtype", str)
            np.testing.assert_array_equal(one, other)
    assert read_model_facts(folder) == facts


def test_the_answers_to_pairs_are_scores_of_tokens_or_preferences(tmp_path):
    facts = ModelFacts("x", "baseline", None, "", "none")
    scores = [scores_of("the cat", "causal", [(7, 0, 3, 0, -1.0)])]
    write_token_scores(scores, facts, tmp_path / "one")
    write_table(pd.DataFrame({"id": ["a"], "margin": [1.0]}), tmp_path / "two" / "preferences.parquet")
    assert read_pair_answers(tmp_path / "one").columns.tolist() == token_table(scores).columns.tolist()
    assert read_pair_answers(tmp_path / "two").to_dict("list") == {"id": ["a"], "margin": [1.0]}
    with pytest.raises(DataError, match=r"has neither tokens\.parquet nor preferences\.parquet"):
        read_pair_answers(tmp_path / "three")
