"""Files in the shape of the CxNLI release: what a plain file gives, what is repaired, and what is refused."""

import gzip
import os
from collections import Counter
from pathlib import Path

import pytest
from reasoning_tables import FIRST, HEADER, PLAIN, SECOND

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.tasks.prompts.cxnli import REPAIRS, TEST_NAMES, read_inference_file, read_reasoning_file
from cxprobe.tasks.prompts.items import load_items, render_inferences

COLUMNS = "CxN Type,Number,P/H/R,Annotation Targets - Gold Standard Relation"
# The shape of the release: the first row of an item names its construction.
INFERENCES = f"""{COLUMNS}
odd,1,premise,"The cat, let us say, slept."
,1,hypothesis,The cat slept.
,1,relation,0 (entailment)
,2,premise,"The cat, let us say, slept."
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


def inferences(folder, text, name="items.csv"):
    (folder / name).write_bytes(text.encode())
    return read_inference_file(folder / name, "official")


def choices(folder, text, name="items.tsv", **settings):
    (folder / name).write_bytes(text.encode())
    return read_reasoning_file(folder / name, "official", "toy", **settings)


def as_tuples(items):
    return [(item.construction, item.premise, item.hypothesis, item.gold) for item in items]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("CxN Type", "\ufeffCxN Type"),
        ("odd,1", "odd-CxN,1"),
        (",3,premise", ",3.0,Premise"),
        ("1 (neutral)", "1"),
        ("1 (neutral)\n", "1 (neutral)\n,,,\n"),
    ],
)
def test_inferences_are_read_in_all_the_shapes_that_the_release_has(tmp_path, old, new):
    items = inferences(tmp_path, INFERENCES.replace(old, new, 1))
    assert as_tuples(items) == ITEMS
    assert {item.set for item in items} == {"official"}
    assert (len({item.id for item in items}), len({item.premise_id for item in items})) == (3, 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 (neutral)", "3 (maybe)", "line 10: relation '3 (maybe)' is unknown (allowed: 0 (entailment)"),
        ("0 (entailment)", "0 (neutral)", "line 4: relation '0 (neutral)' is unknown"),
        (",1,relation,0 (entailment)\n", "", "line 2: expected the rows premise, hypothesis, relation, found premise"),
        (",3,relation,1 (neutral)\n", "", "line 8: expected the rows"),
        ("odd,1,", ",1,", "line 2: no construction has been named yet"),
        ("P/H/R", "Row", "line 1: the column P/H/R is not there once"),
        ("A dog barked.", "A dog, barked.", "line 8: 5 cells in 1 lines"),
        ("A dog barked.", '"A dog barked.', "line 10: "),
    ],
)
def test_inferences_of_another_shape_are_refused_with_their_line(tmp_path, old, new, message):
    with pytest.raises(DataError) as raised:
        inferences(tmp_path, INFERENCES.replace(old, new, 1))
    assert message in str(raised.value)


def test_a_compressed_file_is_read_as_the_file_itself_and_semicolons_are_named(tmp_path):
    plain = choices(tmp_path, PLAIN)
    (tmp_path / "items.tsv.gz").write_bytes(gzip.compress((tmp_path / "items.tsv").read_bytes()))
    assert read_reasoning_file(tmp_path / "items.tsv.gz", "official", "toy") == plain
    with pytest.raises(DataError, match="line 1: semicolons separate the cells, but commas must"):
        inferences(tmp_path, "CxN Type;Number;P/H/R\nx;1;y\n")


def test_a_file_that_is_absent_or_empty_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_inference_file(tmp_path / "none.csv", "official")
    with pytest.raises(DataError, match="there is no item in the file"):
        inferences(tmp_path, COLUMNS)
    with pytest.raises(DataError, match=r"found nothing"):
        choices(tmp_path, "")


def test_a_repair_is_of_one_cell_of_one_file_as_long_as_it_says_that(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    REPAIRS.parent.mkdir()
    REPAIRS.write_text("file\tline\tcolumn\tsays\treads\nitems.csv\t2\tP/H/R\tPremi\tpremise\n")
    wrong = INFERENCES.replace("1,premise", "1,Premi")
    assert as_tuples(inferences(tmp_path, wrong)) == ITEMS
    for text, name in ((wrong, "other.csv"), (INFERENCES.replace("1,premise", "1,Premis"), "items.csv")):
        with pytest.raises(DataError, match="line 2: expected the rows premise"):
            inferences(tmp_path, text, name)


def test_a_plain_file_of_multiple_choice_gives_its_items(tmp_path):
    items = choices(tmp_path, PLAIN)
    assert [item.test for item in items] == [*TEST_NAMES.values()] * 2
    assert [item.gold for item in items] == [*"AABBCCCC", *"BBAACCCC"]
    first = items[0]
    assert first.text == "The warmer the sea, the later they left. The sea was warmer in May than in June."
    assert first.question == "Did they leave later in May or in June?"
    assert (first.a, first.b) == ("in May", "in June")
    assert {(item.set, item.construction) for item in items} == {("official", "toy")}
    assert len({item.id for item in items}) == 16
    assert list(Counter(item.frame_id for item in items).values()) == [8, 8]
    assert all(item.answerable == (item.gold != "C") for item in items)
    assert items == choices(tmp_path, PLAIN.replace("\r\n1\t", "\r\n1.0\t").replace("in June?", "in June?."))
    for name in ("Mr. Hill", "J. Hill"):  # whose point ends no sentence
        named = choices(tmp_path, PLAIN.replace("Did they leave", f"Did {name} leave"))
        assert named[0].question == f"Did {name} leave later in May or in June?"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tRecency Bias", "\tName", "line 3: Type is 'Name' (allowed: Base, Recency Bias"),
        ("information\tA", "information\tD", "line 2: Target is 'D' (allowed: A, B, C)"),
        ("\tnot enough information", "\tboth", "line 2: option C 'both' does not say that there is not enough"),
        ("1\tRecency Bias", "1\tBase", "line 3: item 1 has its test Base already"),
    ],
)
def test_multiple_choice_of_another_shape_is_refused_with_its_line(tmp_path, old, new, message):
    assert old in PLAIN
    with pytest.raises(DataError) as raised:
        choices(tmp_path, PLAIN.replace(old, new, 1))
    assert f"items.tsv, {message}" in str(raised.value)


def test_a_file_of_several_constructions_can_choose_among_the_rows_of_one(tmp_path):
    other = [row.replace("3\t", "1\t", 1) for row in SECOND[:3]]
    (tmp_path / "chosen.tsv").write_text("\r\n".join([HEADER, *other, *FIRST[4:6]]))
    items = choices(tmp_path, "\r\n".join([HEADER, *SECOND]), rows=tmp_path / "chosen.tsv")
    assert [item.test for item in items] == ["base", "recency", "vocabulary"]
    with pytest.raises(DataError, match=r"chosen\.tsv: no row of .*items\.tsv is in it"):
        choices(tmp_path, "\r\n".join([HEADER, *FIRST[:4]]), rows=tmp_path / "chosen.tsv")


# The release states no licence and is not stored here; these run where a copy lies.
RELEASE = Path(os.environ.get("CXPROBE_SHARED_DATA", ROOT.parent / "shared" / "data")) / "benchmarks" / "cxnli"
SIZES = {
    "CxNLI/CxNLI_1_example_train.csv": 24,
    "CxNLI/CxNLI_3_examples_test.tsv": 390,
    "CxNLI/SNLI_3_examples_train.csv": 9,
    "CxNLI_distinction/CxNLI_distinction_train.tsv": 14,
    "o1-preview/CxNLI_3_examples_test104.csv": 104,
}
CHOICES = {
    "QA_constructional_reasoning/comparative_correlative_QA_CxReasoning.tsv": 384,
    "QA_constructional_reasoning/way_manner_QA_CxReasoning.tsv": 140,
    "o1-preview/way_manner_QA_CxReasoning105.csv": 105,
}


@pytest.fixture
def release(monkeypatch):
    """The folder of the release, with the repairs of this project."""
    if not RELEASE.is_dir():
        pytest.skip("no copy of the CxNLI release")
    monkeypatch.chdir(ROOT)
    return RELEASE


def test_every_file_of_the_release_has_all_its_items(release):
    ours = set()
    for path in (ROOT / "constructions").glob("*/items.yaml"):
        for item in render_inferences(load_items(path.parent.name), path.parent.name):
            ours |= {item.premise.casefold(), item.hypothesis.casefold()}
    for name, size in SIZES.items():
        items = read_inference_file(release / name, "official")
        words = {text.casefold() for item in items for text in (item.premise, item.hypothesis)}
        assert len(items) == size
        assert not words & ours  # no sentence of ours is one of theirs
    for name, size in CHOICES.items():
        assert len(read_reasoning_file(release / name, "official", "toy")) == size


def test_the_file_for_prompts_is_refused_alone_and_chooses_among_the_rows_of_the_others(release):
    (prompts,) = (release / "QA_constructional_reasoning").glob("*_prompt_test.tsv")
    with pytest.raises(DataError, match="a file is about one construction"):
        read_reasoning_file(prompts, "official", "toy")
    found = [len(read_reasoning_file(release / name, "official", "toy", rows=prompts)) for name in [*CHOICES][:2]]
    assert found == [40, 35]
