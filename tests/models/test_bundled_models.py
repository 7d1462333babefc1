"""The language models in models/: what is promised of them in their cards and in params.yaml."""

import subprocess

import torch
from safetensors.torch import load_file

from conftest import ROOT
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model
from cxprobe.models.params import ModelSpec, members_of
from cxprobe.project.params import load_params

MODELS = ROOT / "models"
CHECKPOINTS = sorted((MODELS / "tiny-clm").glob("step-*"))
SMALL = [MODELS / "taught-clm", MODELS / "taught-clm-chance", MODELS / "taught-clm-agent", *CHECKPOINTS]
FOLDERS = [MODELS / "mini-mlm", MODELS / "mini-clm", *SMALL]


def test_the_carried_models_are_small():
    for folder in FOLDERS:
        limit = 4 if folder in SMALL else 32
        assert sum(file.stat().st_size for file in folder.iterdir()) < limit * 10**6
    listed = subprocess.run(["git", "ls-files", "models"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = listed.stdout.split()
    assert sum((ROOT / name).stat().st_size for name in tracked) < 112 * 2**20
    # Else DVC's commands in the project's folder, such as a bare `dvc status`, would speak of the training.
    assert [name for name in tracked if name.endswith(("dvc.yaml", "dvc.lock", ".dvc"))] == []


def test_params_name_the_carried_models_by_the_digest_of_their_files_and_all_load():
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    specs = {member.slug: member.spec for member in members_of(params.models, params.models)}
    bundled = {
        slug: spec
        for slug, spec in specs.items()
        if isinstance(spec, ModelSpec) and spec.weights == "trained" and spec.name.startswith("models/")
    }
    assert {spec.name for spec in bundled.values()} == {folder.relative_to(ROOT).as_posix() for folder in FOLDERS}
    for slug, spec in bundled.items():
        folder = ROOT / spec.name
        model = load_language_model(open_source(slug, spec.model_copy(update={"name": str(folder)})), "cpu")
        assert model.fingerprint == f"sha256 {spec.sha256}"
        assert {weight.dtype for weight in model.model.parameters()} == {torch.float32}
        assert {weight.dtype for weight in load_file(folder / "model.safetensors").values()} == {torch.float16}
