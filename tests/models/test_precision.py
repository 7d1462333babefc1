"""The check of precision: what it compares, what it refuses, and that every kind of raw answer can be checked."""

import numpy as np
import pytest
import torch
from model_folders import spec
from scored import LOOSE, causal_token_scores, measured, pll_token_scores, vectors_of
from tiny_lms import save_lm

from cxprobe.errors import ModelError
from cxprobe.models.candidates import candidate_log_probabilities
from cxprobe.models.embedding import load_encoder
from cxprobe.models.masked import load_masked_lm
from cxprobe.models.measuring import relative_difference
from cxprobe.models.scoring import load_language_model
from cxprobe.run.params import Precision

NOUNS = ["cat", "dog", "fox", "king", "queen", "bird"]
TEXTS = [f"the {noun} {verb}." for noun in NOUNS for verb in ("runs", "sings")]


def causal(model, texts):
    return [np.concatenate([one.log_probs for one in causal_token_scores(model, texts, bos="add", token_budget=64)])]


def masked(model, texts):
    scores = pll_token_scores(model, texts, scheme="pll", token_budget=64)
    return [np.concatenate([one.log_probs for one in scores])]


def candidates(model, texts):
    masks = [text.replace("the ", "the [MASK] ") for text in texts]
    return [np.stack(candidate_log_probabilities(model, masks, [["old", "young"]] * len(masks), token_budget=64))]


STAGES = {
    "features": ("bert", load_encoder, vectors_of),
    "causal": ("llama", load_language_model, causal),
    "masked": ("bert", load_masked_lm, masked),
    "candidates": ("bert", load_masked_lm, candidates),
}


def check(kind, folder, precision, **random_control):
    family, load, answer = STAGES[kind]
    save_lm(folder, family)
    model = measured("tiny", spec(folder, dtype="bfloat16", **random_control), load, precision=precision)
    found = model.check(TEXTS, TEXTS, answer)
    assert found.pop("unknown") == 0
    return found


def test_the_difference_is_relative_to_the_size_of_what_is_expected():
    expected = np.array([[3.0, 0.0], [0.0, 4.0]])
    assert relative_difference(expected, expected) == 0
    assert relative_difference(expected + np.array([[0.5, 0], [0, 0]]), expected) == pytest.approx(0.5 / 5)
    assert relative_difference(-expected, expected) == pytest.approx(2)
    assert relative_difference(10 * expected, 10 * (expected + 1)) == relative_difference(expected, expected + 1)
    assert relative_difference(np.zeros(2), np.zeros(2)) == 0
    assert relative_difference(np.ones(2), np.zeros(2)) == np.inf


@pytest.mark.parametrize("changes", [{}, {"weights": "random", "seed": 1}])
@pytest.mark.parametrize("kind", STAGES)
def test_a_rounded_model_is_near_itself_in_float32_and_a_random_control_near_the_same_draw(tmp_path, kind, changes):
    found = check(kind, tmp_path, LOOSE, **changes)
    assert found.keys() == {"difference_from_float32"}
    assert 1e-4 < found["difference_from_float32"] < 0.1


def test_a_difference_above_the_limit_is_refused(tmp_path):
    with pytest.raises(
        ModelError, match=r"models\.tiny: in bfloat16 .*largest_difference \(1e-06\); set dtype: float32"
    ):
        check("causal", tmp_path, Precision(items=8, largest_difference=1e-6))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("precision")
    save_lm(folder, "bert")
    return folder


def compared(folder, items, answer, *, dtype="bfloat16", limit=1.0, seed=1):
    """Return what the check says of a model, whose answers to a sample of five items are made up."""
    precision = Precision(items=5, largest_difference=limit)
    model = measured("tiny", spec(folder, dtype=dtype), load_masked_lm, precision=precision, seed=seed)
    return model.check(["the cat"], items, answer), "loaded" in vars(model)


def test_a_model_in_float32_is_not_compared_nor_loaded(folder):
    assert compared(folder, ["a"], None, dtype="float32") == ({"unknown": 0}, False)


def test_the_worst_part_decides_and_what_is_not_a_number_is_refused(folder):
    parts = {torch.bfloat16: [np.array([1e6, 1.0]), np.array([1.5])]}
    parts[torch.float32] = [np.array([1e6, 1.0]), np.array([1.0])]

    def answer(model, _):
        return parts[model.model.dtype]

    assert compared(folder, ["item"], answer, limit=0.6)[0]["difference_from_float32"] == 0.5
    with pytest.raises(ModelError, match=r"is 0\.5000 of their size, more than"):
        compared(folder, ["item"], answer, limit=0.4)
    parts[torch.bfloat16] = [np.array([np.nan])]
    with pytest.raises(ModelError, match="is nan of their size"):
        compared(folder, ["item"], lambda model, _: parts[model.model.dtype][:1])


def test_the_sample_is_drawn_by_the_seed_in_order_and_is_the_same_for_both_precisions(folder):
    drawn = []

    def answer(_, sample):
        drawn.append(sample)
        return [np.ones(1)]

    for seed in (1, 1, 2):
        compared(folder, list(range(100)), answer, seed=seed)
    assert [len(sample) for sample in drawn] == [5] * 6
    assert drawn[0] == drawn[1] == drawn[2] == sorted(drawn[0])
    assert drawn[4] == drawn[5] != drawn[0]
