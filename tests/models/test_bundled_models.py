"""The language models and the parser in models/: what is promised of them in their cards and in params.yaml."""

import json
import subprocess
from pathlib import Path

import pytest
import spacy
import torch
from safetensors.torch import load_file

from conftest import ROOT
from cxprobe.models.pairs import load_language_model
from cxprobe.models.params import ModelSpec, members_of
from cxprobe.project.params import load_params

MODELS = ROOT / "models"
CHECKPOINTS = sorted((MODELS / "tiny-clm").glob("step-*"))
SMALL = [MODELS / "taught-clm", MODELS / "taught-clm-chance", MODELS / "taught-clm-agent", *CHECKPOINTS]
FOLDERS = [MODELS / "mini-mlm", MODELS / "mini-clm", *SMALL]
MIB = 2**20


def name_of(folder: Path) -> str:
    return folder.relative_to(MODELS).as_posix()


def test_the_carried_models_are_small():
    for folder in FOLDERS:
        limit = 4 if folder in SMALL else 32
        assert sum(file.stat().st_size for file in folder.iterdir()) < limit * 10**6
    listed = subprocess.run(["git", "ls-files", "models"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = listed.stdout.split()
    assert sum((ROOT / name).stat().st_size for name in tracked) < 112 * MIB
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
    assert {spec.name for spec in bundled.values()} == {f"models/{name_of(folder)}" for folder in FOLDERS}
    for slug, spec in bundled.items():
        folder = ROOT / spec.name
        model = load_language_model(slug, spec.model_copy(update={"name": str(folder)}), "cpu")
        assert model.fingerprint == f"sha256 {spec.sha256}"
        assert {weight.dtype for weight in model.model.parameters()} == {torch.float32}
        assert {weight.dtype for weight in load_file(folder / "model.safetensors").values()} == {torch.float16}


PARSER = MODELS / "parser" / "en_ewt_cxprobe"


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(PARSER)


def test_it_sets_tags_features_dependencies_and_lemmas(nlp):
    assert nlp.pipe_names == ["tok2vec", "morphologizer", "tagger", "parser", "trainable_lemmatizer"]
    doc = nlp("She quickly gave him two books.")
    assert all(doc.has_annotation(name) for name in ("POS", "MORPH", "TAG", "DEP", "LEMMA"))
    assert doc[2].morph.get("Tense") == ["Past"]
    assert (doc[5].pos_, doc[5].tag_, doc[5].lemma_) == ("NOUN", "NNS", "book")


def test_irregular_forms_keep_their_lemmas_without_the_words_of_the_treebank(nlp):
    assert [token.lemma_ for token in nlp("The children went home.")][1:3] == ["child", "go"]
    strings = json.loads((PARSER / "vocab" / "strings.json").read_text("utf-8"))
    assert len(strings) < 3_000


def test_it_is_small_and_says_its_licence(nlp):
    assert sum(file.stat().st_size for file in PARSER.rglob("*") if file.is_file()) < 15 * 10**6
    assert nlp.meta["license"] == "CC BY-SA 4.0"
