"""Folders of models that were half copied, or whose settings are damaged: refused with place and reason."""

import json
import re
import shutil

import pytest
import torch
from model_folders import POINTER, READ, both_loaders, change, refusal, save_sound, spec
from safetensors.torch import load_file, save_file
from tiny_lms import save_lm

from cxprobe.lm.loading import load_encoder, load_masked_lm


@pytest.fixture
def bert(tmp_path):
    return save_sound(tmp_path, "bert")


@pytest.mark.parametrize("name", [*READ, "vocab.txt", "pytorch_model.bin", "tokenizer.model"])
@pytest.mark.parametrize("weights", ["trained", "random"])
def test_a_git_lfs_pointer_in_place_of_any_file_is_called_by_its_name(bert, name, weights):
    (bert / name).write_bytes(POINTER)
    seed = None if weights == "trained" else 1
    message = refusal(load_encoder, bert, weights=weights, seed=seed, sha256="0" * 64)
    assert f"{name} is a git-lfs pointer" in message
    assert "git lfs pull" in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"{broken", "is no JSON"),
        (b"\xff\xfe{\0}\0", "is no JSON"),
        (b"\x93 {}", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is no JSON"),
        (b"[1]", "is a JSON list and not an object"),
        (b"null", "is a JSON NoneType and not an object"),
    ],
)
def test_settings_that_are_no_json_object_are_refused_with_the_file(bert, content, reason):
    for name in READ[:3]:
        whole = (bert / name).read_bytes()
        (bert / name).write_bytes(content)
        assert f"{bert / name} {reason}" in refusal(load_encoder, bert)
        (bert / name).write_bytes(whole)


@pytest.mark.parametrize("model_type", [None, 3])
def test_a_configuration_without_a_kind_of_model_is_refused(bert, model_type):
    change(bert / "config.json", model_type=model_type)
    assert f"{bert / 'config.json'} has no model_type (such as bert or gpt2)" in refusal(load_encoder, bert)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_type": "strange"}, "config.json .* cannot be loaded: .*strange"),
        ({"hidden_act": "gemu"}, "the model that config.json describes .* cannot be loaded: .*gemu"),
        ({"num_attention_heads": 5}, "the model that config.json describes .* cannot be loaded: .*multiple"),
        ({"hidden_size": "32"}, "config.json .* cannot be loaded: .*hidden_size"),
        ({"hidden_dropout_prob": 7.0}, "the model that config.json describes .* cannot be loaded: .*dropout"),
        ({"quantization_config": {"quant_method": "gptq"}}, "the weights .* cannot be loaded"),
        ({"max_position_embeddings": None}, "max_position_embeddings"),
        ({"chunk_size_feed_forward": 7}, "cannot read a plain sentence in float32: .*chunk"),
    ],
)
def test_values_of_the_configuration_that_no_model_can_have_are_refused(bert, changes, reason):
    change(bert / "config.json", **changes)
    assert re.search(reason, refusal(load_encoder, bert))


def test_a_precision_that_the_architecture_cannot_compute_in_is_refused_before_work(tmp_path):
    save_lm(tmp_path, "deberta")
    load_masked_lm("tiny", spec(tmp_path))
    message = refusal(load_masked_lm, tmp_path, dtype="bfloat16")
    assert "cannot read a plain sentence in bfloat16" in message
    assert "if it can in float32, set models.tiny.dtype to that" in message


# Shards


@pytest.fixture
def shards(tmp_path):
    """A folder whose weights are in two files, and the index of them."""
    folder = save_sound(tmp_path, "bert")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    where = {name: f"model-{1 + ('cls' in name)}.safetensors" for name in weights}
    for shard in set(where.values()):
        own = {name: value for name, value in weights.items() if where[name] == shard}
        save_file(own, folder / shard, {"format": "pt"})
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return folder, index, where


@both_loaders
def test_weights_in_two_files_are_those_in_one(tmp_path, shards, load):
    one = save_sound(tmp_path / "whole", "bert")
    found, expected = (load("tiny", spec(folder)).model.state_dict() for folder in (shards[0], one))
    assert all(torch.equal(value, expected[name]) for name, value in found.items() if "pooler" not in name)


@pytest.mark.parametrize("place", ["../elsewhere.safetensors", "/tmp/elsewhere.safetensors", "inner/one.safetensors"])
def test_an_index_that_points_outside_the_folder_is_refused(shards, place):
    folder, index, where = shards
    shutil.copy(folder / "model-1.safetensors", folder.parent / "elsewhere.safetensors")
    index.write_text(json.dumps({"metadata": {}, "weight_map": where | {next(iter(where)): place}}))
    assert f"{index} points to '{place}'; weights must lie in the folder itself" in refusal(load_encoder, folder)


@both_loaders
def test_an_index_that_names_a_missing_file_is_refused(shards, load):
    folder, index, _ = shards
    (folder / "model-2.safetensors").unlink()
    assert f"{index} names model-2.safetensors, which is not in the folder" in refusal(load, folder)


@pytest.mark.parametrize("content", ["{}", '{"weight_map": {}}', '{"weight_map": ["a"]}', '{"weight_map": {"a": 1}}'])
def test_an_index_without_a_map_is_refused(shards, content):
    folder, index, _ = shards
    index.write_text(content)
    assert f"{index} has no weight_map from weights to names of files" in refusal(load_encoder, folder)


def test_weights_that_the_config_calls_by_another_name_are_refused(bert):
    change(bert / "config.json", transformers_weights="other.safetensors")
    assert "transformers_weights: 'other.safetensors'" in refusal(load_encoder, bert)
