"""Items of constructions, from any folder."""

import pandas as pd
import pytest

import cxprobe
from conftest import ROOT
from cxprobe.api import SEED
from cxprobe.errors import ConstructionError, DataError
from cxprobe.files.schema import read_yaml


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_items_are_drawn_with_the_seed_of_the_pipeline():
    assert read_yaml(ROOT / "presets" / "base.yaml", DataError)["seed"] == SEED
    drawn, again = (cxprobe.minimal_pairs("let-alone", pairs_per_condition=2, **how) for how in ({}, {"seed": SEED}))
    pd.testing.assert_frame_equal(drawn, again)


def test_a_name_that_is_listed_for_its_items_has_them():
    assert {"let-alone", "let-alone-form"} <= {*cxprobe.list_constructions(having="pairs")}
    for name in cxprobe.list_constructions(having="pairs"):
        assert len(cxprobe.minimal_pairs(name, pairs_per_condition=1))
    for name in cxprobe.list_constructions(having="sentences"):
        assert len(cxprobe.sentences(name, per_cell=1))
    with pytest.raises(ConstructionError, match=r"has no minimal pairs in .*; did you mean 'let-alone-form'"):
        cxprobe.minimal_pairs("letalone-form")


def test_every_construction_is_listed_and_a_folder_of_ones_own_is_used(toy_constructions):
    assert cxprobe.list_constructions() == sorted(
        path.parent.name for path in ROOT.glob("constructions/*/construction.yaml")
    )
    name = cxprobe.list_constructions(toy_constructions)[0]
    assert len(cxprobe.sentences(name, per_cell=1, folder=toy_constructions))
