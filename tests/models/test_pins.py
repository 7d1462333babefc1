"""What identifies a model: all that is loaded from its folder, and nothing else."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from model_folders import change, rewrite, save_sound, spec
from safetensors.torch import load_file, save_file

from cxprobe.errors import ModelError
from cxprobe.models.checkpoints import digest_of, pin_faults
from cxprobe.models.loading import open_source
from cxprobe.models.masked import load_masked_lm
from cxprobe.models.pairs import load_language_model
from cxprobe.models.store import answers_folder


@pytest.fixture
def bert(tmp_path):
    return save_sound(tmp_path, "bert")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder that no test changes."""
    return save_sound(tmp_path_factory.mktemp("sound"), "bert")


CHANGES = {
    "another activation": lambda folder: change(folder / "config.json", hidden_act="relu"),
    "another longest input": lambda folder: change(folder / "tokenizer_config.json", model_max_length=32),
    "a special token": lambda folder: (folder / "special_tokens_map.json").write_text('{"bos_token": "[CLS]"}'),
    "a weight": lambda folder: rewrite(folder, lambda weights: weights["cls.predictions.bias"].add_(1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_anything_that_is_loaded_is_refused_by_the_pin_and_seen_by_the_store(bert, name, monkeypatch):
    monkeypatch.chdir(bert.parent)
    pinned, folder = (
        digest_of(bert),
        answers_folder("tiny", load_language_model(open_source("tiny", spec(bert))), "cpu"),
    )
    assert load_language_model(open_source("tiny", spec(bert, sha256=pinned))).fingerprint == f"sha256 {pinned}"
    CHANGES[name](bert)
    with pytest.raises(ModelError) as refused:
        load_language_model(open_source("tiny", spec(bert, sha256=pinned)))
    message = str(refused.value)
    assert f": sha256 is {pinned}, and the files of {bert} have {digest_of(bert)}; weights, configuration" in message
    assert [*pin_faults({"tiny": spec(bert, sha256=pinned)})] == [message]
    assert answers_folder("tiny", load_language_model(open_source("tiny", spec(bert)), "meta"), "cpu") != folder


def test_a_check_refuses_a_folder_without_a_pin_and_no_model_that_is_elsewhere(bert):
    [fault] = pin_faults({"tiny": spec(bert), "hub": spec("roberta-base"), "away": spec("package:not_installed/model")})
    assert fault.startswith(f"models.tiny: sha256 is null, and the files of {bert} have {digest_of(bert)}; ")
    assert not [*pin_faults({"tiny": spec(bert, sha256=digest_of(bert))})]


def test_the_digest_is_what_sha256sum_says_of_what_it_prints(bert):
    (bert / "pytorch_model.bin").write_bytes(b"not read beside safetensors")
    (bert / "README.md").write_text("not loaded")
    names = "config.json model.safetensors tokenizer.json tokenizer_config.json"
    said = subprocess.run(f"sha256sum {names} | sha256sum", shell=True, cwd=bert, capture_output=True, text=True)
    assert said.stdout.split()[0] == digest_of(bert)


# Folders with several files of weights


def save_weights(folder: Path, layout: str, factor: float) -> None:
    """Save the weights of a folder again, times a factor, in a layout: a file's name, shards behind an index, or both
    parts of an adapter."""
    weights = {name: value * factor for name, value in load_file(folder.parent / "weights.safetensors").items()}
    match layout:
        case "model.safetensors.index.json" | "pytorch_model.bin.index.json":
            stem, _, ending = layout.removesuffix(".index.json").partition(".")
            where = {name: f"{stem}-{1 + ('cls' in name)}.{ending}" for name in weights}
            for shard in set(where.values()):
                save_weight_file(folder / shard, {name: weights[name] for name in weights if where[name] == shard})
            (folder / layout).write_text(json.dumps({"metadata": {}, "weight_map": where}))
        case "adapter_config.json":
            (folder / layout).write_text('{"peft_type": "LORA", "base_model_name_or_path": "elsewhere"}')
            save_weight_file(folder / "adapter_model.safetensors", weights)
        case "named.safetensors":
            change(folder / "config.json", transformers_weights=layout)
            save_weight_file(folder / layout, weights)
        case _:
            save_weight_file(folder / layout, weights)


def save_weight_file(file: Path, weights: dict[str, torch.Tensor]) -> None:
    file.parent.mkdir(exist_ok=True)
    if file.suffix == ".bin":
        torch.save(weights, file)
    else:
        save_file(weights, file, {"format": "pt"})


LAYOUTS = (
    *("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"),
    *("training_state.safetensors", "optimizer.bin", "named.safetensors", "inner/model.safetensors"),
    "adapter_config.json",
)


def odd_folder(sound: Path, parent: str, layouts: set[str]) -> Path:
    """Return a copy of a model's folder with weights in some layouts, all different."""
    folder = Path(shutil.copytree(sound, Path(parent) / "model"))
    (folder / "model.safetensors").rename(folder.parent / "weights.safetensors")
    for factor, layout in enumerate(LAYOUTS, start=1):
        if layout in layouts:
            save_weights(folder, layout, factor)
    return folder


def outcome(folder: Path) -> tuple[dict[str, torch.Tensor], str]:
    """Return the weights that are loaded, and configuration and tokenizer as text; nothing of a refused model."""
    try:
        model = load_masked_lm(open_source("odd", spec(folder)))
    except ModelError:
        return {}, ""
    return model.model.state_dict(), f"{model.model.config} {model.tokenizer.backend_tokenizer.to_str()}"


def digest_or_refusal(folder: Path) -> str:
    try:
        return digest_of(folder)
    except ModelError:
        return "refused"


@settings(max_examples=25, deadline=None)
@given(st.sets(st.sampled_from(LAYOUTS), min_size=1, max_size=4), st.integers(0))
@example({"pytorch_model.bin", "training_state.safetensors"}, 0)
def test_a_changed_byte_that_the_digest_does_not_see_changes_nothing_that_is_loaded(sound, layouts, seed):
    with tempfile.TemporaryDirectory() as parent:
        folder = odd_folder(sound, parent, layouts)
        digest, (weights, rest) = digest_or_refusal(folder), outcome(folder)
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            content = file.read_bytes()
            place = seed % len(content)
            file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            if digest_or_refusal(folder) == digest:
                found, found_rest = outcome(folder)
                assert (found.keys(), found_rest) == (weights.keys(), rest), file
                assert all(torch.equal(value, weights[name]) for name, value in found.items()), file
            file.write_bytes(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"weight_map": {"a": 1}}', "has no weight_map from weights to names of files"),
        ('{"weight_map": {"a": "../model.safetensors"}}', "which is no file of the folder"),
        ('{"weight_map": {"a": "gone.bin"}}', "which is no file of the folder"),
    ],
)
def test_an_index_that_does_not_name_files_of_the_folder_is_refused(bert, content, message):
    (bert / "model.safetensors").rename(bert.parent / "model.safetensors")
    (bert / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ModelError, match=message):
        load_masked_lm(open_source("tiny", spec(bert)))
