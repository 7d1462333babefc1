import pandas as pd
import pytest

from cxprobe.constructions.people import load_people
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs
from cxprobe.pairs.params import MakePairs, PerCell
from cxprobe.pairs.sources import first_items


@pytest.fixture(scope="module")
def pairs():
    people = load_people()
    settings = MakePairs(per_cell=PerCell(meaning=5, form=6), pseudowords="random")
    made = [
        build_pairs(name, load_pairs(name, people), people, settings, 2022).pairs
        for name in ("ditransitive", "npi-licensing")
    ]
    return pd.concat(made, ignore_index=True)


def test_a_model_that_is_asked_less_is_asked_about_the_first_items_of_each_cell(pairs):
    few = first_items(pairs, PerCell(meaning=2, form=4))
    by = ["construction", "words", "variant", "sentence", "noun_type", "order"]
    assert set(few.loc[few["tests"] == "meaning"].groupby(by).size()) == {2}
    assert set(few.loc[few["tests"] == "form"].groupby(by).size()) == {4}
    assert set(few["words"]) == {"real", "pseudo"}
    for _, cell in pairs[pairs["tests"] == "meaning"].groupby(by):
        assert cell["id"].head(2).isin(few["id"]).all()


def test_an_item_that_is_asked_is_asked_in_all_its_ways(pairs):
    few = first_items(pairs, PerCell(meaning=1, form=1))
    assert few.groupby("item").size().equals(pairs[pairs["item"].isin(few["item"])].groupby("item").size())
    assert first_items(pairs, None) is pairs
