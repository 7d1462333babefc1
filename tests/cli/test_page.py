"""The page about constructions: it has an example of every kind of item, with its gold."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from cxprobe.cli.page import BLIND_RATE, page_of
from cxprobe.site.examples import NOTHING_FOLLOWS, TESTS_OF_REASONING, examples_of
from cxprobe.site.inputs import About
from html_page import Page
from markdown import Markdown

from conftest import PEOPLE
from cxprobe.constructions.construction import Construction, load_construction
from cxprobe.constructions.people import load_people
from cxprobe.pairs.frames import PairsFile, load_pairs
from cxprobe.prompts.items import FRAME_TESTS, load_items
from cxprobe.scenarios.rules import load_scenarios

RATES = pd.DataFrame(
    [
        ("toy", "minimal pairs", "shorter", 0.5, 0.4, 0.6, 24),
        ("toy", "minimal pairs", "first-mentioned", 0.976, 0.914, 1.0, 24),
        ("toy", "scenario S1", "copier", 0.25, 0.2, 0.3, 8),
        ("other", "minimal pairs", "longer", 0.5, 0.4, 0.6, 24),
    ],
    columns=BLIND_RATE,
)
NO_RATES = RATES.head(0)


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
    return About(load_construction(name, folder), {"toy": pairs}, scenarios, items)


def rows_of(page):
    """Return the cells of every row of every table."""
    lines = [line for line in page.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_rival(toy):
    """Return the toy construction with a rival of its first variant, which is the project's own."""
    pairs = toy.pairs["toy"]
    variants = pairs.variants
    first = variants["A"].model_copy(update={"rival": "{N1} {verb} {gift} for | {N2}.", "origin": "own"})
    return replace(toy, pairs={"toy": pairs.model_copy(update={"variants": {**variants, "A": first}})})


def test_every_variant_is_shown_with_its_rival_and_the_first_with_its_people_exchanged(toy, people):
    rows = rows_of(page_of({"toy": with_rival(toy)}, people, NO_RATES))
    ann, eve = ("The one who gave her something is Ann.", "The one who gave her something is Eve.")
    got_from = ["She got a cake because {} gave it to {}.".format(*names) for names in (("Ann", "Eve"), ("Eve", "Ann"))]
    first, rival = "minimal pair, variant A (own)", ", rival without the construction"
    assert rows[rows.index(["item", "text", "right", "wrong"]) + 1 :][:5] == [
        [first, "Ann baked Eve a cake.", ann, eve],
        [first + rival, r"Ann baked a cake for \| Eve.", eve, ann],
        [f"{first}, switched", "Eve baked Ann a cake.", eve, ann],
        [f"{first}, switched{rival}", r"Eve baked a cake for \| Ann.", ann, eve],
        ["minimal pair, variant B", "Ann baked Eve a cake.", *got_from],
    ]


def test_a_premise_has_all_hypotheses_and_other_readings_and_the_look_alikes_have_one(toy, people):
    told = [tuple(one)[:3] for one in examples_of(toy, people) if one.kind.startswith("inference")]
    drawn, asked = "The king drew the cats. Does it follow: ", "inference, asserted, "
    assert told == [
        (f"{asked}done", f"{drawn}The cats were drawn.", "entailment"),
        (f"{asked}quick", f"{drawn}The king drew them quickly.", "neutral"),
        (f"{asked}not-done", f"{drawn}The king did not draw the cats.", "contradiction"),
        ("inference, denied, done", "Ann never fed the cat. Does it follow: The cat was fed.", "neutral"),
        *[one for one in told if one[0].startswith("inference, look-alike")],
    ]
    assert told[-1][1:] == ("Ann slept at home. Does it follow: Ann did not sleep home.", "entailment")


def test_every_test_of_reasoning_is_shown_with_its_answer(toy, people):
    told = [one for one in examples_of(toy, people) if one.kind.startswith("multiple choice")]
    assert [one.kind for one in told] == [
        f"multiple choice, {test}: {TESTS_OF_REASONING[test]}" for test in FRAME_TESTS
    ]
    base = "The older you are, the calmer you are. Ann is older than Bob and his dog. Of Ann and Bob, who is calmer?"
    assert told[0][1:] == (base, "Ann", f"Bob, {NOTHING_FOLLOWS}")
    assert [one.right for one in told[2:4]] == ["Bob", "Bob"]
    assert {one.right for one in told} == {"Ann", "Bob", NOTHING_FOLLOWS}


def test_every_scenario_and_calibration_is_shown_with_its_answer(toy, people):
    told = [one for one in examples_of(toy, people) if one.kind.startswith("scenario")]
    assert (told[0].kind, told[0].right, told[0].wrong) == ("scenario S1: base text", "fast", "slow")
    assert told[2].right == "slow"
    [short] = [one for one in told if one.kind == "scenario short, calibration: without the construction"]
    assert (short.right, short.wrong) == ("none", "")


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
    page = page_of({"toy": About(toy.construction, {"toy-form": form}, None, None)}, people, NO_RATES)
    assert ["minimal pair of form, variant A", "", "The bird sings.", "The bird sing."] in rows_of(page)


def test_all_rows_of_a_table_have_as_many_cells(toy, people):
    page = page_of({"toy": with_rival(toy), "again": toy}, people, RATES)
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(row) for row in rows_of(table)}) == 1, table


def test_links_lead_to_headings(toy, people):
    named = Construction.model_validate(toy.construction.model_dump() | {"name": "Way, of | manner (1)"})
    page = page_of({"toy": replace(toy, construction=named)}, people, NO_RATES)
    assert "](#way-of--manner-1)" in page
    assert "## Way, of | manner (1)\n" in page


@pytest.mark.parametrize("code", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;b&#62;", "<!-- x"])
def test_html_in_the_data_is_shown_and_not_run(toy, people, code):
    shown = Page(Markdown(extensions=["tables"]).convert(page_of({"toy": with_texts(toy, code)}, people, NO_RATES)))
    assert not {element["tag"] for element in shown.elements} & {"script", "img", "b"}
    assert code in [heading["text"] for heading in shown.all("h2")]
    assert any(code in paragraph["text"] for paragraph in shown.all("p"))
    assert any(code in cell["text"] for cell in shown.all("td"))


ADDRESSES = ["javascript:alert(1)", "JavaScript\\:alert(1)", "javascript&colon;alert(1)", "data:text/html,x"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_link_in_the_data_runs_no_code(toy, people, address):
    page = page_of({"toy": with_texts(toy, f"[x]({address})")}, people, NO_RATES)
    links = Page(Markdown(extensions=["tables"]).convert(page)).all("a")
    assert not [link for link in links if re.match("(javascript|data):", link["attrs"]["href"], re.IGNORECASE)]


def with_texts(toy, text):
    """Return the toy construction with a text in its descriptions, its pairs and its premises."""
    about = toy.construction.model_copy(update={"name": text, "gloss": text, "positive": text, "sources": [text]})
    pairs = toy.pairs["toy"]
    first = pairs.variants["A"].model_copy(update={"context": f"{{N1}} {text}"})
    variants = {**pairs.variants, "A": first}
    return replace(toy, construction=about, pairs={"toy": pairs.model_copy(update={"variants": variants})})
