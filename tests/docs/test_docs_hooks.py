"""What makes pages: models, numbers of the recorded runs, links, the picture."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from written_pages import PAGES, name_of  # which finds the hooks

from conftest import CONSTRUCTION, ROOT

pytest.importorskip("mkdocs", reason="needs the extra docs")
from pages import describe_results
from picture import PICTURE, write
from rates import RATES, TABLE, fill_tables

from constructions import PAGE, make_page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_tables_of_a_page_are_those_of_the_recorded_runs_and_of_the_code(page):
    assert page.read_text() == fill_tables(page.read_text(), ROOT), "`python docs/hooks/rates.py` writes them anew"


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "findings.md"], ids=name_of)
def test_every_rate_of_the_pages_about_findings_stands_in_a_generated_table(page):
    by_hand = re.sub(r"```.*?```", "", TABLE.sub("", page.read_text()), flags=re.S)
    assert re.findall(r"\d %? ?\[[^\]]*\]", by_hand) == []


def test_a_rate_is_that_of_the_row_that_its_line_names(tmp_path):
    (tmp_path / "recorded").mkdir()
    head = "task,model,construction,source,measure,tests,variant,value,low,high,n"
    rows = ["pairs,a,all,real,accuracy,,,0.5,0.4,0.6,10", "pairs,a,all,real,accuracy,form,,0.25,0.1,0.4,20"]
    (tmp_path / RATES[0]).write_text("\n".join([head, *rows]))
    less = "pairs,a,all,real,accuracy,,,0.9,0.9,0.9,9"  # which the first table has
    (tmp_path / RATES[1]).write_text("\n".join([head, less, "pairs,b,all,real,contrast,,,-0.5,-0.75,0.25,10"]))
    lines = ["<!-- rates -->", "| it | rate | row |", "|---|---|---|"]
    lines += ["| x | ? | `pairs/a/all/real/accuracy/tests=form` |", "| y | | `pairs/b/all/real/contrast` |"]
    lines += ["", "<!-- rates: pairs/{column}/{row}/real/accuracy -->", "| set | a |", "|---|---|", "| all | |", ""]
    page = fill_tables("\n".join(lines), tmp_path).replace("\u00a0", " ").splitlines()
    assert page[3] == "| x | 25 % [10, 40], n = 20 | `pairs/a/all/real/accuracy/tests=form` |"
    assert page[4] == "| y | -0.500 [-0.750, +0.250] | `pairs/b/all/real/contrast` |"
    assert page[9] == "| all | 50 % [40, 60], n = 10 |"
    with pytest.raises(ValueError, match=r"recorded/ has 0 rows with pairs/c/all/real/contrast"):
        fill_tables("\n".join(lines).replace("pairs/b", "pairs/c"), tmp_path)


def test_the_picture_and_its_text_are_what_the_results_say(tmp_path):
    for name in ("recorded", "constructions", "lexicon"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text())
    (tmp_path / PICTURE).parent.mkdir(parents=True)
    write(tmp_path)
    how = "the results have changed; `python docs/hooks/picture.py` draws the picture anew"
    assert (tmp_path / "README.md").read_text() == (ROOT / "README.md").read_text(), how
    assert texts_of(tmp_path / PICTURE) == texts_of(ROOT / PICTURE), how


def test_the_page_of_constructions_in_git_is_what_the_data_say():
    made = make_page(ROOT)
    assert (ROOT / PAGE).read_text() == made, (
        "the data have changed; `python docs/hooks/constructions.py` writes it anew"
    )


def test_the_page_of_constructions_shows_names_as_they_stand_and_links_to_their_headings(toy_project):
    change = CONSTRUCTION.replace("name: Toy order", 'name: "Way, of | manner (1 < 2)"')
    (toy_project / "constructions/toy/construction.yaml").write_text(change)
    page = make_page(toy_project)
    assert r"| [Way, of \| manner (1 &lt; 2)](#way-of--manner-1--2) | Contrasts, " in page
    assert "\n## Way, of | manner (1 &lt; 2)\n" in page
    for task in ("pairs", "items", "scenarios", "interventions", "contrasts"):
        (toy_project / f"constructions/toy/{task}.yaml").unlink()
    assert "| item |" in page
    assert "| item |" not in make_page(toy_project)


def texts_of(path: Path) -> list[str]:
    """Return the texts of an SVG: its lines depend on the version of what draws them."""
    return [str(one.text) for one in ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}text")]


def test_what_was_sent_can_be_shown_and_claims_to_reproduce_nothing_that_it_does_not():
    text, table = (ROOT / "docs" / "papers.md").read_text(), describe_results(ROOT / "docs" / "reproduced")
    same = [line for line in table.splitlines() if "| yes |" in line]
    assert ("**No published number has been reproduced yet" in text) == (not same)
