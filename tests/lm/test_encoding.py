from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_lms import save_lm
from tokenizers import Tokenizer
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace
from transformers import PreTrainedTokenizerFast

from cxprobe.errors import DataError
from cxprobe.lm.embedding import load_encoder, tokenise
from cxprobe.lm.params import ModelSpec
from cxprobe.segmentation import Span


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder("tiny", ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32"))


@pytest.fixture(scope="module")
def sentence_pieces(encoder):
    unigram = Tokenizer(Unigram([("<unk>", 0.0), ("▁the", -1.0), ("▁old", -1.0), ("▁", -9.0), ("er", -2.0)], unk_id=0))
    unigram.pre_tokenizer = Metaspace()
    return replace(encoder, tokenizer=PreTrainedTokenizerFast(tokenizer_object=unigram, unk_token="<unk>"))


@pytest.fixture(scope="module")
def encoders(encoder, sentence_pieces, tmp_path_factory):
    """A word-piece, a sentence-piece and a byte-level tokenizer."""
    folder = tmp_path_factory.mktemp("gpt2")
    save_lm(folder, "gpt2")
    gpt2 = load_encoder("gpt2", ModelSpec(name=str(folder), revision=None, sha256=None, dtype="float32"))
    return encoder, sentence_pieces, gpt2


def overlaps(text, tokenizer, span) -> list[bool]:
    """Return which tokens have a character of a span, character by character."""
    read = tokenizer(text, return_offsets_mapping=True)
    return [any(place in range(*span) for place in range(*token)) for token in read["offset_mapping"]]


@settings(deadline=None)  # the first text takes longer
@given(
    st.lists(st.sampled_from(["The", "old", "older", "zz", "naïve", "☃", ",", "cat's"]), min_size=1, max_size=9),
    st.data(),
)
def test_tokens_that_overlap_the_span_count_and_no_others(encoders, words, data):
    text = " ".join(words)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(words) - 1)] * 2)))
    start = len(" ".join([*words[:first], ""]))
    span = Span(start, start + len(" ".join(words[first : last + 1])))
    for own in encoders:
        (tokens,) = tokenise(own, [text], spans=[span])
        assert tokens.counted == overlaps(text, own.tokenizer, span)
        (whole,) = tokenise(own, [text])
        assert tokens.ids == whole.ids


def test_a_span_without_a_token_is_named(encoder):
    with pytest.raises(DataError, match="'the cat' has no token in its characters 3 to 4"):
        tokenise(encoder, ["the cat"], spans=[Span(3, 4)])
