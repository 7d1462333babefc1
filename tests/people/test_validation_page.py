"""The page of a form, read as a browser reads it, without a browser."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from judged import items

from conftest import ROOT
from cxprobe.people.form_page import render_page
from cxprobe.people.forms import LETTERS, Form, make_forms
from cxprobe.people.wording import load_wording

WORDING = load_wording(ROOT / "prompts" / "validation.yaml")
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Page(HTMLParser):
    """Collects the elements of a page: tag, attributes, the text in it, and the fieldset around it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        group = next((one["attrs"].get("id") for one in reversed(self.open) if one["tag"] == "fieldset"), None)
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "group": group}
        self.elements.append(element)
        if tag not in EMPTY:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        for one in self.open:
            one["text"] += data

    def all(self, tag, **attrs):
        return [
            one
            for one in self.elements
            if one["tag"] == tag and all(one["attrs"].get(key) == value for key, value in attrs.items())
        ]


FORM = make_forms(items(2, 4, 2), WORDING.checks, 2, 8, 1)[0]
TEXT = render_page(FORM, "export-0", WORDING.tasks.pairs)
PAGE = Page(TEXT)


def test_every_question_is_a_group_with_a_legend_and_radio_buttons_that_exclude_each_other():
    groups = [one for one in PAGE.all("fieldset") if one["attrs"]["id"] != "who"]
    assert [one["attrs"]["id"] for one in groups] == [f"q{number + 1}" for number in range(len(FORM.questions))]
    for group, question in zip(groups, FORM.questions, strict=True):
        own = group["attrs"]["id"]
        (legend,) = [one for one in PAGE.all("legend") if one["group"] == own]
        assert legend["text"].endswith(f"{question.text} {question.question}")
        buttons = [one["attrs"] for one in PAGE.all("input", type="radio") if one["group"] == own]
        assert {one["name"] for one in buttons} == {own}
        assert [one["value"] for one in buttons] == list(LETTERS[: len(question.options)])
        assert not [one for one in buttons if "checked" in one]


def test_every_field_has_a_label_that_says_what_it_is():
    labels = {one["attrs"]["for"]: " ".join(one["text"].split()) for one in PAGE.all("label")}
    fields = [one["attrs"]["id"] for tag in ("input", "textarea") for one in PAGE.all(tag)]
    assert sorted(labels) == sorted(fields)
    for number, question in enumerate(FORM.questions, start=1):
        for letter, option in zip(LETTERS, question.options, strict=False):
            assert labels[f"q{number}-{letter}"] == f"{letter} {option}"


def test_what_the_page_refers_to_is_there_once():
    ids = [one["attrs"]["id"] for one in PAGE.elements if "id" in one["attrs"]]
    assert len(ids) == len(set(ids))
    described = [one["attrs"]["aria-describedby"] for one in PAGE.elements if "aria-describedby" in one["attrs"]]
    assert {name for names in described for name in names.split()} <= set(ids)
    assert set(re.findall(r'getElementById\("([\w-]+)"\)', TEXT)) <= set(ids)


def test_the_page_asks_nothing_of_any_other_file_or_server():
    assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch\(|XMLHttpRequest|sendBeacon|WebSocket", TEXT)
    assert not [one for one in PAGE.elements if "src" in one["attrs"] or "action" in one["attrs"]]
    links = [one["attrs"]["href"] for one in PAGE.elements if "href" in one["attrs"]]
    assert links == ["data:,"]
    (policy,) = PAGE.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["attrs"]["content"].startswith("default-src 'none'")


def test_the_page_fits_a_telephone_and_says_its_language():
    (viewport,) = PAGE.all("meta", name="viewport")
    assert "width=device-width" in viewport["attrs"]["content"]
    assert PAGE.all("html", lang="en")
    assert not PAGE.open


def test_faults_and_what_is_done_are_announced():
    assert PAGE.all("div", id="faults", role="alert")
    assert PAGE.all("p", id="done", role="status")
    assert [one["text"] for one in PAGE.all("button", type="submit")] == ["Save answers"]


def test_the_page_does_not_say_what_is_right():
    for question in FORM.questions:
        assert question.kind == "check" or question.item not in TEXT
    assert "gold" not in TEXT
    swapped = [replace(one, gold="B" if one.gold == "A" else "A", answers=one.answers[::-1]) for one in FORM.questions]
    assert render_page(Form(FORM.number, tuple(swapped)), "export-0", WORDING.tasks.pairs) == TEXT


@pytest.mark.parametrize("nasty", ['</script><b id="x">', "{{title}}", 'a "quoted" & <b>'])
def test_texts_are_texts_whatever_they_have(nasty):
    question = replace(FORM.questions[0], text=nasty, options=(nasty, "B"))
    page = Page(render_page(Form(1, (question,)), "export-0", WORDING.tasks.pairs))
    (shown,) = page.all("span", **{"class": "text"})
    assert shown["text"] == nasty
    assert not page.all("b", id="x")
