"""`cxprobe add`: what it writes has no fault, gives pairs, sentences and items, and it says what to do next."""

import re
import shutil
from pathlib import Path

import pytest
from command_line import call
from huggingface_hub import constants
from ruamel.yaml import YAML
from whole_project import change

from conftest import ROOT
from cxprobe.cli.add import add_model, describe_model, require_free
from cxprobe.constructions.construction import PEOPLE_FILE, load_construction
from cxprobe.errors import ModelError, ProjectError
from cxprobe.models.checkpoints import digest_of
from cxprobe.models.params import ModelSpec
from cxprobe.project.checks import find_faults
from cxprobe.project.params import load_params
from cxprobe.tasks.registry import TASKS


def test_a_new_construction_passes_the_check_in_every_task_but_for_its_pattern(toy_project):
    shutil.copyfile(ROOT / PEOPLE_FILE, PEOPLE_FILE)
    code, output = call("add", "construction", "my-own")
    assert code == 0, output
    assert "constructions/my-own/ has construction.yaml, contrasts.yaml, form_pairs.yaml, grammars/test.cfg" in output
    assert "add 'my-own' in params.yaml" in output
    assert call("add", "construction", "another")[0] == 0  # its premises are others

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


NAMES = [
    ("My Own", "it may have small letters, digits and hyphens, and begins with a letter or digit; take 'my-own'"),
    ("", "cannot be the name of a construction"),
    ("toy", "constructions/toy exists already; take another name, or remove it first"),
    ("all", "is the name of the runs over all constructions"),
]


@pytest.mark.parametrize(("name", "said"), NAMES)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(toy_project, name, said):
    before = sorted(toy_project.rglob("*"))
    code, output = call("add", "construction", name)
    assert (code, said in output) == (2, True), output
    assert sorted(toy_project.rglob("*")) == before


def test_a_model_is_written_into_the_tasks_that_can_ask_it_and_comments_stay(toy_project):
    before = Path("params.yaml").read_text().replace("seed:", "# the seed\nseed:").replace("{clm:", "{clm:", 1)
    Path("params.yaml").write_text(before)
    code, output = call("add", "model", "models/mini-mlm", "--as", "bundled")
    assert code == 0, output
    params = load_params()
    assert params.models["bundled"].sha256 == digest_of(Path("models/mini-mlm"))  # it was copied into the project
    of_tasks = {name for name in TASKS if "bundled" in YAML(typ="safe").load(Path("params.yaml"))[name]["models"]}
    assert f"it is asked in {', '.join(name for name in TASKS if name in of_tasks)}\n" in output
    assert of_tasks == {"recognition", "scenarios", "contrasts", "pairs", "interventions"}
    assert find_faults().lines == []
    kept = [line for line in Path("params.yaml").read_text().splitlines() if line.lstrip().startswith("#")]
    assert kept == [line for line in before.splitlines() if line.lstrip().startswith("#")]


def test_a_causal_model_is_asked_about_no_scenario_and_what_it_reads_first_is_said(toy_project):
    code, output = call("add", "model", "models/mini-clm", "--dtype", "bfloat16")
    assert code == 0, output
    params = load_params()
    assert params.models["mini-clm"].dtype == "bfloat16"
    assert "mini-clm" in params.contrasts.models
    assert "mini-clm" not in params.scenarios.models
    assert "# its tokenizer puts [CLS] before a text" in Path("params.yaml").read_text()
    assert call("add", "model", "models/mini-clm")[0] == 2  # the name is taken


def test_a_model_that_is_not_here_is_written_and_named_in_no_task(toy_project, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    code, output = call("add", "model", "some/roberta", "--revision", "1a2b")
    assert code == 0, output
    assert "it is asked in no task" in output
    assert "name it in the models of the tasks that are to ask it" in output
    assert load_params().models["roberta"].revision == "1a2b"
    assert find_faults().lines == []


def test_an_option_of_a_model_is_none_of_a_construction(toy_project):
    assert "--as is no option of `cxprobe add construction`" in call("add", "construction", "mine", "--as", "x")[1]
    assert not Path("constructions/mine").exists()


def spec(name: str = "some/model", revision: str | None = "1a2b3c") -> ModelSpec:
    return ModelSpec(name=name, revision=revision, sha256=None, dtype="float32")


@pytest.mark.parametrize(
    ("slug", "name", "revision"),
    [("123", "some/model", "123456"), ("1e4", "12", "0x12"), ("on", "a: b", "null"), ("ok", "- x", "1_000")],
)
def test_names_that_yaml_would_read_as_something_else_are_quoted(toy_project, slug, name, revision):
    add_model(slug, spec(name, revision), "", "causal")
    assert load_params().models[slug] == spec(name, revision)


TAKEN = {"mini-mlm": "taken, in models; take another", "unigrams": "taken, in models.baselines-pairs.members"}


@pytest.mark.parametrize(("slug", "said"), [*TAKEN.items(), ("A Model", "take 'a-model'")])
def test_a_slug_that_is_taken_or_is_no_name_is_refused(monkeypatch, slug, said):
    monkeypatch.chdir(ROOT)
    with pytest.raises(ProjectError, match=re.escape(said)):
        require_free(slug)


def test_a_model_of_the_hub_is_to_be_pinned(toy_project):
    for slug, revision in (("first", None), ("second", "1a2b3c")):
        add_model(slug, describe_model("some/model", revision, "bfloat16"), "", "")
    assert Path("params.yaml").read_text().count("# pin the commit") == 1


def test_a_folder_has_no_revision(tiny_bert):
    with pytest.raises(ProjectError, match="is on this machine and has no revision"):
        describe_model(str(tiny_bert), "main", "float32")


# A name that is no model, and what is said of it.
NO_MODELS = [
    *(
        (name, "there is no such folder, and")
        for name in ("models/nothing", "models/../../x", "a/b/c", "with space", "")
    ),
    *((name, r"has no config\.json, so it is not the folder of a model") for name in (".", "package:cxprobe/nothing")),
    ("steps", r"add one of its folders \(one\), or write a series of them"),
    ("package:no_such_package/model", "'no_such_package' is not installed"),
]


@pytest.mark.parametrize(("name", "said"), NO_MODELS)
def test_what_is_no_model_is_refused(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps/one").mkdir(parents=True)
    (tmp_path / "steps/one/config.json").touch()
    with pytest.raises((ProjectError, ModelError), match=said):
        describe_model(name, None, "float32")
