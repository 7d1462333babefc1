"""The entry of a new model: what it says, and what is refused."""

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.cli.entries import describe_model, entry_of, require_free
from cxprobe.errors import ModelError, ProjectError
from cxprobe.models.params import ModelSpec


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A copy of the quick preset, in the working directory."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path / "params.yaml"


def spec(name: str = "some/model", revision: str | None = "1a2b3c") -> ModelSpec:
    return ModelSpec(name=name, revision=revision, sha256=None, dtype="float32")


@pytest.mark.parametrize(
    ("slug", "name", "revision"),
    [("123", "some/model", "123456"), ("1e4", "12", "0x12"), ("on", "a: b", "null"), ("ok", "- x", "1_000")],
)
def test_names_that_yaml_would_read_as_something_else_are_quoted(slug, name, revision):
    entry = YAML(typ="safe").load(entry_of(slug, spec(name, revision), ""))
    assert ModelSpec.model_validate(entry[slug]) == spec(name, revision)


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("mini-mlm", "taken, in models; take another"),
        ("unigrams", "taken, in models.baselines-pairs.members"),
        ("A Model", "take 'a-model'"),
    ],
)
def test_a_slug_that_is_taken_or_is_no_name_is_refused(file, slug, said):
    with pytest.raises(ProjectError) as fault:
        require_free(slug)
    assert said in str(fault.value)


def test_a_model_of_the_hub_is_to_be_pinned():
    assert "# pin the commit" in entry_of("new", describe_model("new", "some/model", None, "bfloat16"), "")
    assert "# pin" not in entry_of("new", describe_model("new", "some/model", "1a2b3c", "bfloat16"), "")


def test_a_folder_has_no_revision(tmp_path, tiny_bert, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProjectError, match="is on this machine and has no revision"):
        describe_model("new", str(tiny_bert), "main", "float32")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            ["models/nothing", "../models/x", "a/b/c", "with space", "models/../../x", ""],
            "there is no such folder, and",
        ),
        ([".", "package:cxprobe/nothing"], r"has no config\.json, so it is not the folder of a model"),
        (["package:no_such_package/model"], "'no_such_package' is not installed"),
    ],
)
def test_what_is_no_model_is_refused(file, names, said):
    for name in names:
        with pytest.raises((ProjectError, ModelError), match=said):
            describe_model("new", name, None, "float32")
