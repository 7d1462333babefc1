import pytest

from conftest import PAIRS, PEOPLE
from cxprobe.constructions.people import load_people
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs, render_pairs, tables_of
from cxprobe.pairs.params import MakePairs, PerCell


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    (folder / "people.yaml").write_text(PEOPLE)
    people = load_people(folder / "people.yaml")
    (folder / "toy").mkdir()
    (folder / "toy" / "pairs.yaml").write_text(PAIRS)
    return load_pairs("toy", people, folder), people


def settings(meaning=4, pseudowords="random") -> MakePairs:
    return MakePairs(per_cell=PerCell(meaning=meaning, form=1), pseudowords=pseudowords)


def test_pairs_come_with_their_own_words_and_with_pseudowords(toy):
    built = build_pairs("toy", *toy, settings(), seed=0)
    # Two of words, two variants, two orders, two noun types, four pairs a cell.
    assert built.counts == {
        "pairs": 64,
        "items": 16,
        "cells": 16,
        "cells_not_filled": 0,
        "pseudowords": 3,
        "pseudowords_random": 3,
    }
    assert built.pseudowords["word"].tolist() == ["baked", "poured", "sang"]
    own = built.pairs[built.pairs["words"] == "real"]
    assert own["id"].tolist() == [pair.id for pair in render_pairs("toy", *toy, 4, seed=0).pairs]


def test_without_pseudowords_there_are_the_same_pairs_with_their_own_words(toy):
    built = build_pairs("toy", *toy, settings(pseudowords=None), seed=0)
    both = build_pairs("toy", *toy, settings(), seed=0).pairs
    assert built.pairs.equals(both[both["words"] == "real"])
    assert built.pseudowords.empty


def test_a_cell_that_cannot_be_filled_is_told(toy):
    built = build_pairs("toy", *toy, settings(meaning=10, pseudowords=None), seed=0)
    cells = built.cells.set_index("noun_type")
    assert (cells["shortfall"]["job"] == 1).all()  # three frames and three nouns make nine items
    assert (cells["shortfall"]["name"] == 0).all()
    assert built.counts["cells_not_filled"] == len(cells.loc["job"])


def test_the_tables_of_all_constructions_name_them(toy):
    built = build_pairs("toy", *toy, settings(), seed=0)
    tables = tables_of({"one": built, "two": built})
    assert {name: len(table) for name, table in tables.items()} == {"cells": 32, "pseudowords": 6, "constructions": 2}
    assert tables["constructions"]["construction"].tolist() == ["one", "two"]
    assert tables_of({}) == {}
