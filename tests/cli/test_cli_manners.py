"""How the command line behaves: quick, complete, and of help where something is mistyped or in the wrong place."""

import json
import subprocess
import sys

import pytest
import typer
from command_line import call as called

from conftest import ROOT, project_environment
from cxprobe.cli import app, require_project
from cxprobe.errors import ProjectError

pytest_plugins = ["small_disks"]

SLOW_TO_IMPORT = {"datatrove", "dvc", "matplotlib", "mlflow", "nltk", "numpy", "pandas", "torch", "transformers"}
# A command that needs a project -> its arguments.
IN_A_PROJECT = {
    "check": [],
    "preset": ["pairs"],
    "sync": [],
    "ui": [],
    "label": ["toy"],
    "add": ["construction", "mine"],
    "export": ["csv", "answers.csv"],
}


def call(*words: str):
    code, output = called(*words)
    return code, " ".join(output.split())


def imported_by(*words: str) -> set[str]:
    """Return the modules that a command imports in a process of its own."""
    code = (
        "import json, sys\nfrom cxprobe.cli import app\n"
        f"try: app({list(words)!r})\nfinally: print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=project_environment(ROOT), capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("add", "--help"), ("score", "--help")], ids=" ".join)
def test_help_imports_nothing_that_takes_long(words):
    assert not imported_by(*words) & {*SLOW_TO_IMPORT, "ruamel"}


@pytest.mark.pipeline
def test_check_of_the_project_in_git_imports_no_library_that_measures(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert not imported_by("check") & (SLOW_TO_IMPORT - {"dvc", "nltk", "numpy", "pandas"} | {"sklearn", "spacy"})


def test_every_command_has_help_and_stands_in_a_group():
    code, output = call("--help")
    assert code == 0
    commands = typer.main.get_command(app).commands
    assert set(commands) == {*IN_A_PROJECT, "compare", "evaluate", "init", "score"}
    assert len(commands) <= 14
    for command in commands:
        assert f" {command} " in output
        assert call(command, "--help")[0] == 0
    assert "│ Commands" not in output  # the group of those that have none


def test_a_warning_is_its_text_alone(tmp_path):
    (tmp_path / "pairs.tsv").write_text("good\tbad\nThe same.\tThe same.\nOne dog barks.\tOne dog bark.\n")
    code = "from cxprobe.cli import app; app(['compare', 'pairs.tsv', '--model', 'mini-clm'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "warning: 1 of 2 pairs tie, since both texts have the same tokens" in done.stderr.splitlines()


def test_a_folder_below_a_project_is_told_the_nearest_that_is_one(tmp_path):
    (tmp_path / "constructions").mkdir()
    require_project(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(ProjectError, match=rf"\(cd {tmp_path}\)"):
        require_project(tmp_path / "a" / "b")


@pytest.mark.parametrize("command", IN_A_PROJECT)
def test_a_command_of_a_project_says_elsewhere_where_to_go(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code, output = call(*command.split(), *IN_A_PROJECT[command])
    assert code == 2
    assert f"{tmp_path} is no project: it has no params.yaml, dvc.yaml or constructions/" in output
    assert "make a project with `cxprobe init FOLDER`" in output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_fault_without_a_traceback(toy_project, small_disk):
    small_disk(toy_project / "constructions", "64k,ro")
    code, output = call("add", "construction", "mine")
    assert (code, "read-only file system; give your user the right to read and write there" in output) == (2, True)
