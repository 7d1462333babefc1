import csv
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.prompts.cxnli import read_inference_file
from cxprobe.prompts.items import RELATIONS, load_items, render_inferences

HEADER = "CxN Type,Number,P/H/R,Annotation Targets - Gold Standard Relation"
# The shape of the release: the first row of an item names its construction.
PLAIN = f"""{HEADER}
odd,1,premise,"The cat, let us say, slept."
,1,hypothesis,The cat slept.
,1,relation,0 (entailment)
odd,2,premise,"The cat, let us say, slept."
,2,hypothesis,"The cat was ""awake""."
,2,relation,2 (contradiction)
even,3,premise,A dog barked.
,3,hypothesis,The dog was old.
,3,relation,1 (neutral)
"""
ITEMS = [
    ("odd", "The cat, let us say, slept.", "The cat slept.", "entailment"),
    ("odd", "The cat, let us say, slept.", 'The cat was "awake".', "contradiction"),
    ("even", "A dog barked.", "The dog was old.", "neutral"),
]


def read(folder, text, name="items.csv"):
    (folder / name).write_bytes(text.encode())
    return read_inference_file(folder / name, "official")


def as_tuples(file):
    return [(item.construction, item.premise, item.hypothesis, item.gold) for item in file.items]


def test_a_plain_file_gives_its_items_and_nothing_to_repair(tmp_path):
    file = read(tmp_path, PLAIN)
    assert as_tuples(file) == ITEMS
    assert not file.repairs
    assert {item.set for item in file.items} == {"official"}
    assert len({item.id for item in file.items}) == 3
    assert len({item.premise_id for item in file.items}) == 2


@pytest.mark.parametrize(
    ("old", "new", "repair"),
    [
        ("CxN Type", "\ufeffCxN Type", "a byte-order mark was ignored"),
        ("1,premise", "1,Premi", "'premi' was read as 'premise'"),
        ("odd,1", "odd-CxN,1", "'-CxN' was taken off the name of a construction"),
        (",3,hypothesis", ",3.0,hypothesis", "'.0' was taken off a number"),
        ("1 (neutral)", "1", "relation '1' was read as neutral"),
        ("1 (neutral)", "1 (nuetral)", "'nuetral' was read as 'neutral'"),
        ("1 (neutral)\n", "1 (neutral)\n,,,\n", "an empty line was skipped"),
        ('odd,2,premise,"The cat, let us say, slept."\n', "", "an item without a premise has that of the item before"),
        (",2,relation", ",7,relation", "rows with different numbers were read as one item"),
        ("A dog barked.", '"A dog\nbarked."', "a line break inside a text was read as a space"),
    ],
)
def test_a_quirk_is_understood_and_counted(tmp_path, old, new, repair):
    file = read(tmp_path, PLAIN.replace(old, new, 1))
    assert as_tuples(file) == ITEMS
    assert file.repairs == {repair: 1}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 (neutral)", "3 (maybe)", "line 10: relation '3 (maybe)' is unknown (allowed: 0 (entailment)"),
        ("0 (entailment)", "0 (contra)", "line 4: relation '0 (contra)': 0 is entailment, and not 'contra'"),
        ("1 (neutral)", "1 (maybe)", "line 10: relation '1 (maybe)': 1 is neutral, and not 'maybe'"),
        (",1,relation,0 (entailment)\n", "", "line 4: a premise, but the item before it has no relation"),
        (",3,relation,1 (neutral)\n", "", "the file ends inside an item"),
        (",1,hypothesis,The cat slept.\n", "", "line 3: a relation without a hypothesis"),
        (",3,hypothesis", ",3,title", "line 9: expected a premise, a hypothesis, a relation"),
        ("odd,1,", ",1,", "line 2: no construction has been named yet"),
        ("P/H/R", "Row", "line 1: the column P/H/R is not there once"),
        ("A dog barked.", '"A dog barked.', "one of its quotation marks is never closed"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(tmp_path, old, new, message):
    with pytest.raises(DataError) as raised:
        read(tmp_path, PLAIN.replace(old, new, 1))
    assert message in str(raised.value)


def test_a_file_that_is_absent_or_empty_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_inference_file(tmp_path / "none.csv", "official")
    with pytest.raises(DataError, match="there is no item in the file"):
        read(tmp_path, HEADER)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).map(
    lambda text: f"x{text}x"
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(TEXT, TEXT, st.sampled_from(RELATIONS)), min_size=1, max_size=5))
def test_whatever_a_csv_writer_wrote_is_read_again(tmp_path_factory, items):
    path = tmp_path_factory.mktemp("written") / "items.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER.split(","))
        for number, (premise, hypothesis, gold) in enumerate(items, start=1):
            relation = f"{RELATIONS.index(gold)} ({gold})"
            writer.writerow(["odd", number, "premise", premise])
            writer.writerow(["", number, "hypothesis", hypothesis])
            writer.writerow(["", number, "relation", relation])
    read_back = read_inference_file(path, "official")
    assert [(item.premise, item.hypothesis, item.gold) for item in read_back.items] == items
    assert not read_back.repairs


# The release states no licence and is not stored here; these run where a copy lies.
RELEASE = Path(os.environ.get("CXPROBE_SHARED_DATA", ROOT.parent / "shared" / "data")) / "benchmarks" / "cxnli"
SIZES = {  # items and repairs
    "CxNLI/CxNLI_1_example_train.csv": (24, 4),
    "CxNLI/CxNLI_3_examples_test.tsv": (390, 54),
    "CxNLI/CxNLI_3_examples_train.csv": (72, 10),
    "CxNLI/SNLI_1_example_train.csv": (3, 3),
    "CxNLI/SNLI_3_examples_train.csv": (9, 9),
    "CxNLI_distinction/CxNLI_1_example_train_CxNLI_distinction_train.csv": (24, 4),
    "CxNLI_distinction/CxNLI_distinction_train.tsv": (14, 2),
    "o1-preview/CxNLI_3_examples_test104.csv": (104, 325),
    "o1-preview/CxNLI_3_examples_test16.csv": (16, 3),
    "o1-preview/CxNLI_3_examples_test16.tsv": (16, 2),
}
needs_the_release = pytest.mark.skipif(not RELEASE.is_dir(), reason="no copy of the CxNLI release")


@needs_the_release
@pytest.mark.parametrize("name", SIZES)
def test_every_file_of_the_release_has_all_its_items_and_tells_what_was_repaired(name):
    file = read_inference_file(RELEASE / name, "official")
    assert (len(file.items), sum(file.repairs.values())) == SIZES[name]
    words = [text for item in file.items for text in (item.premise, item.hypothesis)]
    assert all(text and text == text.strip() and "\t" not in text for text in words)


@needs_the_release
def test_no_sentence_of_ours_is_one_of_the_release():
    files = [read_inference_file(RELEASE / name, "official") for name in SIZES]
    theirs = {text.casefold() for file in files for item in file.items for text in (item.premise, item.hypothesis)}
    for path in (ROOT / "constructions").glob("*/items.yaml"):
        for item in render_inferences(load_items(path.parent.name, ROOT / "constructions"), path.parent.name):
            assert not {item.premise.casefold(), item.hypothesis.casefold()} & theirs
