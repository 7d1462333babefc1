"""The list of words: each has one definition, and a name in the code that holds it."""

import csv
from importlib import import_module

import pytest

from conftest import ROOT

with (ROOT / "docs" / "words.tsv").open(encoding="utf-8", newline="") as file:
    WORDS = list(csv.DictReader(file, delimiter="\t"))
# Words of earlier versions, for which there is another one now.
GONE = ("blind model", "line of work", "judge_", "twin model", "told beside")


def test_there_are_at_most_a_hundred_words_each_with_one_definition():
    assert len(WORDS) <= 100
    assert len({row["word"] for row in WORDS}) == len(WORDS)
    assert len({row["definition"] for row in WORDS}) == len(WORDS)


@pytest.mark.parametrize("row", WORDS, ids=lambda row: row["word"])
def test_the_code_has_the_name_that_holds_a_word(row):
    module, name = row["in the code"].split(":")
    assert hasattr(import_module(module), name)


@pytest.mark.parametrize("word", GONE)
def test_no_page_has_a_word_that_is_gone(word):
    pages = (ROOT / "docs").rglob("*.md")
    assert not [page.name for page in pages if word in page.read_text()]
