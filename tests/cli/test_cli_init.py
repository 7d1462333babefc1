"""`cxprobe init` makes a folder in which DVC finds everything, and says what is next."""

import subprocess
from contextlib import chdir
from pathlib import Path

import pytest
from command_line import call
from dvc.repo import Repo

from conftest import ROOT, run
from cxprobe.cli.init import preset_text
from cxprobe.project.params import load_params

pytestmark = pytest.mark.pipeline


def init(folder: Path, preset: str = "pairs") -> str:
    code, output = call("init", folder, "--preset", preset)
    assert code == 0, output
    return output


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with the smallest preset, and what the command said. Never change it: take `project`, a copy."""
    folder = tmp_path_factory.mktemp("made") / "study"
    return folder, init(folder)


def test_a_project_has_what_its_preset_asks_for(made):
    folder, _ = made
    assert (folder / "params.yaml").read_text() == preset_text("pairs", ROOT / "presets")
    assert load_params(folder / "params.yaml", folder / "constructions")
    models = {path.name for path in (folder / "models").iterdir()}
    assert models == {"LICENSE-APACHE-2.0.txt", "mini-clm", "mini-mlm", "mini-ngrams", "parser", "tagger"}
    assert not (folder / "src").exists()
    assert not (folder / "constructions" / "README.md").exists()
    readme = (folder / "README.md").read_text()
    assert readme.startswith("# study\n")
    assert "preset `pairs`" in readme
    assert "<" not in readme.replace("<stage>", "")
    assert not [path for path in folder.rglob("*") if path.is_symlink()]
    named = subprocess.run(["grep", "-rIl", str(ROOT), str(folder)], capture_output=True, text=True, check=False)
    assert named.stdout == ""  # nothing depends on the folder of the repository


def test_a_model_comes_with_its_card_and_no_other(tmp_path):
    init(tmp_path / "study", "weissweiler2022")
    found = {path.relative_to(tmp_path / "study").as_posix() for path in (tmp_path / "study" / "models").rglob("*")}
    assert {"models/tagger/README.md", "models/tagger/en_ewt_cxprobe/config.cfg"} <= found
    assert not [path for path in found if "mini-mlm" in path or "tiny-clm" in path or "step-" in path]


def test_git_and_dvc_begin_where_there_is_no_repository_and_ignore_what_they_should(made):
    folder, _ = made
    assert (folder / ".git").is_dir()
    assert "analytics = false" in (folder / ".dvc" / "config").read_text()
    ignored = ["data/make_pairs", "results/evaluate_pairs/tables", "mlruns/mlflow.db"]
    asked = [*ignored, "params.yaml", "constructions"]
    assert run(folder, "git", "check-ignore", *asked).stdout.split() == ignored


@pytest.mark.parametrize("inside", [True, False], ids=["a folder in it", "the repository itself"])
def test_a_repository_that_is_there_is_used(tmp_path, inside):
    run(tmp_path, "git", "init", "--quiet")
    folder = tmp_path / "study" if inside else tmp_path
    init(folder)
    assert (folder / ".git").exists() != inside
    with chdir(folder), Repo() as repo:
        status = repo.status()
    assert "make_pairs" in status
    assert status["list_code"][-1] == "always changed"  # the installed code is no file of the project


def test_what_cannot_become_a_project_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    for name in ("notes.txt", ".env"):
        folder = tmp_path / name.strip(".")
        folder.mkdir()
        (folder / name).write_text("mine")
        refused = f"{folder} is not empty ({name} ...); name a new folder, so that nothing is replaced\n"
        assert call("init", folder, "--preset", "pairs") == (2, refused)
        assert [path.name for path in folder.iterdir()] == [name]
    new = tmp_path / "new"
    assert "is a file" in call("init", tmp_path / "env" / ".env")[1]
    assert "did you mean 'pairs'" in call("init", new, "--preset", "pair")[1]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git is not installed" in call("init", new)[1]
    assert not new.exists()


def test_it_says_the_next_commands_and_nothing_of_other_programs(made, monkeypatch):
    folder, output = made
    assert output.startswith(f"{folder} is a project with the preset pairs. Next:")
    assert f"\n    cd {folder}\n    cxprobe check " in output
    assert "Initialized" not in output
    monkeypatch.chdir(folder)
    code, output = call("check")
    assert (code, "dvc repro make_pairs" in output) == (0, True)
