"""constructions/README.md, made from the data: links lead somewhere, and nothing in the data runs."""

import re
from pathlib import Path

import pytest
from html_page import Page
from markdown import Markdown

from conftest import ROOT, TOY_PROJECT
from cxprobe.constructions.construction import PEOPLE_FILE, Construction, load_construction, load_people
from cxprobe.project.constructions import make_page, page_of
from cxprobe.results.task import ConstructionFiles
from cxprobe.tasks.pairs.frames import load_pairs
from cxprobe.tasks.pairs.task import ConstructionPairs
from cxprobe.tasks.prompts.items import load_items
from cxprobe.tasks.scenarios.rules import load_scenarios


@pytest.fixture(scope="module")
def toy(toy_constructions):
    """All files of the toy construction."""
    people = load_people(TOY_PROJECT / PEOPLE_FILE)
    pairs = ConstructionPairs({"toy": load_pairs("toy", people, toy_constructions)}, people)
    others = {"scenarios": load_scenarios("toy", toy_constructions), "prompts": load_items("toy", toy_constructions)}
    return ConstructionFiles(load_construction("toy", toy_constructions), {"pairs": pairs, **others})


def test_links_lead_to_headings(toy):
    named = Construction.model_validate(toy.construction.model_dump() | {"name": "Way, of | manner (1)"})
    page = page_of({"toy": toy._replace(construction=named)})
    assert r"[Way, of \| manner (1)](#way-of--manner-1)" in page
    assert "## Way, of | manner (1)\n" in page


@pytest.mark.parametrize("code", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&#62;", "<!-- x"])
def test_html_in_the_data_is_shown_and_not_run(toy, code):
    shown = Page(Markdown(extensions=["tables"]).convert(page_of({"toy": with_texts(toy, code)})))
    assert not {element["tag"] for element in shown.elements} & {"script", "img", "b"}
    assert code in [heading["text"] for heading in shown.all("h2")]
    assert any(code in paragraph["text"] for paragraph in shown.all("p"))
    assert any(code in cell["text"] for cell in shown.all("td"))


ADDRESSES = ["javascript:alert(1)", "JavaScript\\:alert(1)", "javascript&colon;alert(1)", "data:text/html,x"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_link_in_the_data_runs_no_code(toy, address):
    page = page_of({"toy": with_texts(toy, f"[x]({address})")})
    links = Page(Markdown(extensions=["tables"]).convert(page)).all("a")
    assert not [link for link in links if re.match("(javascript|data):", link["attrs"]["href"], re.IGNORECASE)]


def with_texts(toy, text):
    """Return the toy construction with a text in its descriptions, its pairs and its premises."""
    about = toy.construction.model_copy(update={"name": text, "gloss": text, "positive": text, "sources": [text]})
    pairs = toy.items["pairs"].files["toy"]
    first = pairs.variants["A"].model_copy(update={"context": f"{{N1}} {text}"})
    changed = pairs.model_copy(update={"variants": {**pairs.variants, "A": first}})
    items = toy.items | {"pairs": toy.items["pairs"]._replace(files={"toy": changed})}
    return toy._replace(items=items, construction=about)


def test_the_page_in_git_is_what_the_data_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    kept = (ROOT / "constructions" / "README.md").read_text()
    assert kept == make_page(), "the data have changed; `cxprobe check` writes the page anew"


def test_a_construction_needs_no_items(toy_project):
    for name in ("pairs.yaml", "items.yaml", "scenarios.yaml", "interventions.yaml"):
        Path("constructions/toy", name).unlink()
    assert "###" not in make_page()
