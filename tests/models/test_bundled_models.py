"""The language models in models/: what is promised of them in their cards and in params.yaml."""

import subprocess
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from conftest import ROOT
from cxprobe.models.params import ModelSpec, members_of
from cxprobe.models.scoring import load_language_model
from cxprobe.project.params import load_params

MODELS = ROOT / "models"
CHECKPOINTS = sorted((MODELS / "tiny-clm").glob("step-*"))
SMALL = [MODELS / "taught-clm", MODELS / "taught-clm-chance", *CHECKPOINTS]
FOLDERS = [MODELS / "mini-mlm", MODELS / "mini-clm", *SMALL]
MIB = 2**20


def name_of(folder: Path) -> str:
    return folder.relative_to(MODELS).as_posix()


def kind_of(folder: Path) -> type:
    return AutoModelForMaskedLM if folder.name == "mini-mlm" else AutoModelForCausalLM


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_carried_model_loads_whole_and_in_float32_by_the_ordinary_name(folder):
    model, report = kind_of(folder).from_pretrained(folder, output_loading_info=True)
    assert not any(report[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        assert {file.get_tensor(name).dtype for name in file.keys()} == {torch.float16}  # noqa: SIM118


def test_the_carried_models_are_small():
    for folder in FOLDERS:
        limit = 4 if folder in SMALL else 32
        assert sum(file.stat().st_size for file in folder.iterdir()) < limit * 10**6
    listed = subprocess.run(["git", "ls-files", "models"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = listed.stdout.split()
    assert sum((ROOT / name).stat().st_size for name in tracked) < 112 * MIB
    # Else DVC's commands in the project's folder, such as a bare `dvc status`, would speak of the training.
    assert [name for name in tracked if name.endswith(("dvc.yaml", "dvc.lock", ".dvc"))] == []


def test_params_name_the_carried_models_by_the_digest_of_their_files():
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    specs = {member.slug: member.spec for member in members_of(params.models, params.models)}
    bundled = {
        slug: spec
        for slug, spec in specs.items()
        if isinstance(spec, ModelSpec) and spec.weights == "trained" and spec.name.startswith("models/")
    }
    assert {spec.name for spec in bundled.values()} == {f"models/{name_of(folder)}" for folder in FOLDERS}
    for slug, spec in bundled.items():
        spec = spec.model_copy(update={"name": str(ROOT / spec.name)})
        assert load_language_model(slug, spec, "cpu").fingerprint == f"sha256 {spec.sha256}"
