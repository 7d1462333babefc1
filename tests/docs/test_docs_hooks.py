"""What makes pages: models, numbers of the recorded run, links, the picture."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from written_pages import PAGES  # which finds the hooks

from conftest import ROOT

pytest.importorskip("mkdocs", reason="needs the extra docs")
from formats_in_markdown import describe_formats
from pages import describe_results
from picture import PICTURE, write
from rates import RATES, fill_rates


def test_the_numbers_and_verdicts_of_pages_are_those_of_the_recorded_run():
    how = "`python docs/hooks/rates.py` writes them anew"
    for page in PAGES:
        assert page.read_text() == fill_rates(page.read_text(), ROOT), (page, how)
        assert "{{" not in page.read_text(), page


def test_a_number_is_that_of_the_row_that_its_comment_describes(tmp_path):
    (tmp_path / "recorded").mkdir()
    table = "model,measure,value,low,high,n\na,accuracy,0.5,0.4,0.6,10\nb,accuracy,0.25,0.1,0.4,20\n"
    (tmp_path / RATES).write_text(table)
    page = "It gets <!-- recorded: model=b -->?<!-- -->."
    assert "-->25 % [10, 40], n = 20<!-- -->." in fill_rates(page, tmp_path).replace("\u00a0", " ")
    with pytest.raises(ValueError, match=r"rates.csv has 2 rows with .*accuracy.*; describe one"):
        fill_rates(page.replace("model=b", "measure=accuracy"), tmp_path)


def test_the_page_of_file_formats_in_git_is_what_the_code_says():
    kept = (ROOT / "docs" / "reference" / "formats.md").read_text()
    how = "`python docs/hooks/formats_in_markdown.py` writes it anew"
    assert kept == describe_formats(ROOT), how


def test_the_picture_and_its_text_are_what_the_results_say(tmp_path):
    for name in ("recorded", "constructions", "lexicon"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text())
    (tmp_path / PICTURE).parent.mkdir(parents=True)
    write(tmp_path)
    how = "the results have changed; `python docs/hooks/picture.py` draws the picture anew"
    assert (tmp_path / "README.md").read_text() == (ROOT / "README.md").read_text(), how
    assert texts_of(tmp_path / PICTURE) == texts_of(ROOT / PICTURE), how


def texts_of(path: Path) -> list[str]:
    """Return the texts of an SVG: its lines depend on the version of what draws them."""
    kinds = ("text", "title")
    root = ElementTree.parse(path).getroot()
    return [str(one.text) for kind in kinds for one in root.iter(f"{{http://www.w3.org/2000/svg}}{kind}")]


def test_what_was_sent_can_be_shown_and_claims_to_reproduce_nothing_that_it_does_not():
    text, table = (ROOT / "docs" / "howto" / "papers.md").read_text(), describe_results(ROOT / "docs" / "reproduced")
    same = [line for line in table.splitlines() if "| yes |" in line]
    assert ("**No published number has been reproduced yet" in text) == (not same)
