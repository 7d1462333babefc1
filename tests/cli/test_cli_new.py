"""`cxprobe new`: what it writes has no fault, gives pairs, sentences and items, and it says what to do next."""

import re
import shutil
from pathlib import Path

import pytest
from command_line import call
from ruamel.yaml import YAML
from whole_project import change

import cxprobe
from conftest import ROOT
from cxprobe.cli.new import describe_model, entry_of, require_free
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.people import PEOPLE_FILE
from cxprobe.errors import ModelError, ProjectError
from cxprobe.models.checkpoints import digest_of
from cxprobe.models.params import ModelSpec
from cxprobe.project.checks import find_faults
from cxprobe.project.params import load_params
from cxprobe.tasks.recognition.sentences import generate_sentences, load_grammars


def test_a_new_construction_passes_the_check_in_every_task_but_for_its_pattern(toy_project):
    shutil.copyfile(ROOT / PEOPLE_FILE, PEOPLE_FILE)
    code, output = call("new", "construction", "my-own")
    assert code == 0, output
    assert "constructions/my-own/ has construction.yaml, contrasts.yaml, form_pairs.yaml, grammars/test.cfg" in output
    assert "add 'my-own' in params.yaml" in output
    assert call("new", "construction", "another")[0] == 0  # its premises are others

    def use(params):
        params["recognition"]["constructions"]["my-own"] = ["generated"]
        for task in ("scenarios", "contrasts", "pairs", "prompts"):
            params[task]["constructions"].append("my-own")
        params["pairs"]["constructions"].append("my-own-form")

    change(toy_project, use)
    found = find_faults()
    assert found.lines == [
        f"constructions/{name}/pattern.yaml: finds the example's comparatives; write your own pattern, or delete the "
        "file"
        for name in ("another", "my-own")
    ]
    contrasts = "constructions/my-own/contrasts.yaml: "
    assert contrasts + "is the example still; replace its content, or delete the file" in found.notes
    assert contrasts + "has 2 rows of held_out; a verdict takes 16, so write more" in found.notes
    assert load_construction("my-own").name == "My own"
    for file in Path("constructions/my-own").rglob("*.*"):
        assert file.read_text().startswith("# "), file  # says what it is for
        assert not re.search("<SLUG>|<TITLE>", file.read_text()), file


def test_the_example_gives_pairs_whose_members_differ_and_a_grammar_that_fills_every_subset(toy_project):
    call("new", "construction", "my-own")
    pairs = cxprobe.minimal_pairs("my-own", folder="constructions", pairs_per_condition=4)
    assert len(pairs) >= 8
    assert (pairs["good"] != pairs["bad"]).all()
    construction = load_construction("my-own")
    made = generate_sentences("my-own", construction, load_grammars("my-own", construction), per_label=10, seed=1)
    assert set(made.sentences["label"]) == {"positive", "negative"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["My Own"], "it may have small letters, digits and hyphens, and begins with a letter or digit; take 'my-own'"),
        (["../toy"], "take 'toy'"),
        ([""], "cannot be the name of a construction"),
        (["toy"], "constructions/toy exists already; take another name, or remove it first"),
        (["all"], "is the name of the runs over all constructions"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(toy_project, words, said):
    before = sorted(toy_project.rglob("*"))
    code, output = call("new", "construction", *words)
    assert (code, said in output) == (2, True), output
    assert sorted(toy_project.rglob("*")) == before


def test_the_entry_of_a_new_model_passes_the_check_where_it_is_pasted(toy_project):
    code, output = call(
        "new", "model", "roberta", "--name", "some/roberta", "--revision", "1a2b", "--dtype", "bfloat16"
    )
    assert code == 0, output
    head, entry, last = output.split("\n\n")
    assert last.endswith("`dvc repro` then runs only what is new\n")
    assert head == "Paste this at the end of the section models of params.yaml:"
    assert entry.startswith("  roberta:\n    name: some/roberta\n    revision: 1a2b\n")
    change(toy_project, lambda params: params["models"].update(YAML(typ="safe").load(entry)))
    spec = load_params().models["roberta"]
    assert (spec.name, spec.revision, spec.sha256, spec.dtype) == ("some/roberta", "1a2b", None, "bfloat16")
    assert find_faults().lines == []


def test_an_option_of_another_kind_is_refused_and_a_model_needs_its_name(toy_project):
    assert "--name is no option of `cxprobe new construction`" in call("new", "construction", "mine", "--name", "x")[1]
    assert "--name: say what the model mine is" in call("new", "model", "mine")[1]
    assert not Path("constructions/mine").exists()


def test_a_carried_model_that_the_project_lacks_is_copied_into_it(toy_project):
    code, output = call("new", "model", "bundled", "--name", "models/mini-mlm")
    assert code == 0, output
    entry = YAML(typ="safe").load(output.split("\n\n")[1])["bundled"]
    assert entry["sha256"] == digest_of(Path("models/mini-mlm"))
    assert call("new", "model", "one", "--name", "models/mini-clm")[0] == 2  # the name is taken
    assert not Path("models/mini-clm").exists()


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
def test_a_slug_that_is_taken_or_is_no_name_is_refused(monkeypatch, slug, said):
    monkeypatch.chdir(ROOT)
    with pytest.raises(ProjectError, match=re.escape(said)):
        require_free(slug)


def test_a_model_of_the_hub_is_to_be_pinned():
    assert "# pin the commit" in entry_of("new", describe_model("new", "some/model", None, "bfloat16"), "")
    assert "# pin" not in entry_of("new", describe_model("new", "some/model", "1a2b3c", "bfloat16"), "")


def test_a_folder_has_no_revision(tiny_bert):
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
def test_what_is_no_model_is_refused(tmp_path, monkeypatch, names, said):
    monkeypatch.chdir(tmp_path)
    for name in names:
        with pytest.raises((ProjectError, ModelError), match=said):
            describe_model("new", name, None, "float32")
