"""Tables that pages are made of: the list of words, and published numbers."""

import csv
import re
from importlib import import_module

import pandas as pd
import pytest

from conftest import ROOT

with (ROOT / "docs" / "words.tsv").open(encoding="utf-8", newline="") as file:
    WORDS = list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("row", WORDS, ids=lambda row: row["word"])
def test_the_code_has_the_name_that_holds_a_word(row):
    module, name = row["in the code"].split(":")
    assert hasattr(import_module(module), name)


def test_every_published_table_is_in_the_readme_and_has_a_value_in_every_needed_cell():
    folder = ROOT / "published"
    named = set(re.findall(r"`(\w+\.tsv)`", (folder / "README.md").read_text()))
    assert named == {path.name for path in folder.glob("*.tsv")}
    for name in ("facts", "weissweiler2022_table2_selected", "oba2026_licences"):
        assert pd.read_csv(folder / f"{name}.tsv", sep="\t").notna().all(axis=None), name
    facts = pd.read_csv(folder / "facts.tsv", sep="\t")
    assert not facts.duplicated(["paper", "quantity"]).any()
