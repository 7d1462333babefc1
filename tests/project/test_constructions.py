"""constructions/README.md, made from the data and the tracked results; and what baselines get before any run."""

import re
from pathlib import Path

import pytest
from command_line import call

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.project.constructions import make_page

PAIRS = "model,construction,source,facet,level,measure,value,low,high,n\n"


def write_rates(task, text):
    path = Path("results", f"evaluate_{task}", "rates.csv")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")


def test_the_page_in_git_is_what_the_data_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    kept = (ROOT / "constructions" / "README.md").read_text()
    assert kept == make_page(), "the data have changed; `cxprobe check` writes the page anew"


def test_what_baseline_models_get_is_read_from_the_tracked_results(toy_project):
    rows = "first-mentioned,toy,real,,,accuracy,0.75,0.5,0.9,24\nmlm,toy,real,,,accuracy,1,1,1,24\n"
    write_rates("pairs", PAIRS + rows)
    head = "model,construction,source,facet,level,measure,value,low,high,n\n"
    asked = head + "first-referent,toy,reasoning,setting,0.False.none,accuracy,0.25,0.2,0.3,8.0\n"
    asked += "hypothesis-only,toy,templatic,setting,0.False.none,accuracy,1,0.5,1,4\n"
    write_rates("prompts", asked + "hypothesis-only,toy,templatic,all_items,,accuracy,1,0.5,1,9\n")
    write_rates(
        "scenarios",
        "model,construction,facet,level,measure,value,low,high,n\ncopier,toy,scenario,S1,accuracy,1,1,1,6\n",
    )
    page = make_page()
    for row in (
        "| minimal pairs | 24 | first-mentioned 75 % [50, 90] |",
        "| multiple choice, 0 shots | 8 | first-referent 25 % [20, 30] |",
        "| inference, 0 shots | 4 | hypothesis-only 100 % [50, 100] |",
        "| scenario S1: base text | 6 | copier 100 % [100, 100] |",
    ):
        assert row in page
    assert "mlm" not in page


@pytest.mark.parametrize(
    "text", ["model,construction\nshorter,toy\n", PAIRS + "shorter,toy,real,,,accuracy,much,0,1,24\n", "\xff"]
)
def test_a_damaged_table_of_results_is_told(toy_project, text):
    write_rates("pairs", text)
    with pytest.raises(DataError, match=r"results/evaluate_pairs/rates\.csv"):
        make_page()


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
