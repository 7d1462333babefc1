"""A model in half precision, and what its `load` hands to transformers: another attention, layers on the disk."""

import numpy as np
import pytest
from model_folders import save_sound, spec
from scored import log_probs_of, vectors_of
from tiny_lms import save_lm

from conftest import ROOT
from cxprobe.errors import ModelError
from cxprobe.models.embedding import load_encoder
from cxprobe.models.scoring import load_language_model
from cxprobe.models.store import answers_folder
from cxprobe.models.trials import relative_difference

MODELS = ("mini-clm", "mini-mlm")
TEXTS = ["The more you look, the more you see.", "She baked him a cake and he ate it.", "They ran."]


def folder_of(name, model):
    return answers_folder(name, model, "cpu")


@pytest.mark.pipeline
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("dtype", "bound"), [("float16", 0.001), ("bfloat16", 0.012)])
def test_scores_in_low_precision_are_near_those_in_float32_and_never_mixed_with_them(name, dtype, bound):
    exact, low = (load_language_model(name, spec(ROOT / "models" / name, dtype=one)) for one in ("float32", dtype))
    assert 0 < relative_difference(log_probs_of(low, TEXTS), log_probs_of(exact, TEXTS)) < bound
    assert folder_of(name, low) != folder_of(name, exact)
    assert (low.facts.precision, exact.facts.precision) == (dtype, "float32")


@pytest.mark.pipeline
@pytest.mark.parametrize("name", MODELS)
def test_layers_on_the_disk_give_the_same_numbers_under_a_key_of_their_own(name, tmp_path):
    load = {"device_map": "auto", "max_memory": {"cpu": "30MB"}, "offload_folder": str(tmp_path / "layers")}
    plain, spread = (load_language_model(name, spec(ROOT / "models" / name, load=one)) for one in ({}, load))
    assert set(spread.model.hf_device_map.values()) == {"cpu", "disk"}
    np.testing.assert_allclose(log_probs_of(spread, TEXTS), log_probs_of(plain, TEXTS), atol=1e-5)
    assert spread.fingerprint == plain.fingerprint  # the same weights, wherever they lie
    assert spread.facts.precision.startswith('float32, load {"device_map": "auto", "max_memory": ')
    described = load_language_model(name, spread_spec := spec(ROOT / "models" / name, load=load), "meta")
    assert folder_of(name, described) == folder_of(name, spread) != folder_of(name, plain)
    encoders = [load_encoder(name, one) for one in (spread_spec, spec(ROOT / "models" / name))]
    vectors, expected = (vectors_of(encoder, TEXTS) for encoder in encoders)
    np.testing.assert_allclose(vectors, expected, atol=1e-4)


def test_another_attention_is_in_the_facts_and_the_key_and_gives_the_same_numbers(tmp_path):
    folder = save_sound(tmp_path, "gpt2")
    plain, eager = (spec(folder, load=load) for load in ({}, {"attn_implementation": "eager"}))
    model, expected = (load_language_model("tiny", one) for one in (eager, plain))
    assert (model.facts.attention, expected.facts.attention) == ("eager", "sdpa")
    assert load_language_model("tiny", eager, "meta").facts == model.facts
    assert folder_of("tiny", model) != folder_of("tiny", expected)
    np.testing.assert_allclose(log_probs_of(model, TEXTS), log_probs_of(expected, TEXTS), atol=1e-5)


def test_a_model_that_does_not_come_to_lie_where_the_stage_computes_is_refused(tmp_path):
    save_lm(tmp_path, "gpt2")
    with pytest.raises(ModelError, match=r"models\.m\.load puts it on cpu, .* computes on cuda:1"):
        load_language_model("m", spec(tmp_path, load={"device_map": "cpu"}), "cuda:1")


def test_what_transformers_says_of_a_load_that_it_cannot_follow_is_passed_on_with_the_key(tmp_path):
    unknown = {"quantization_config": {"quant_method": "no-such-method"}}
    with pytest.raises(ModelError, match=r"Unknown quantization type.*look whether models\.m\.load can be followed"):
        load_language_model("m", spec(save_sound(tmp_path, "gpt2"), load=unknown))
