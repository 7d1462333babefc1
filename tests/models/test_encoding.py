from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_lms import tokenizer_of

from cxprobe.errors import DataError
from cxprobe.models.embedding import load_encoder, tokenise
from cxprobe.models.params import ModelSpec
from cxprobe.segmentation import Span


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder("tiny", ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32"))


@pytest.fixture(scope="module")
def encoders(encoder):
    """A word-piece, a byte-level and a sentence-piece tokenizer."""
    return [replace(encoder, tokenizer=tokenizer_of(kind)) for kind in ("bert", "roberta", "deberta-v2")]


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
