"""Weights that were damaged, or belong to another model than the configuration: refused with place and reason."""

import re
import time

import pytest
import torch
from model_folders import KINDS, POINTER, both_loaders, change, refusal, rewrite, save_sound, spec
from safetensors.torch import load_file
from tiny_lms import CAUSAL, MASKED, save_lm
from transformers import AutoModel

from cxprobe.lm.loading import load_encoder, load_language_model


@pytest.fixture
def bert(tmp_path):
    return save_sound(tmp_path, "bert")


@both_loaders
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda whole: whole[: len(whole) // 2], r"cut short or damaged, .* cannot be loaded: .*not fully covered"),
        (lambda whole: whole[:-1], r"cut short or damaged, .* cannot be loaded: .*not fully covered"),
        (lambda whole: whole[:5], r"model\.safetensors \(5 bytes\), which is cut short .* cannot be loaded: .*header"),
        (lambda whole: b"no weights at all" * 100, r"cut short or damaged, .* cannot be loaded: .*header"),
        (lambda whole: bytes(len(whole)), r"cut short or damaged, .* cannot be loaded: .*header"),
        (lambda whole: b"", r"model\.safetensors is empty; copy or download it again"),
        (lambda whole: POINTER, r"model\.safetensors is a git-lfs pointer, .*; run `git lfs pull`"),
    ],
    ids=["half", "all but a byte", "five bytes", "garbage", "zeros", "empty", "pointer"],
)
def test_weights_that_are_not_whole_are_refused_with_the_file_and_the_reason(bert, load, content, reason):
    file = bert / "model.safetensors"
    file.write_bytes(content(file.read_bytes()))
    assert re.search(reason, refusal(load, bert))


@pytest.mark.parametrize("content", [b"no weights", b"\x80\x04\x95", b"PK\x03\x04" + bytes(300)])
def test_damaged_weights_in_the_format_of_pytorch_are_refused_and_no_code_in_them_is_run(bert, content):
    (bert / "model.safetensors").unlink()
    (bert / "pytorch_model.bin").write_bytes(content)
    assert "the weights in the folder" in refusal(load_encoder, bert)


def test_a_folder_in_place_of_the_weights_is_refused(bert):
    (bert / "model.safetensors").unlink()
    (bert / "model.safetensors").mkdir()
    assert "no file named model.safetensors" in refusal(load_encoder, bert)


@both_loaders
def test_weights_of_other_shapes_are_refused_with_both_shapes(bert, load):
    name = "bert.encoder.layer.1.output.dense.weight"
    rewrite(bert, lambda weights: weights.update({name: torch.zeros(32, 48)}))
    assert re.search(
        r"1 weights of the checkpoint have other shapes than config.json says: .*layer\.1\.output\.dense\.weight is "
        r"\[32, 48\], not \[32, 64\]",
        refusal(load, bert),
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", ["bert.encoder.layer.0.output.dense.weight", "cls.predictions.bias"])
@both_loaders
def test_weights_that_are_not_finite_are_refused_even_in_a_head_that_is_not_read(bert, load, name, value):
    rewrite(bert, lambda weights: weights[name].view(-1)[3:5].fill_(value))
    size = load_file(bert / "model.safetensors")[name].numel()
    assert f"2 of the {size} numbers of {name} are NaN or infinite" in refusal(load, bert)


def test_weights_that_are_not_finite_are_refused_in_the_format_of_pytorch_too(bert):
    rewrite(bert, lambda weights: weights["bert.embeddings.word_embeddings.weight"][7].fill_(float("nan")))
    torch.save(load_file(bert / "model.safetensors"), bert / "pytorch_model.bin")
    (bert / "model.safetensors").unlink()
    assert "32 of the " in refusal(load_encoder, bert)


def test_finite_weights_whose_sum_is_infinite_are_taken(bert):
    rewrite(bert, lambda weights: weights.update({"score.weight": torch.full((4,), 3e38)}))
    load_encoder("tiny", spec(bert))


def test_whole_numbers_in_place_of_weights_are_refused(bert):
    file = bert / "model.safetensors"
    file.write_bytes(file.read_bytes().replace(b'"F32"', b'"I32"', 1))
    assert re.search(r"has \S+ as I32; weights must be one of F64, F32, F16, BF16", refusal(load_encoder, bert))


# Weights and configuration of two models


@pytest.mark.parametrize(
    ("load", "kind"),
    [(load_encoder, kind) for kind in (*MASKED, *CAUSAL)] + [(load_language_model, kind) for kind in KINDS],
)
def test_a_model_with_a_layer_fewer_than_its_checkpoint_is_refused(tmp_path, load, kind):
    save_lm(tmp_path, kind)
    layers = "n_layer" if kind in ("gpt2", "bloom") else "num_hidden_layers"
    changes = {"layer_types": ["full_attention"]} if "layer_types" in (tmp_path / "config.json").read_text() else {}
    change(tmp_path / "config.json", **{layers: 1}, **changes)
    assert re.search(
        r"\d+ weights of its checkpoint are not used by the model that config.json describes: \S*\.1\.\S+",
        refusal(load, tmp_path),
    )


def test_a_model_with_a_layer_more_than_its_checkpoint_is_refused(bert):
    change(bert / "config.json", num_hidden_layers=3)
    assert re.search(r"16 weights of .* would be random: .*layer\.2\.", refusal(load_encoder, bert))


@pytest.mark.parametrize("name", ["adapter.down.weight", "bert.encoder.adapter.weight", "encoder.layer.5.bias"])
@both_loaders
def test_weights_of_nobody_are_refused(bert, load, name):
    rewrite(bert, lambda weights: weights.update({name: torch.zeros(2)}))
    assert f"1 weights of its checkpoint are not used by the model that config.json describes: {name};" in refusal(
        load, bert
    )


@pytest.mark.parametrize(
    "name",
    [
        "classifier.weight",
        "cls.seq_relationship.weight",
        "score.weight",
        "bert.pooler.dense.bias",
        "bert.embeddings.position_ids",
    ],
)
@both_loaders
def test_other_heads_and_what_is_no_weight_do_not_matter(bert, load, name):
    dtype = torch.int64 if name.endswith("ids") else torch.float32
    rewrite(bert, lambda weights: weights.update({name: torch.zeros(32, dtype=dtype)}))
    load("tiny", spec(bert))


@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_an_encoder_is_read_from_the_checkpoint_of_a_language_model(tmp_path, kind):
    save_lm(tmp_path, kind)
    loaded = load_encoder("tiny", spec(tmp_path)).model.state_dict()
    plain = AutoModel.from_pretrained(tmp_path).state_dict()
    assert loaded.keys() == plain.keys()
    assert all(torch.equal(value, plain[name]) for name, value in loaded.items() if "pooler" not in name)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("bert", {"hidden_size": 4_000_000}),
        ("bert", {"vocab_size": 10**12}),
        ("bert", {"num_hidden_layers": 10**9}),
        ("gpt2", {"n_positions": 10**8}),
        ("gpt2", {"n_inner": 10**11}),
    ],
)
def test_a_configuration_of_a_giant_is_refused_before_its_memory_is_reserved(tmp_path, kind, changes):
    folder = save_sound(tmp_path, kind)
    change(folder / "config.json", **changes)
    start = time.monotonic()
    assert re.search(
        r"config.json (says 1000000000 layers|describes a model of [\d,]+ numbers), and the checkpoint has [\d,]+",
        refusal(load_encoder, folder),
    )
    assert time.monotonic() - start < 5
