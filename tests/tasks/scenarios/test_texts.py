import pytest

from conftest import ROOT
from cxprobe.tasks.scenarios.make import enumerate_items, fill_texts
from cxprobe.tasks.scenarios.rules import load_scenarios

S1 = (
    "The taller you are, the stronger you are. The shorter you are, the weaker you are. Anna is taller than Paul. "
    "Therefore, Anna is [MASK] than Paul."
)


@pytest.fixture(scope="module")
def correlative():
    return load_scenarios("comparative-correlative", ROOT / "constructions")


@pytest.fixture(scope="module")
def taller_stronger(correlative):
    """The texts of the item with these adjectives."""
    items = enumerate_items(correlative, share=1, seed=1)
    items = items[(items["ADJ1"] == "taller") & (items["ADJ2"] == "stronger")][:1].assign(NAME1="Anna", NAME2="Paul")
    return fill_texts(correlative, items, own_texts=True, seed=1).groupby(["scenario", "test"])["text"].agg(list)


def test_the_tests_of_the_correlative_are_those_of_the_paper(taller_stronger):
    rules = ["The taller you are, the stronger you are.", "The shorter you are, the weaker you are."]
    assert taller_stronger["S1", ""] == [S1]
    assert taller_stronger["S2", ""] == [S1.replace(" ".join(rules), " ".join(reversed(rules)))]
    assert taller_stronger["S3", ""] == [
        S1.replace("stronger", "x").replace("weaker", "stronger").replace("x", "weaker")
    ]  # fmt: skip
    head, tail = S1.split(" Anna", 1)
    assert taller_stronger["S4", ""] == [
        head + f" Anna{tail}".replace("Anna", "x").replace("Paul", "Anna").replace("x", "Paul")
    ]


@pytest.mark.parametrize("test", ["S2", "S3", "S4"])
def test_a_test_is_calibrated_in_its_own_order_and_words_with_the_draws_of_the_base_test(taller_stronger, test):
    (text,) = taller_stronger[test, ""]
    head, asked = text.split("Therefore, ")
    of_base = [own.split("Therefore, ")[1] for own in taller_stronger["S6", ""]]
    assert taller_stronger["S6", test] == [f"{head}Therefore, {other}" for other in of_base]
    rules, fact = head.removesuffix(" ").rsplit(". ", 1)
    adjectives = [own.split(" Anna is ")[1].split()[0] for own in taller_stronger["S7", ""]]
    assert taller_stronger["S7", test] == [
        f"{rules}. {fact.replace('taller', other)} Therefore, {asked}" for other in adjectives
    ]
    assert ("PMI", test) not in taller_stronger or taller_stronger["PMI", test] == [f"Therefore, {asked}"]
    assert not {("S5", test), ("contextual", test)} & set(taller_stronger.index)


@pytest.mark.parametrize("name", ["comparative-correlative", "let-alone"])
def test_every_text_has_one_mask_two_candidates_and_no_slot(name):
    scenarios = load_scenarios(name, ROOT / "constructions")
    texts = fill_texts(scenarios, enumerate_items(scenarios, share=0.02, seed=1), own_texts=True, seed=1)
    assert (texts["text"].str.count(r"\[MASK\]") == 1).all()
    assert (texts["first"] != texts["second"]).all()
    assert (
        texts.groupby("item", sort=False)["scenario"]
        .agg(lambda names: list(dict.fromkeys(names)))
        .map(lambda names: names == [*scenarios.tests, *scenarios.calibrations])
        .all()
    )
    tests = texts[texts["scenario"].isin(scenarios.tests)]
    assert all(row.first in row.text and row.second in row.text for row in tests.itertuples())
