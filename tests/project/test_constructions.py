"""constructions/README.md, made from the data."""

from pathlib import Path

from conftest import ROOT
from cxprobe.project.constructions import make_page


def test_the_page_in_git_is_what_the_data_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    kept = (ROOT / "constructions" / "README.md").read_text()
    assert kept == make_page(), "the data have changed; `cxprobe check` writes the page anew"


def test_a_construction_needs_no_items(toy_project):
    for name in ("pairs.yaml", "items.yaml", "scenarios.yaml", "interventions.yaml"):
        Path("constructions/toy", name).unlink()
    assert "###" not in make_page()
