import re
from dataclasses import replace

import pytest
import torch
import transformers
from model_folders import drop_weights, spec
from tiny_lms import CAUSAL, MASKED, save_lm

from cxprobe.errors import ModelError
from cxprobe.models.embedding import load_encoder
from cxprobe.models.loading import open_source
from cxprobe.models.masked import load_masked_lm
from cxprobe.models.pairs import load_language_model

pytestmark = pytest.mark.pipeline

UNABLE = "deberta"  # in bfloat16: its attention multiplies by numbers in float32 (transformers 5.23)


def random_control(folder, seed=1, **changes):
    return load_language_model(open_source("control", spec(folder, weights="random", seed=seed, **changes))).model


def tensors(model) -> dict[str, torch.Tensor]:
    return {name: value.detach() for name, value in model.named_parameters()}


def same(first, second) -> bool:
    first, second = tensors(first), tensors(second)
    return first.keys() == second.keys() and all(torch.equal(value, second[name]) for name, value in first.items())


@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_a_random_control_is_drawn_by_its_seed_and_by_the_rules_of_its_architecture(tmp_path, kind):
    save_lm(tmp_path, kind)  # with initializer_range 0.3
    one = random_control(tmp_path)
    assert same(one, random_control(tmp_path))
    assert not same(one, random_control(tmp_path, seed=2))
    assert not same(one, load_language_model(open_source("tiny", spec(tmp_path))).model)
    embeddings = one.get_input_embeddings().weight.detach()
    assert 0.25 < float(embeddings.std()) < 0.35
    assert abs(float(embeddings.mean())) < 0.03
    norms = [value for name, value in tensors(one).items() if re.search(r"(norm|ln_\w+)\.weight", name.lower())]
    assert norms
    assert all(torch.equal(value, torch.ones_like(value)) for value in norms)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", [kind for kind in (*MASKED, *CAUSAL) if kind != UNABLE])
def test_a_random_control_has_the_tensors_of_its_model_and_in_another_precision_its_own_rounded(tmp_path, kind, dtype):
    save_lm(tmp_path, kind)
    trained = load_language_model(open_source("tiny", spec(tmp_path, dtype=dtype))).model
    found = random_control(tmp_path, dtype=dtype)
    assert type(found).__mro__[:2] == type(trained).__mro__[:2]
    assert tensors(found).keys() == tensors(trained).keys()  # of weights that are tied, one
    for own, other in ((found.state_dict(), trained.state_dict()), (found.named_buffers(), trained.named_buffers())):
        shapes = [{name: (value.shape, value.dtype) for name, value in dict(one).items()} for one in (own, other)]
        assert shapes[0] == shapes[1]
    whole = tensors(random_control(tmp_path))
    assert all(torch.equal(whole[name].to(value.dtype), value) for name, value in tensors(found).items())


def test_a_random_control_reads_no_weights(tmp_path):
    save_lm(tmp_path, "llama")
    expected = random_control(tmp_path)
    drop_weights(tmp_path, "lm_head")
    assert same(random_control(tmp_path), expected)


def test_what_a_random_control_is_drawn_with_is_nobody_elses_chance(tmp_path):
    save_lm(tmp_path, "bert")
    torch.manual_seed(5)
    expected = torch.rand(3)
    random_control(tmp_path)
    torch.manual_seed(5)
    random_control(tmp_path, dtype="bfloat16")
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("load", [load_encoder, load_masked_lm])
def test_a_random_control_says_what_it_is_in_its_fingerprint_and_its_facts(tmp_path, load):
    save_lm(tmp_path, "bert")
    trained = load(open_source("tiny", spec(tmp_path)))
    found, other = (load(open_source("control", spec(tmp_path, weights="random", seed=seed))) for seed in (7, 8))
    versions = f"torch {torch.__version__.partition('+')[0]} and transformers {transformers.__version__}"
    assert found.fingerprint == f"random, seed 7, of {trained.fingerprint}, drawn by {versions}"
    assert found.fingerprint != other.fingerprint  # answers are stored under it
    assert found.facts == replace(trained.facts, state="random", weights=found.fingerprint)
    with pytest.raises(ModelError, match="sha256 is 0000"):
        random_control(tmp_path, sha256="0" * 64)
