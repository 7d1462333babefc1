"""Folders of small models, to be loaded as they are, changed, or refused."""

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file
from tiny_lms import save_lm

from cxprobe.errors import ModelError
from cxprobe.models.loading import open_source
from cxprobe.models.params import ModelSpec


def save_sound(folder: Path, kind: str) -> Path:
    """Save a sound model in a folder of its own, and return that folder; it is the same one for one kind."""
    save_lm(folder / kind, kind)
    return folder / kind


def spec(folder, **changes) -> ModelSpec:
    return ModelSpec(**{"name": str(folder), "revision": None, "sha256": None, "dtype": "float32"} | changes)


def refusal(load, folder, **changes) -> str:
    """Return what is said of a model, which must name its place in params.yaml and its folder."""
    with pytest.raises(ModelError) as raised:
        load(open_source("tiny", spec(folder, **changes)))
    message = str(raised.value)
    assert message.startswith(f"models.tiny: '{folder}'")
    return message


def change(file, **values):
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def rewrite(folder, change_weights):
    weights = load_file(folder / "model.safetensors")
    change_weights(weights)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def drop_weights(folder, part):
    def drop(weights):
        for name in [name for name in weights if part in name]:
            del weights[name]

    rewrite(folder, drop)
