"""docs/papers.md: the presets, models and published files that it names are there."""

import csv
import re

import pytest
from ruamel.yaml import YAML

from conftest import ROOT

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
