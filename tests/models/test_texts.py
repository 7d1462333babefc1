"""Tokens of texts and their words, and the scores of tokens as tables and as files."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_lms import tokenizer_of
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table, write_table
from cxprobe.models.texts import TokenScores, encode, ends_of_words, read_pair_answers, token_table

TEXT = "the old cats, too"
GOLDEN = {
    "bert": (
        ["[CLS]", "the", "old", "cat", "##s", ",", "too", "[SEP]"],
        [[0, 3], [4, 7], [8, 11], [11, 12], [12, 13], [14, 17]],
        [0, 1, 2, 2, 3, 4],
    ),
    "roberta": (
        ["<s>", "t", "h", "e", "Ġold", "Ġcat", "s", ",", "Ġtoo", "</s>"],
        [[0, 1], [1, 2], [2, 3], [4, 7], [8, 11], [11, 12], [12, 13], [14, 17]],
        [0, 0, 0, 1, 2, 2, 3, 4],
    ),
    "deberta-v2": (
        ["[CLS]", "▁the", "▁old", "▁cat", "s", ",", "▁too", "[SEP]"],
        [[0, 3], [3, 7], [7, 11], [11, 12], [12, 13], [13, 17]],
        [0, 1, 2, 2, 3, 4],
    ),
}


@pytest.mark.parametrize("kind", GOLDEN)
def test_ids_spans_and_words_of_each_family_of_tokenizers_are_the_known_ones(kind):
    tokenizer = tokenizer_of(kind)
    tokens, spans, words = GOLDEN[kind]
    encoded = encode(tokenizer, [TEXT], special_tokens=True)[0]
    assert encoded.ids.tolist() == [tokenizer.get_vocab()[token] for token in tokens]
    assert encoded.text_ids.tolist() == encoded.ids.tolist()[1:-1]
    assert encoded.spans.tolist() == spans
    assert encoded.words.tolist() == words
    bare = encode(tokenizer, [TEXT], special_tokens=False)[0]
    assert bare.ids.tolist() == encoded.text_ids.tolist()
    assert bare.spans.tolist() == spans


def test_a_blank_that_is_a_token_and_the_bytes_of_one_character_belong_to_their_word():
    [blanks] = encode(tokenizer_of("deberta-v2"), ["the oxen sing"], special_tokens=False)  # the, _ o x e n, _ s i n g
    assert blanks.words.tolist() == [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]
    [parts] = encode(tokenizer_of("roberta"), ["the é"], special_tokens=False)
    assert parts.spans.tolist()[-2:] == [[4, 5], [4, 5]]
    assert parts.words.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the old_cat's fur, too", ["the", "old", "_", "cat", "'", "s", "fur", ",", "too"]),
        ("Le cafe\u0301 noir à 3€", ["Le", "cafe\u0301", "noir", "à", "3€"]),
        ("می\u200cخواهم हिन्दी", ["می\u200cخواهم", "हिन्दी"]),
        ("日本語のテキスト。", ["日", "本", "語", "のテキスト", "。"]),
    ],
)
def test_words_end_where_berts_basic_tokenizer_cuts_them(text, words):
    assert [text[start:stop].strip() for start, stop in pairwise([0, *ends_of_words(text)])] == words


def test_a_token_that_ends_in_its_space_belongs_to_the_word_before_it():
    tokenizer = Tokenizer(WordLevel({"<unk>": 0, "two ": 1, "dogs ": 2, "sleep": 3, "  ": 4}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Split(" ", "merged_with_previous")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    encoded = encode(fast, ["two dogs sleep"], special_tokens=False)[0]
    assert encoded.spans.tolist() == [[0, 3], [4, 8], [9, 14]]
    assert encoded.words.tolist() == [0, 1, 2]


NUMBERS = st.one_of(st.floats(max_value=0, allow_nan=False, allow_infinity=False), st.just(np.nan))
TOKENS = st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**40), st.integers(0, 2**40), NUMBERS)
SCORES = st.tuples(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["causal", "pll", "pll_word_l2r"]),
    st.lists(TOKENS, min_size=1, max_size=5),
)


def scores_of(text, scheme, tokens) -> TokenScores:
    ids, starts, stops, log_probs = zip(*tokens, strict=True)
    spans = np.array([starts, stops], dtype=np.int64).T
    return TokenScores(text, scheme, np.array(ids, dtype=np.int32), spans, np.array(log_probs))


@settings(deadline=None, max_examples=50)  # each writes files
@given(st.lists(SCORES, max_size=4))
def test_scores_come_back_from_a_file_exactly_as_they_were(tmp_path_factory, drawn):
    folder = tmp_path_factory.mktemp("scores")
    scores = [scores_of(*one) for one in drawn]
    expected = token_table(scores)
    write_table(expected, folder / "tokens.parquet")
    found = read_table(folder / "tokens.parquet")
    assert found.columns.tolist() == expected.columns.tolist()
    for name in expected:
        for one, other in zip(found[name], expected[name], strict=True):
            assert getattr(one, "dtype", str) == getattr(other, "dtype", str)
            np.testing.assert_array_equal(one, other)


def test_the_answers_to_pairs_are_scores_of_tokens_or_preferences(tmp_path):
    scores = [scores_of("the cat", "causal", [(7, 0, 3, -1.0)])]
    write_table(token_table(scores), tmp_path / "one" / "tokens.parquet")
    write_table(pd.DataFrame({"id": ["a"], "margin": [1.0]}), tmp_path / "two" / "preferences.parquet")
    assert read_pair_answers(tmp_path / "one").columns.tolist() == token_table(scores).columns.tolist()
    assert read_pair_answers(tmp_path / "two").to_dict("list") == {"id": ["a"], "margin": [1.0]}
    with pytest.raises(DataError, match=r"has neither tokens\.parquet nor preferences\.parquet"):
        read_pair_answers(tmp_path / "three")
