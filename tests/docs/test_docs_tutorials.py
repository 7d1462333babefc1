"""What a page tells to do, done: the construction of the tutorial, and the commands for files."""

import re
import shutil
import subprocess

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner
from written_pages import fences

import cxprobe
from conftest import ROOT
from cxprobe.cli import app

PAGE = ROOT / "docs" / "tutorials" / "construction.md"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project's folder in which the tutorial was followed up to `cxprobe check`."""
    for name in ("constructions", "prompts", "lexicon", "published", "corpora"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "models").symlink_to(ROOT / "models")
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["new", "construction", "benefactive"])
    assert done.exit_code == 0, done.output
    for words in re.findall(r"^ {4}rm (.*)$", PAGE.read_text(), re.M):
        subprocess.run(["rm", *words.split()], check=True)
    names = re.findall(r"Replace the content of `(constructions/[\w/.-]+)`", PAGE.read_text())
    for name, text in zip(names, fences(PAGE, "yaml"), strict=False):
        (tmp_path / name).write_text(text)
    assert sorted(path.name for path in (tmp_path / "constructions" / "benefactive").iterdir()) == [
        "construction.yaml",
        "pairs.yaml",
    ]
    return tmp_path


def test_the_construction_of_the_tutorial_is_without_fault(project):
    yaml = YAML(typ="safe")
    params = yaml.load(project / "params.yaml")
    params["pairs"]["constructions"].append("benefactive")
    with (project / "params.yaml").open("w") as file:
        yaml.dump(params, file)
    done = CliRunner().invoke(app, ["check"])
    assert done.exit_code == 0, done.output


def test_the_construction_of_the_tutorial_gives_pairs_in_which_no_place_is_always_right(project):
    pairs = cxprobe.minimal_pairs("benefactive", per_cell=6, folder=project / "constructions")
    assert set(pairs["variant"]) == {"A", "B"}
    first = pairs["good"].str.contains("did something").mean()
    assert 0.4 <= first <= 0.6


SCORING = ROOT / "docs" / "howto" / "score-a-file.md"


def test_the_commands_for_files_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"Save as `([\w.]+)`[^\n]*\n\n```text\n(.*?)^```", SCORING.read_text(), re.M | re.S):
        (tmp_path / name).write_text(text)
    commands = re.findall(r"^ {4}cxprobe (.*)$", SCORING.read_text(), re.M)
    for command in commands:
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, (command, done.output)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"sentences.txt", "pairs.tsv", "tokens.csv", "scores.tsv", "decisions.tsv"} == written
