"""The page about constructions: it has an example of every kind of item, with its gold."""

import re
from dataclasses import replace

import pytest
from html_page import Page
from markdown import Markdown

from conftest import PEOPLE
from cxprobe.constructions.construction import Construction, load_construction
from cxprobe.constructions.people import load_people
from cxprobe.project.constructions import page_of
from cxprobe.results.inputs import ConstructionFiles
from cxprobe.tasks.pairs.frames import PairsFile, load_pairs
from cxprobe.tasks.pairs.task import ConstructionPairs
from cxprobe.tasks.prompts.items import TESTS_OF_REASONING, load_items
from cxprobe.tasks.prompts.task import NOTHING_FOLLOWS
from cxprobe.tasks.registry import TASKS
from cxprobe.tasks.scenarios.rules import load_scenarios


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.yaml"
    path.write_text(PEOPLE)
    return load_people(path)


@pytest.fixture(scope="module")
def toy(toy_constructions, people):
    """All files of the toy construction."""
    pairs = ConstructionPairs({"toy": load_pairs("toy", people, toy_constructions)}, people)
    others = {"scenarios": load_scenarios("toy", toy_constructions), "prompts": load_items("toy", toy_constructions)}
    return ConstructionFiles(load_construction("toy", toy_constructions), {"pairs": pairs, **others})


def examples(toy, task):
    return list(TASKS[task].examples(toy.items[task]))


def with_first_variant(toy, **changes):
    """Return the toy construction with another first variant of its pairs."""
    pairs = toy.items["pairs"].files["toy"]
    variants = {**pairs.variants, "A": pairs.variants["A"].model_copy(update=changes)}
    files = {"toy": pairs.model_copy(update={"variants": variants})}
    return replace(toy, items={**toy.items, "pairs": replace(toy.items["pairs"], files=files)})


def rows_of(page):
    """Return the cells of every row of every table."""
    lines = [line for line in page.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in lines]


def with_rival(toy):
    """Return the toy construction with a rival of its first variant, which is the project's own."""
    return with_first_variant(toy, rival="{N1} {verb} {gift} for | {N2}.", origin="own")


def test_every_variant_is_shown_with_its_rival_and_the_first_with_its_people_exchanged(toy):
    rows = rows_of(page_of({"toy": with_rival(toy)}))
    ann, eve = ("The one who gave her something is Ann.", "The one who gave her something is Eve.")
    got_from = ["She got a cake because {} gave it to {}.".format(*names) for names in (("Ann", "Eve"), ("Eve", "Ann"))]
    first, rival = "minimal pair, variant A (own)", ", rival"
    assert rows[rows.index(["item", "text", "right", "wrong"]) + 1 :][:5] == [
        [first, "Ann baked Eve a cake.", ann, eve],
        [first + rival, r"Ann baked a cake for \| Eve.", eve, ann],
        [f"{first}, switched", "Eve baked Ann a cake.", eve, ann],
        [f"{first}, switched{rival}", r"Eve baked a cake for \| Ann.", ann, eve],
        ["minimal pair, variant B", "Ann baked Eve a cake.", *got_from],
    ]


def test_a_premise_has_all_hypotheses_and_other_readings_and_the_look_alikes_have_one(toy):
    told = [tuple(one)[:3] for one in examples(toy, "prompts") if one.kind.startswith("inference")]
    drawn, asked = "The king drew the cats. Does it follow: ", "inference, asserted, "
    assert told == [
        (f"{asked}done", f"{drawn}The cats were drawn.", "entailment"),
        (f"{asked}quick", f"{drawn}The king drew them quickly.", "neutral"),
        (f"{asked}not-done", f"{drawn}The king did not draw the cats.", "contradiction"),
        ("inference, denied, done", "Ann never fed the cat. Does it follow: The cat was fed.", "neutral"),
        *[one for one in told if one[0].startswith("inference, look-alike")],
    ]
    assert told[-1][1:] == ("Ann slept at home. Does it follow: Ann did not sleep home.", "entailment")


def test_every_test_of_reasoning_is_shown_with_its_answer(toy):
    told = [one for one in examples(toy, "prompts") if one.kind.startswith("multiple choice")]
    assert [one.kind for one in told] == [
        f"multiple choice, {test}: {TESTS_OF_REASONING[test]}" for test in TESTS_OF_REASONING
    ]
    base = "The older you are, the calmer you are. Ann is older than Bob and his dog. Of Ann and Bob, who is calmer?"
    assert told[0][1:] == (base, "Ann", f"Bob, {NOTHING_FOLLOWS}")
    assert [one.right for one in told[2:4]] == ["Bob", "Bob"]
    assert {one.right for one in told} == {"Ann", "Bob", NOTHING_FOLLOWS}


def test_every_scenario_and_calibration_is_shown_with_its_answer(toy):
    told = examples(toy, "scenarios")
    assert (told[0].kind, told[0].right, told[0].wrong) == ("scenario S1: base text", "fast", "slow")
    assert told[2].right == "slow"
    [short] = [one for one in told if one.kind == "scenario short, calibration: without the construction"]
    assert (short.right, short.wrong) == ("none", "")


def test_pairs_without_people_and_context_are_shown(toy, people):
    form = PairsFile.model_validate(
        {
            "tests": "form",
            "slots": {"one": {"gloss": "a noun"}},
            "variants": {"A": {"continuation": "{one} {v}.", "contrast": {"v": {"good": "sings", "bad": "sing"}}}},
            "frames": [{"one": "the bird"}],
        }
    )
    page = page_of({"toy": replace(toy, items={"pairs": ConstructionPairs({"toy-form": form}, people)})})
    assert ["minimal pair of form, variant A", "", "The bird sings.", "The bird sing."] in rows_of(page)


def test_all_rows_of_a_table_have_as_many_cells(toy):
    page = page_of({"toy": with_rival(toy), "again": toy})
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({len(row) for row in rows_of(table)}) == 1, table


def test_links_lead_to_headings(toy):
    named = Construction.model_validate(toy.construction.model_dump() | {"name": "Way, of | manner (1)"})
    page = page_of({"toy": replace(toy, construction=named)})
    assert "](#way-of--manner-1)" in page
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
    return replace(with_first_variant(toy, context=f"{{N1}} {text}"), construction=about)
