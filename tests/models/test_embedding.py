"""Vectors of texts: batches, pooling, and a store that is asked before the model."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scored import measured

from cxprobe.files.tables import read_features
from cxprobe.models.embedding import embed_texts, load_encoder, mean_of_each_layer, mean_over_tokens, pool_texts
from cxprobe.models.loading import open_source
from cxprobe.models.params import ModelSpec
from cxprobe.models.store import token_budget_batches
from cxprobe.models.texts import encode_inputs

LENGTHS = st.lists(st.integers(1, 50))
BUDGETS = st.integers(1, 200)
WORDS = ["the", "old", "red", "cat", "dog", "runs", "sings", "now", "we", "say", "that", "in", "garden", "today"]
RNG = np.random.default_rng(0)
TEXTS = list(dict.fromkeys(" ".join(RNG.choice(WORDS, size=RNG.integers(1, 20))) for _ in range(57)))


@given(LENGTHS, BUDGETS)
def test_batches_have_each_sentence_once_are_within_the_budget_and_as_full_as_the_order_allows(lengths, budget):
    batches = token_budget_batches(lengths, budget)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[position] for position in batch) <= budget
    for batch, following in itertools.pairwise(batches):
        assert lengths[batch[-1]] >= lengths[following[0]]
        assert (len(batch) + 1) * lengths[batch[0]] > budget


def test_batches_without_padding_have_one_length_and_each_input_once():
    lengths = [3, 5, 3, 9, 5, 3, 3]
    batches = token_budget_batches(lengths, 8, padded=False)
    assert [[lengths[position] for position in batch] for batch in batches] == [[9], [5], [5], [3, 3], [3, 3]]
    assert sorted(position for batch in batches for position in batch) == list(range(7))


@given(st.data())
def test_the_mean_is_that_of_the_counted_tokens_one_by_one(data):
    counted = torch.tensor(
        data.draw(st.lists(st.lists(st.booleans(), min_size=4, max_size=4).filter(any), min_size=1, max_size=5))
    )
    hidden = torch.randn(len(counted), 4, 3, generator=torch.Generator().manual_seed(0))
    expected = torch.stack([rows[mask].mean(dim=0) for rows, mask in zip(hidden, counted, strict=True)])
    torch.testing.assert_close(mean_over_tokens(hidden, counted), expected)
    hidden[~counted] = 1e6  # what stands where nothing counts changes nothing
    torch.testing.assert_close(mean_over_tokens(hidden, counted), expected)


def test_sums_are_taken_in_float32_for_models_in_bfloat16():
    hidden = torch.full((1, 4096, 1), 1.0, dtype=torch.bfloat16)
    hidden[0, 0] = 256.0  # in bfloat16 256 + 1 is 256
    mean = mean_over_tokens(hidden, torch.ones(1, 4096, dtype=torch.bool))
    assert mean.dtype == torch.float32
    assert mean.item() == pytest.approx((256 + 4095) / 4096)


@pytest.fixture(scope="module")
def spec(tiny_bert):
    return ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32")


@pytest.fixture(scope="module")
def encoder(spec):
    return load_encoder(open_source("tiny", spec))


@pytest.fixture(scope="module")
def tokens(encoder):
    return encode_inputs(encoder, TEXTS)


def test_a_sentence_alone_equals_the_sentence_in_any_batch_and_two_passes_are_identical(encoder, tokens):
    together = mean_of_each_layer(encoder, tokens)
    alone = np.concatenate([mean_of_each_layer(encoder, [one]) for one in tokens], axis=1)
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(pool_texts(encoder, tokens, 64), alone, atol=1e-5)
    np.testing.assert_array_equal(together, mean_of_each_layer(encoder, tokens))


def test_vectors_are_those_of_the_model_in_the_order_of_the_texts(spec, encoder, tokens, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where data/.scratch is made
    model = measured("tiny", spec, load_encoder)
    counts = embed_texts(model, {"a": TEXTS[:20], "b": TEXTS[20:]}, token_budget=64, folder=Path("out"))
    found = [read_features(Path("out") / name) for name in "ab"]
    assert [*found[0].ids, *found[1].ids] == TEXTS
    vectors = np.concatenate([own.vectors for own in found], axis=1)
    np.testing.assert_allclose(vectors, pool_texts(encoder, tokens, 64), atol=1e-5)
    assert counts == {"sentences": len(TEXTS), "tokens": sum(len(one.ids) for one in tokens), "unknown": 0}
