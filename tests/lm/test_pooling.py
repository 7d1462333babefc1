import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.lm.embedding import collate, mean_of_each_layer, mean_over_tokens, tokenise, vectors_of
from cxprobe.lm.loading import load_encoder
from cxprobe.lm.params import ModelSpec

TEXTS = [
    "the old cat runs",
    "now the red dog sings, the blue fox eats.",
    "we say",
    "the king waits in the garden today",
]


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder("tiny", ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32"))


@pytest.fixture(scope="module")
def tokens(encoder):
    return tokenise(encoder, TEXTS, TEXTS, special_tokens=False)


@given(st.data())
def test_the_mean_is_that_of_the_counted_tokens_one_by_one(data):
    counted = torch.tensor(
        data.draw(st.lists(st.lists(st.booleans(), min_size=4, max_size=4).filter(any), min_size=1, max_size=5))
    )
    hidden = torch.randn(len(counted), 4, 3, generator=torch.Generator().manual_seed(0))
    expected = torch.stack([rows[mask].mean(dim=0) for rows, mask in zip(hidden, counted, strict=True)])
    torch.testing.assert_close(mean_over_tokens(hidden, counted), expected)


def test_what_stands_where_nothing_counts_changes_nothing():
    counted = torch.tensor([[False, True, True, False]])
    hidden = torch.randn(1, 4, 3)
    other = hidden.clone()
    other[:, [0, 3]] = 1e6
    torch.testing.assert_close(mean_over_tokens(hidden, counted), mean_over_tokens(other, counted))


def test_sums_are_taken_in_float32_for_models_in_bfloat16():
    hidden = torch.full((1, 4096, 1), 1.0, dtype=torch.bfloat16)
    hidden[0, 0] = 256.0  # in bfloat16 256 + 1 is 256
    mean = mean_over_tokens(hidden, torch.ones(1, 4096, dtype=torch.bool))
    assert mean.dtype == torch.float32
    assert mean.item() == pytest.approx((256 + 4095) / 4096)


def test_vectors_of_a_few_sentences_are_those_of_each_alone(encoder, tokens):
    found = vectors_of(encoder, tokens)
    assert found.shape == (3, len(tokens), 32)
    for place, sentence in enumerate(tokens):
        with torch.inference_mode():
            alone = mean_of_each_layer(encoder.model, collate(0, [sentence], pad=0))
        torch.testing.assert_close(torch.from_numpy(found[:, place]), alone[:, 0])


def test_layers_are_plain_hugging_face_hidden_states_with_the_embeddings_first(encoder, tokens):
    batch = collate(0, [tokens[0]], pad=0)
    with torch.inference_mode():
        pooled = mean_of_each_layer(encoder.model, batch)
        embeddings = encoder.model.embeddings(batch.input_ids)
        last = encoder.model(batch.input_ids).last_hidden_state
    assert pooled.shape == (3, 1, 32)
    torch.testing.assert_close(pooled[0, 0], embeddings[0, 1:-1].mean(dim=0))
    torch.testing.assert_close(pooled[-1, 0], last[0, 1:-1].mean(dim=0))


def test_a_sentence_alone_equals_the_sentence_in_any_batch(encoder, tokens):
    with torch.inference_mode():
        together = mean_of_each_layer(encoder.model, collate(0, tokens, pad=0))
        alone = torch.cat([mean_of_each_layer(encoder.model, collate(0, [one], pad=0)) for one in tokens], dim=1)
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_two_passes_are_identical(encoder, tokens):
    batch = collate(0, tokens, pad=0)
    with torch.inference_mode():
        assert torch.equal(mean_of_each_layer(encoder.model, batch), mean_of_each_layer(encoder.model, batch))
