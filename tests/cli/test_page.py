"""The page about constructions: it has an example of every kind of item, with its gold."""

import re

import pytest
from html_page import Page
from markdown import Markdown

from conftest import PEOPLE
from cxprobe.cli.page import BIASES, NOTHING_FOLLOWS, TESTS_OF_REASONING, BlindRate, Content, page_of
from cxprobe.constructions.construction import Construction, load_construction
from cxprobe.constructions.people import load_people
from cxprobe.constructions.templates import spell
from cxprobe.pairs.frames import PairsFile, load_pairs
from cxprobe.prompts.items import TESTS, load_items
from cxprobe.scenarios.rules import load_scenarios

RATES = [
    BlindRate("toy", "minimal pairs", "shorter", 0.5, 0.4, 0.6, 24),
    BlindRate("toy", "minimal pairs", "first-mentioned", 0.976, 0.914, 1.0, 24),
    BlindRate("toy", "scenario S1", "copier", 0.25, 0.2, 0.3, 8),
    BlindRate("other", "minimal pairs", "longer", 0.5, 0.4, 0.6, 24),
]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.yaml"
    path.write_text(PEOPLE)
    return load_people(path)


@pytest.fixture(scope="module")
def toy(toy_constructions, people):
    """All files of the toy construction."""
    name, folder = "toy", toy_constructions
    pairs, items, scenarios = load_pairs(name, people, folder), load_items(name, folder), load_scenarios(name, folder)
    return Content(load_construction(name, folder), {"minimal pairs": pairs}, items, scenarios)


def rows_of(page):
    """Return the cells of every row of every table."""
    lines = [line for line in page.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_rival(toy):
    """Return the toy construction with a rival of its first variant, which is the project's own."""
    pairs = toy.pairs["minimal pairs"]
    variants = pairs.variants
    first = variants["A"].model_copy(update={"rival": "{N1} {verb} {gift} for | {N2}.", "origin": "own"})
    return toy._replace(pairs={"minimal pairs": pairs.model_copy(update={"variants": {**variants, "A": first}})})


def test_every_variant_is_shown_with_its_rival_and_the_first_with_its_people_exchanged(toy, people):
    rows = rows_of(page_of({"toy": with_rival(toy)}, people, []))
    ann, eve = ("The one who gave her something is Ann.", "The one who gave her something is Eve.")
    got_from = ["She got a cake because {} gave it to {}.".format(*names) for names in (("Ann", "Eve"), ("Eve", "Ann"))]
    assert rows[rows.index(["variant", "sentence", "right", "wrong"]) + 1 :][:5] == [
        ["A (own)", "Ann baked Eve a cake.", ann, eve],
        ["A (own), rival", r"Ann baked a cake for \| Eve.", eve, ann],
        ["A (own), switched", "Eve baked Ann a cake.", eve, ann],
        ["A (own), switched, rival", r"Eve baked a cake for \| Ann.", ann, eve],
        ["B", "Ann baked Eve a cake.", *got_from],
    ]


def test_every_reading_has_a_premise_and_every_hypothesis_its_relation_to_it(toy, people):
    rows = rows_of(page_of({"toy": toy}, people, []))
    head = rows.index(["hypothesis", "about the first premise below", "entailment", "neutral", "contradiction"])
    assert rows[head + 1 :][:6] == [
        ["done", "The cats were drawn.", "1", "1", "0"],
        ["quick", "The king drew them quickly.", "0", "1", "1"],
        ["not-done", "The king did not draw the cats.", "1", "0", "1"],
        ["reading", "premises", "the first one", "done", "quick", "not-done"],
        ["asserted", "1", "The king drew the cats.", "E", "N", "C"],
        ["denied", "1", "Ann never fed the cat.", "N", "C", "E"],
    ]
    assert ["Ann did not sleep home.", "entailment"] in rows


def test_every_test_of_reasoning_is_shown_with_its_answer(toy, people):
    page = page_of({"toy": toy}, people, [])
    rows = rows_of(page)
    head = rows.index(["test", "what is changed", "text", "answer"])
    told = {test: (text, answer) for test, _, text, answer in rows[head + 1 :][:8]}
    assert told["base"] == ("The older you are, the calmer you are. Ann is older than Bob and his dog.", "Ann")
    assert told["vocabulary"][1] == told["name"][1] == "Bob"
    assert {answer for _, answer in told.values()} == {"Ann", "Bob", NOTHING_FOLLOWS}
    assert list(told) == list(TESTS) == list(TESTS_OF_REASONING)
    assert f"*Of Ann and Bob, who is calmer?* The options are: Ann, Bob, or {NOTHING_FOLLOWS}." in page


def test_every_scenario_and_calibration_is_shown_with_its_answer(toy, people):
    rows = rows_of(page_of({"toy": toy}, people, []))
    head = rows.index(["text", "what is changed", "example", "answer"])
    first, _, third, short = rows[head + 1 :][:4]
    words = {"ADJ1": "big", "ANT1": "small", "ADJ2": "fast", "ANT2": "slow", "NOUN1": "cat", "NOUN2": "dog"}
    tests, calibrations = toy.scenarios.tests, toy.scenarios.calibrations
    assert first == ["S1", BIASES["none"], spell(tests["S1"].text, words), "fast"]
    assert third[3] == "slow"
    assert short == [
        "short",
        f"calibration: {BIASES['short']}",
        spell(calibrations["short"].texts[0], words),
        "none",
    ]


def test_what_blind_models_get_is_rounded_and_the_best_comes_first(toy, people):
    rows = rows_of(page_of({"toy": toy}, people, RATES))
    assert ["minimal pairs", "24", "first-mentioned 98 % [91, 100], shorter 50 % [40, 60]"] in rows
    assert ["scenario S1", "8", "copier 25 % [20, 30]"] in rows
    assert not any("longer" in cell for row in rows for cell in row)


def test_pairs_without_people_and_context_are_shown(toy, people):
    form = PairsFile.model_validate(
        {
            "tests": "form",
            "slots": {"one": {"gloss": "a noun"}},
            "variants": {"A": {"continuation": "{one} {v}.", "contrast": {"v": {"good": "sings", "bad": "sing"}}}},
            "frames": [{"one": "the bird"}],
        }
    )
    page = page_of({"toy": Content(toy.construction, pairs={"minimal pairs of form": form})}, people, [])
    assert ["A", "", "The bird sings.", "The bird sing."] in rows_of(page)
    assert "A test of form, 1 frames." in page


def test_all_rows_of_a_table_have_as_many_cells(toy, people):
    page = page_of({"toy": with_rival(toy), "again": toy}, people, RATES)
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(row) for row in rows_of(table)}) == 1, table


