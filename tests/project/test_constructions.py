"""constructions/README.md, made from the data; and what baselines get before any run."""

import re
from pathlib import Path

from command_line import call

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


def test_baseline_models_are_asked_about_new_items_before_any_run(toy_project):
    code, output = call("check", "--baselines", "toy")
    assert code == 0
    pairs, _, others = output.partition("inference:\n")
    assert pairs.startswith("minimal pairs:\n")
    assert re.search(r"first-mentioned: 50 % \[\d+, \d+\], n = \d+|first-mentioned: \d+ of \d+ right", pairs)
    assert "hypothesis-only" in others
    assert not (toy_project / "data").exists() or not list((toy_project / "data").glob("*/*"))
    assert not (toy_project / "constructions" / "README.md").exists()
    assert call("check", "--baselines", "toyy")[0] == 2
