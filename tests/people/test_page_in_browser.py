"""The labelling page: read as text, and used in a real browser where there is one."""

import re
import sys
from importlib.resources import files

import pytest
from chromium import CHROMIUM, browser
from html_page import Page
from labelling_desk import serving

from cxprobe.people.labels import read_labels

PAGE = files("cxprobe.people").joinpath("label.html").read_text(encoding="utf-8")


ELEMENTS = [(element["tag"], element["attrs"]) for element in Page(PAGE).elements]
IDS = [attrs["id"] for _, attrs in ELEMENTS if "id" in attrs]


def test_the_page_asks_nobody_else_for_anything():
    addresses = [value for _, attrs in ELEMENTS for name, value in attrs.items() if name in ("src", "href", "action")]
    assert addresses == ["data:,"]
    assert not re.search(r"https?://(?!\S*/\.test)", PAGE.replace(r"https?:\/\/", ""))
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|\son\w+=", PAGE)


def test_every_field_has_a_label_and_every_key_its_button():
    labels = {attrs.get("for") for tag, attrs in ELEMENTS if tag == "label"}
    fields = {attrs["id"] for tag, attrs in ELEMENTS if tag == "input" and attrs["type"] != "checkbox"}
    assert fields <= labels
    keys = {attrs["data-answer"]: attrs["aria-keyshortcuts"] for tag, attrs in ELEMENTS if "data-answer" in attrs}
    assert keys == {one: one for one in "pnuzbs"}
    assert len(IDS) == len(set(IDS))
    assert set(re.findall(r'byId\("(\w+)"\)', PAGE)) <= set(IDS)


NUMBER = "document.getElementById('number').textContent"
STATUS = "document.getElementById('said').textContent"
FAULT = "document.getElementById('fault').textContent"


@pytest.mark.skipif(CHROMIUM is None or sys.platform != "linux", reason="needs Chromium")
def test_a_person_labels_with_keys_and_buttons(tmp_path):
    labels = tmp_path / "labels.tsv"
    with serving(tmp_path) as server, browser(tmp_path / "profile") as tab:
        tab.open(server.address)
        tab.until(f"{NUMBER} === '1 of 4'")
        assert tab.run("document.querySelectorAll('mark').length") == 4
        assert "each half is a clause" in tab.run("document.body.innerText")
        tab.press("p")
        tab.until(f"{NUMBER} === '2 of 4'")
        assert tab.run(STATUS) == "number 1 is positive. Now number 2."
        tab.press("2")
        tab.until("document.querySelector('#sentence-2').classList.contains('chosen')")
        tab.press("n")
        tab.until("document.querySelector('#sentence-2 [aria-pressed=true]') !== null")
        assert tab.run("document.querySelector('#sentence-2 [aria-pressed=true]').textContent") == "negative"
        tab.run("document.getElementById('unclear').click()")
        tab.until(f"{NUMBER} === '3 of 4'")
        saved = {(one.kind, one.label) for one in read_labels(labels)}
        assert saved == {("sentence", "negative"), ("sequence", "positive"), ("sequence", "unclear")}
        for place in ("2 of 4", "2 of 4", "1 of 4"):
            before = tab.run(STATUS)
            tab.press("z")
            tab.until(f"{NUMBER} === '{place}' && {STATUS} !== '{before}'")
        assert read_labels(labels) == []
        tab.press("g")
        tab.press("4")
        tab.press("Enter")
        tab.until(f"{NUMBER} === '4 of 4'")
        tab.press("g")
        tab.press("p")  # is typed into the field, and labels nothing
        tab.press("Escape")
        assert read_labels(labels) == []
        tab.run("document.getElementById('keys').click()")
        tab.press("p")
        tab.run("document.getElementById('keys').click()")
        tab.press("n")
        tab.until("document.getElementById('progress').textContent.startsWith('1 of 4 labelled')")
        assert [one.label for one in read_labels(labels)] == ["negative"]
        tab.call("Page.reload")
        tab.until(f"document.readyState === 'complete' && {NUMBER} !== ''")
        assert tab.run("document.getElementById('progress').textContent").startswith("1 of 4 labelled")
        for width in (400, 1400):
            tab.resize(width, 800)
            assert tab.run("document.scrollingElement.scrollWidth") <= width
        assert tab.faults() == []
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        tab.press("p")
        tab.until(f"{FAULT}.startsWith('Not saved')")
