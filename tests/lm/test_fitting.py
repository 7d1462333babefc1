"""Models that are made to fit: half precision, 8 and 4 bits, layers on the disk, against the same model in float32."""

import shutil
import sys
from pathlib import Path

import model_folders
import numpy as np
import pytest
from pydantic import ValidationError
from scored import measured

from conftest import ROOT
from cxprobe.errors import ModelError
from cxprobe.files.arrays import read_features
from cxprobe.lm.embedding import embed_texts, load_encoder, pool_texts, tokenise
from cxprobe.lm.measuring import relative_difference
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.scoring import load_language_model, score_texts
from cxprobe.lm.store import answers_folder
from cxprobe.lm.texts import HowToScore
from cxprobe.run.params import Precision

pytestmark = pytest.mark.pipeline

INT8 = {"package": "torchao", "weights": "int8"}
FLOAT8 = {"package": "torchao", "weights": "float8"}
BITS8 = {"package": "bitsandbytes", "bits": 8}
BITS4 = {"package": "bitsandbytes", "bits": 4, "quant_type": "nf4"}
# How far the scores of sentences may be from those in float32, relative to their size.
BOUNDS = [
    ({"dtype": "float16"}, 0.001),
    ({"dtype": "bfloat16"}, 0.012),
    ({"quantisation": INT8}, 0.03),
    ({"quantisation": INT8, "dtype": "bfloat16"}, 0.04),
    ({"quantisation": FLOAT8}, 0.05),
    ({"quantisation": BITS8}, 0.05),
    ({"quantisation": BITS4}, 0.25),
    ({"quantisation": {**BITS4, "quant_type": "fp4", "double_quant": True}, "dtype": "bfloat16"}, 0.25),
]
NAMES = [f"{one.get('quantisation', {}).get('package', 'none')}-{number}" for number, (one, _) in enumerate(BOUNDS)]
MODELS = ("mini-clm", "mini-mlm")
TEXTS = [
    "The more you look, the more you see.",
    "She baked him a cake and he ate it.",
    "A man who had not read it said that the book was long.",
    "They ran.",
]
HOW = HowToScore(["pll"], 256)


def spec_of(name: str = "mini-clm", **changes) -> ModelSpec:
    return model_folders.spec(ROOT / "models" / name, **changes)


def need(changes: dict) -> None:
    package = changes.get("quantisation", {}).get("package")
    if package:
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'cxprobe[large]'")


def numbers_of(model, texts=TEXTS):
    own = np.concatenate([one.log_probs for one in score_texts(model, [dict.fromkeys(texts, 0)], HOW)])
    return own[~np.isnan(own)]


def vectors_of(encoder):
    return pool_texts(encoder, tokenise(encoder, TEXTS), 64)


def vectors_of_a_stage(name, spec, folder: Path):
    how = {"token_budget": 64, "folder": folder}
    counts = embed_texts(measured(name, spec, load_encoder), {"out": TEXTS}, **how)
    assert counts["sentences"] == len(TEXTS)
    return read_features(folder / "out").vectors


@pytest.fixture(scope="module")
def plain():
    return {name: load_language_model(name, spec_of(name)) for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("changes", "bound"), BOUNDS, ids=NAMES)
def test_scores_are_near_those_in_float32_and_are_never_mixed_with_them(
    plain, name, changes, bound, tmp_path, monkeypatch
):
    need(changes)
    monkeypatch.chdir(tmp_path)
    spec, original = spec_of(name, **changes), plain[name]
    model = load_language_model(name, spec)
    found, expected = numbers_of(model), numbers_of(original)
    assert 0 < relative_difference(found, expected) < bound
    assert answers_folder(name, model, "cpu") != answers_folder(name, original, "cpu")
    counted = load_language_model(name, spec, "meta")  # as `cxprobe measure --status` does
    assert answers_folder(name, counted, "cpu") == answers_folder(name, model, "cpu")
    assert model.facts.precision == spec.precision != original.facts.precision == "float32"
    assert model.facts.parameters == original.facts.parameters
    if spec.quantisation:
        package = spec.quantisation.package
        assert model.fingerprint != original.fingerprint
        assert model.fingerprint.startswith(f"{spec.quantisation} by {package} ")
        assert model.fingerprint.endswith(f", of {original.fingerprint}")
    [alone] = [numbers_of(model, TEXTS[:1])]
    np.testing.assert_allclose(alone, found[: len(alone)], atol=1e-4 if spec.dtype == "float32" else 0.5)


@pytest.mark.parametrize(
    "changes", [{"dtype": "float16"}, {"quantisation": INT8}, {"quantisation": BITS8}, {"quantisation": BITS4}]
)
def test_vectors_of_such_a_model_are_extracted_as_they_are_computed(changes, tmp_path, monkeypatch):
    need(changes)
    spec = spec_of("mini-mlm", **changes)
    monkeypatch.chdir(tmp_path)
    own = vectors_of_a_stage("mini-mlm", spec, tmp_path)
    assert own.dtype == np.float32
    assert relative_difference(own, vectors_of(load_encoder("mini-mlm", spec))) < 1e-3
    assert 0 < relative_difference(own, vectors_of(load_encoder("mini-mlm", spec_of("mini-mlm")))) < 0.25


