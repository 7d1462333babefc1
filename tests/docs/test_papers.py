"""docs/papers.md: its commands lead to a project without fault."""

import re

import pytest
from preset_project import leave_out_constructions, write_imports
from ruamel.yaml import YAML
from typer.testing import CliRunner

from conftest import ROOT
from cxprobe.cli import app

PAGE = (ROOT / "docs" / "papers.md").read_text()
READ = YAML(typ="safe", pure=True)
SECTIONS = PAGE.split("\n## ")[1:-1]
PAPERS = {name: text for text in SECTIONS for name in re.findall(r"Preset: `presets/(\w+)\.yaml`", text)}


def commands_of(name: str) -> list[str]:
    return re.findall(r"^ {4}(.*?)(?: {2,}#.*)?$", PAPERS[name], re.M)


def imports_of(name: str) -> list[dict[str, str]]:
    """Return the options of each `dvc import` of a page."""
    pattern = r"dvc import (?P<url>https://\S+) (?P<path>\S+) --rev (?P<rev>\S+) --out (?P<out>\S+)"
    return [re.fullmatch(pattern, line).groupdict() for line in commands_of(name) if line.startswith("dvc import")]


@pytest.mark.parametrize("name", ["weissweiler2022", "scivetti2025", "oba2026"])
def test_a_reader_who_follows_the_page_has_a_project_without_fault_before_the_first_stage(name, tmp_path, monkeypatch):
    leave_out_constructions(monkeypatch)
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    for line in commands_of(name):
        match line.split():
            case ["cxprobe", "init", *words]:
                assert run(app, ["init", *words]).exit_code == 0
            case ["cd", folder]:
                monkeypatch.chdir(tmp_path / folder)
            case ["dvc", "repro", *_]:
                break
    params = READ.load((tmp_path / folder / "params.yaml").read_text())
    write_imports(tmp_path / folder, params)  # small files in the places of those that the page imports
    imported = [path for path in (tmp_path / folder / "data" / "benchmarks").rglob("*.*") if path.name != ".gitignore"]
    outs = tuple(f"{tmp_path / folder / one['out']}/" for one in imports_of(name))
    assert [path for path in imported if not str(path).startswith(outs)] == []
    done = run(app, ["check"])
    faults = [line for line in done.output.splitlines() if not line.endswith("fault")]
    assert not faults or done.exit_code == 0, done.output
