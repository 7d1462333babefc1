"""The JSON Schema of params.yaml, by which editors complete and check it."""

import json

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.run.params import schema_text

PRESETS = sorted((ROOT / "presets").glob("*.yaml"))


def test_the_schema_that_is_kept_is_up_to_date():
    assert (ROOT / "params.schema.json").read_text() == schema_text(), "run: cxprobe schema > params.schema.json"


def test_every_key_is_described():
    schema = json.loads(schema_text())
    models = {"Params": schema, **schema["$defs"]}
    shown = [
        f"{model}.{key}"
        for model, content in models.items()
        for key, value in content.get("properties", {}).items()
        if "description" not in value and "description" not in content and "$ref" not in value
    ]
    assert shown == []


@pytest.mark.parametrize("path", [ROOT / "params.yaml", *PRESETS], ids=lambda path: path.stem)
def test_every_params_file_names_the_schema_and_satisfies_it(path):
    jsonschema = pytest.importorskip("jsonschema")
    first, _, _ = path.read_text().partition("\n")
    assert first == "# yaml-language-server: $schema=params.schema.json"
    assert (path.parent / "params.schema.json").samefile(ROOT / "params.schema.json")
    jsonschema.validate(YAML(typ="safe").load(path), json.loads(schema_text()))


def test_the_schema_refuses_what_the_model_refuses():
    jsonschema = pytest.importorskip("jsonschema")
    content = YAML(typ="safe").load(ROOT / "params.yaml")
    content["fit_probes"]["c"] = 1.0
    with pytest.raises(jsonschema.ValidationError, match=r"'c' was unexpected"):
        jsonschema.validate(content, json.loads(schema_text()))


def test_the_committed_params_are_the_embedded_preset():
    assert (ROOT / "params.yaml").read_bytes() == (ROOT / "presets" / "embedded.yaml").read_bytes()
