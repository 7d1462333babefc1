from dataclasses import replace

import pytest
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace
from transformers import PreTrainedTokenizerFast

from conftest import save_tiny_gpt2
from cxprobe.errors import DataError
from cxprobe.lm.embedding import tokenise
from cxprobe.lm.loading import load_encoder
from cxprobe.lm.params import ModelSpec


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder("tiny", ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32"))


def test_golden_ids_of_a_word_piece_tokenizer(encoder):
    (tokens,) = tokenise(encoder, ["s"], ["The old cat runs, zz."], special_tokens=False)
    pieces = encoder.tokenizer.convert_ids_to_tokens(tokens.ids)
    assert pieces == ["[CLS]", "the", "old", "cat", "runs", ",", "z", "##z", ".", "[SEP]"]
    assert tokens.counted == [False, *[True] * 8, False]


def test_golden_ids_of_a_byte_level_tokenizer_without_special_tokens(tmp_path):
    save_tiny_gpt2(tmp_path)
    gpt2 = load_encoder("gpt2", ModelSpec(name=str(tmp_path), revision=None, sha256=None, dtype="float32"))
    (tokens,) = tokenise(gpt2, ["s"], ["the old"], special_tokens=False)
    pieces = gpt2.tokenizer.convert_ids_to_tokens(tokens.ids)
    assert "".join(pieces) == "theĠold"  # the blank belongs to the word behind it
    assert all(tokens.counted)


def test_golden_ids_of_a_sentence_piece_tokenizer(encoder):
    unigram = Tokenizer(Unigram([("<unk>", 0.0), ("▁the", -1.0), ("▁old", -1.0), ("▁", -9.0), ("er", -2.0)], unk_id=0))
    unigram.pre_tokenizer = Metaspace()
    fast = PreTrainedTokenizerFast(tokenizer_object=unigram, unk_token="<unk>")
    (tokens,) = tokenise(replace(encoder, tokenizer=fast), ["s"], ["the older"], special_tokens=False)
    assert fast.convert_ids_to_tokens(tokens.ids) == ["▁the", "▁old", "er"]


def test_special_tokens_count_if_asked_for(encoder):
    (tokens,) = tokenise(encoder, ["s"], ["the cat"], special_tokens=True)
    assert tokens.counted == [True] * 4


def test_a_sentence_that_is_too_long_is_named_and_never_cut(encoder):
    with pytest.raises(DataError, match="sentence long-one has 72 tokens, the model takes 64"):
        tokenise(encoder, ["short", "long-one"], ["the cat", "the " * 70], special_tokens=False)


def test_an_empty_sentence_is_named(encoder):
    with pytest.raises(DataError, match="sentence empty-one has no token that counts"):
        tokenise(encoder, ["empty-one"], [""], special_tokens=False)
