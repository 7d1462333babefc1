import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_lms import tokenizer_of
from tokenizers.pre_tokenizers import BertPreTokenizer

from cxprobe.models.texts import encode

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


def test_a_blank_that_is_a_token_belongs_to_the_word_after_it():
    tokenizer = tokenizer_of("deberta-v2")
    encoded = encode(tokenizer, ["the oxen sing"], special_tokens=False)[0]
    assert tokenizer.convert_ids_to_tokens(encoded.ids.tolist()) == ["▁the", "▁", "o", "x", "e", "n", "▁", "s", *"ing"]
    assert encoded.words.tolist() == [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2]


def test_the_bytes_of_one_character_share_its_span_and_its_word():
    encoded = encode(tokenizer_of("roberta"), ["the é"], special_tokens=False)[0]
    assert encoded.spans.tolist()[-2:] == [[4, 5], [4, 5]]
    assert encoded.words.tolist() == [0, 0, 0, 1, 1, 1]


@given(st.text(alphabet="ab é1_.,'-", min_size=1).filter(str.strip))
def test_a_word_is_what_berts_basic_tokenizer_makes_of_a_text(text):
    encoded = encode(tokenizer_of("bert"), [text], special_tokens=False)[0]
    words = [span for _, span in BertPreTokenizer().pre_tokenize_str(text)]
    for (start, stop), word in zip(encoded.spans.tolist(), encoded.words.tolist(), strict=True):
        assert words[word][0] <= start
        assert stop <= words[word][1]
