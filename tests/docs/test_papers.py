"""docs/papers.md: the presets, models and published files that it names are there; and the page of each paper."""

import csv
import re

import pytest
from preset_project import leave_out_constructions, write_imports
from ruamel.yaml import YAML
from typer.testing import CliRunner

from conftest import ROOT
from cxprobe.cli import app

PAGE = (ROOT / "docs" / "papers.md").read_text()
READ = YAML(typ="safe", pure=True)
PAPERS = PAGE.split("\n## ")[1:-1]


def preset_of(paper: str) -> dict:
    (name,) = re.findall(r"Preset: `presets/(\w+)\.yaml`", paper)
    presets = [READ.load(ROOT / "presets" / f"{one}.yaml") for one in ("base", name)]
    return {kind: {**presets[0].get(kind, {}), **presets[1].get(kind, {})} for kind in ("models", "llms")}


def test_every_published_file_stands_beside_something():
    named = set(re.findall(r"`(\w+\.tsv)`", PAGE))
    assert named == {path.name for path in (ROOT / "published").glob("*.tsv")}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper[:3])
def test_the_models_of_a_paper_are_in_its_preset(paper):
    preset = preset_of(paper)
    known = {*preset["models"], *preset["llms"]}
    known |= {name for entry in preset["models"].values() for name in entry.get("checkpoints", {})}
    for listed in re.findall(r"Models: ([^.|]+)\.", paper):
        assert set(listed.split(", ")) <= known


def test_published_names_of_models_are_in_the_published_tables():
    table = PAGE.split("## Names of models")[1]
    cells = set()
    for path in (ROOT / "published").glob("*.tsv"):
        cells.update(cell for row in csv.reader(path.open(), delimiter="\t") for cell in row)
    names = re.findall(r"^- `([\w-]+)`: (.+)$", table, re.M)
    assert len(names) > 10
    assert {published for _, published in names} <= cells


SECTIONS = (ROOT / "docs" / "howto" / "papers.md").read_text().split("\n## ")
HOW_TO = {name: text for text in SECTIONS for name in re.findall(r"cxprobe init \w+ --preset (\w+)", text)}
every_paper = pytest.mark.parametrize("name", HOW_TO)


def test_each_paper_has_a_section_with_its_commands():
    assert set(HOW_TO) == {"weissweiler2022", "scivetti2025", "oba2026"}


def commands_of(name: str) -> list[str]:
    return re.findall(r"^ {4}(.*?)(?: {2,}#.*)?$", HOW_TO[name], re.M)


def imports_of(name: str) -> list[dict[str, str]]:
    """Return the options of each `dvc import` of a page."""
    pattern = r"dvc import (?P<url>https://\S+) (?P<path>\S+) --rev (?P<rev>\S+) --out (?P<out>\S+)"
    return [re.fullmatch(pattern, line).groupdict() for line in commands_of(name) if line.startswith("dvc import")]


@every_paper
def test_every_table_and_figure_of_the_ledger_that_has_a_file_is_on_the_page_of_its_paper(name):
    page = HOW_TO[name]
    (ledger,) = [paper for paper in PAPERS if f"presets/{name}.yaml" in paper]
    if "`report`" in ledger:
        assert "dvc repro report" in page
    files = set(re.findall(r"`results/(?:evaluate_\w+|report)/([\w/-]+\.(?:csv|png))`", ledger))
    shown = {file for file in files if file.split("/")[-1] in page}
    assert len(shown) >= min(len(files), 3), files


@every_paper
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
    faults = [line for line in done.output.splitlines() if "wuggy" not in line and not line.endswith("fault")]
    assert not faults or done.exit_code == 0, done.output