@pytest.mark.parametrize("name", MODELS)
def test_layers_on_the_disk_give_the_same_numbers(plain, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("accelerate", reason="accelerate is not installed: pip install 'cxprobe[large]'")
    spec = spec_of(name, device_map="auto", max_memory={"cpu": "30MB"}, offload_folder=str(tmp_path / "layers"))
    model = load_language_model(name, spec)
    assert set(model.model.hf_device_map.values()) == {"cpu", "disk"}
    np.testing.assert_allclose(numbers_of(model), numbers_of(plain[name]), atol=1e-5)
    assert model.fingerprint == plain[name].fingerprint  # the same weights, wherever they lie
    counted = load_language_model(name, spec, "meta")
    assert answers_folder(name, counted, "cpu") == answers_folder(name, model, "cpu")
    expected = vectors_of(load_encoder(name, spec_of(name)))
    np.testing.assert_allclose(vectors_of_a_stage(name, spec, tmp_path), expected, atol=1e-4)


def test_a_model_that_fits_nowhere_is_refused_with_what_to_do():
    pytest.importorskip("accelerate", reason="accelerate is not installed: pip install 'cxprobe[large]'")
    with pytest.raises(ModelError, match=r"max_memory"):
        load_language_model("m", spec_of(device_map="auto", max_memory={"cpu": "100KB"}))


def check(changes: dict, limit: float = 0.3):
    spec = spec_of(**changes)
    answer = lambda model, texts: [numbers_of(model, texts)]  # noqa: E731
    precision = Precision(items=3, largest_difference=limit)
    found = measured("m", spec, load_language_model, precision=precision).check(TEXTS, TEXTS, answer)
    return {name: number for name, number in found.items() if name != "unknown"}


def test_a_quantised_model_is_compared_with_the_one_that_is_not_in_the_precision_that_params_name():
    need({"quantisation": BITS4})
    [(name, value)] = check({"quantisation": BITS4}).items()
    assert name == "difference_from_float32"
    assert 0.005 < value < 0.25
    [(name, value)] = check({"quantisation": BITS4, "dtype": "bfloat16", "compared": {"dtype": "bfloat16"}}).items()
    assert name == "difference_from_bfloat16"
    reason = (
        r"in float32, bitsandbytes 4-bit nf4 the difference of .* from float32 is 0\..*; leave out models\.m\.quant"
    )
    with pytest.raises(ModelError, match=reason):
        check({"quantisation": BITS4}, 0.001)
    assert check({"quantisation": BITS4, "compared": {"largest_difference": 0.3}}, 0.001)
    with pytest.raises(ModelError, match=r"more than models\.m\.compared\.largest_difference \(0\.0001\)"):
        check({"quantisation": BITS4, "compared": {"largest_difference": 0.0001}}, 0.3)


def test_a_model_that_is_compared_with_nothing_says_so_in_every_record():
    changes = {"dtype": "bfloat16", "compared": None}
    assert check(changes, 1e-9) == {}
    assert load_language_model("m", spec_of(**changes)).facts.precision == "bfloat16, compared with nothing"


@pytest.mark.parametrize("package", ["torchao", "bitsandbytes", "accelerate"])
def test_a_package_that_is_not_installed_is_named_before_anything_is_read(monkeypatch, package):
    monkeypatch.setattr("cxprobe.lm.loading.find_spec", lambda name: None if name == package else sys)
    option = {
        "torchao": {"quantisation": INT8},
        "bitsandbytes": {"quantisation": BITS8},
        "accelerate": {"device_map": "auto"},
    }
    with pytest.raises(ModelError, match=rf"models\.m: .* need .*{package}.* not installed; pip install"):
        load_language_model("m", spec_of("no-such-model", **option[package]))


def test_layers_on_all_gpus_need_a_device_that_stands_for_all():
    with pytest.raises(
        ModelError, match=r"this process has 'cuda:1'; set compute\.devices and compute\.num_nodes to 1"
    ):
        load_language_model("m", spec_of(device_map="auto"), "cuda:1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quantisation": {"package": "bitsandbytes", "bits": 4}}, "give nf4 or fp4 for 4"),
        ({"quantisation": {**BITS8, "quant_type": "nf4"}}, "give nf4 or fp4 for 4"),
        ({"quantisation": {**BITS8, "double_quant": True}}, "double_quant is for 4 bits"),
        ({"quantisation": {"package": "bitsandbytes", "bits": 2}}, "4"),
        ({"quantisation": INT8, "weights": "random", "seed": 1}, "a twin has neither quantisation nor device_map"),
        (
            {"quantisation": INT8, "device_map": "auto", "offload_folder": "x"},
            "a quantised model is not put on the disk",
        ),
        ({"max_memory": {"cpu": "1GB"}}, "need device_map: auto"),
        ({"dtype": "bfloat16", "compared": {"dtype": "bfloat16"}}, "which is the model's own"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_params(changes, message):
    with pytest.raises(ValidationError, match=message):
        spec_of(**changes)


def test_a_checkpoint_that_is_quantised_already_is_not_quantised_again(tmp_path):
    need({"quantisation": INT8})
    folder = shutil.copytree(ROOT / "models" / "mini-clm", tmp_path / "quantised")
    model_folders.change(folder / "config.json", quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(ModelError, match=r"is a quantised checkpoint already; take its original"):
        load_language_model("m", spec_of(quantisation=INT8, name=str(folder)))