def test_links_lead_to_headings(toy, people):
    named = Construction.model_validate(toy.construction.model_dump() | {"name": "Way, of | manner (1)"})
    page = page_of({"toy": toy._replace(construction=named)}, people, [])
    assert "](#way-of--manner-1)" in page
    assert "## Way, of | manner (1)\n" in page


@pytest.mark.parametrize("code", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&#62;", "<!-- x"])
def test_html_in_the_data_is_shown_and_not_run(toy, people, code):
    shown = Page(Markdown(extensions=["tables"]).convert(page_of({"toy": with_texts(toy, code)}, people, [])))
    assert not {element["tag"] for element in shown.elements} & {"script", "img", "b"}
    assert code in [heading["text"] for heading in shown.all("h2")]
    assert any(code in paragraph["text"] for paragraph in shown.all("p"))
    assert any(code in cell["text"] for cell in shown.all("td"))


ADDRESSES = ["javascript:alert(1)", "JavaScript\\:alert(1)", "javascript&colon;alert(1)", "data:text/html,x"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_link_in_the_data_runs_no_code(toy, people, address):
    page = page_of({"toy": with_texts(toy, f"[x]({address})")}, people, [])
    links = Page(Markdown(extensions=["tables"]).convert(page)).all("a")
    assert not [link for link in links if re.match("(javascript|data):", link["attrs"]["href"], re.IGNORECASE)]


def with_texts(toy, text):
    """Return the toy construction with a text in its descriptions, its pairs and its premises."""
    about = toy.construction.model_copy(update={"name": text, "gloss": text, "positive": text, "sources": [text]})
    pairs = toy.pairs["minimal pairs"]
    first = pairs.variants["A"].model_copy(update={"context": f"{{N1}} {text}"})
    variants = {**pairs.variants, "A": first}
    return toy._replace(construction=about, pairs={"minimal pairs": pairs.model_copy(update={"variants": variants})})
