"""A model is added to params.yaml as an entry, and nothing else of the file changes."""

from difflib import ndiff
from pathlib import Path

import pytest

from conftest import ROOT
from cxprobe.cli.entries import add_model, describe_model, entry_of, require_free
from cxprobe.errors import ModelError, ParamsError, ProjectError
from cxprobe.lm.folders import digest_of
from cxprobe.lm.params import ModelSpec
from cxprobe.project.params import load_params
from cxprobe.project.presets import preset_names, preset_text

PRESETS = {name: preset_text(name, ROOT / "presets") for name in preset_names(ROOT / "presets")}


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A copy of the embedded preset, in the working directory."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path / "params.yaml"


def spec(name: str = "some/model", revision: str | None = "1a2b3c") -> ModelSpec:
    return ModelSpec(name=name, revision=revision, sha256=None, dtype="float32")


@pytest.mark.parametrize("preset", PRESETS)
def test_an_entry_is_added_below_models_and_every_other_line_stays(preset, tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text(PRESETS[preset])
    before = load_params(file, ROOT / "constructions")
    entry = add_model("new-one", spec(), file)
    changed = [line for line in ndiff(PRESETS[preset].splitlines(), file.read_text().splitlines()) if line[0] != " "]
    added = [line[2:].strip() for line in changed if line.startswith("+ ")]
    assert [line for line in added if line not in ("", "models:")] == [line.strip() for line in entry.splitlines()]
    assert not [line for line in changed if line.startswith("- ")]
    after = load_params(file, ROOT / "constructions")
    assert after.models == (before.models or {}) | {"new-one": spec()}
    assert after.model_copy(update={"models": before.models}) == before


@pytest.mark.parametrize(
    ("slug", "name", "revision"),
    [("123", "some/model", "123456"), ("1e4", "12", "0x12"), ("on", "a: b", "null"), ("ok", "- x", "1_000")],
)
def test_names_that_yaml_would_read_as_something_else_are_quoted(file, slug, name, revision):
    add_model(slug, spec(name, revision), file)
    assert load_params(file, ROOT / "constructions").models[slug] == spec(name, revision)


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("mini-mlm", "taken, in models; take another"),
        ("unigrams", "taken, in models.blind-pairs.members"),
        ("A Model", "take 'a-model'"),
    ],
)
def test_a_slug_that_is_taken_or_is_no_name_is_refused(file, slug, said):
    before = file.read_text()
    for refusing in (lambda: require_free(slug, file), lambda: add_model(slug, spec(), file)):
        with pytest.raises(ProjectError) as fault:
            refusing()
        assert said in str(fault.value)
    assert file.read_text() == before


@pytest.mark.parametrize("models", ["models: {a: {name: x, revision: null, sha256: null, dtype: float32}}", "models:"])
def test_a_section_on_one_line_is_left_alone_and_the_entry_is_shown(tmp_path, models):
    file = tmp_path / "params.yaml"
    file.write_text(f"seed: 1\n{models}\n")
    with pytest.raises(ParamsError, match="add this to it:\nnew:\n  name: some/model"):
        add_model("new", spec(), file)
    assert file.read_text() == f"seed: 1\n{models}\n"


def test_a_file_without_models_gets_the_section(tmp_path):
    file = tmp_path / "params.yaml"
    file.write_text("seed: 1    # of all draws\n")
    add_model("new", spec(), file)
    assert file.read_text().startswith("seed: 1    # of all draws\n\nmodels:\n  new:\n    name: some/model\n")


def test_a_model_of_the_hub_is_to_be_pinned():
    assert "# pin the commit" in entry_of("new", describe_model("new", "some/model", None, "bfloat16"))
    assert "# pin" not in entry_of("new", describe_model("new", "some/model", "1a2b3c", "bfloat16"))


def test_what_is_loaded_from_a_folder_is_hashed(tmp_path, tiny_bert, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = describe_model("new", str(tiny_bert), None, "float32")
    assert found.sha256 == digest_of(tiny_bert)
    assert found.revision is None
    with pytest.raises(ProjectError, match="is a folder and has no revision"):
        describe_model("new", str(tiny_bert), "main", "float32")


def test_a_carried_model_that_the_project_lacks_is_copied_into_it_with_its_entry(file):
    found = describe_model("new", "models/tiny-clm/step-000050", None, "float32")
    assert not Path("models").exists()
    assert "# pin" not in add_model("new", found, file)
    assert digest_of(Path("models/tiny-clm/step-000050")) == found.sha256
    assert (
        found.sha256
        == load_params(file, ROOT / "constructions").models["tiny-clm"].checkpoints["tiny-clm-step-000050"].sha256
    )


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
