"""Files in the shape of the CxNLI release: what a plain file gives, and what is refused."""

from collections import Counter

import pytest
from reasoning_tables import PLAIN

from cxprobe.errors import DataError
from cxprobe.tasks.prompts.items import TEST_NAMES, read_inference_file, read_reasoning_file
from cxprobe.tasks.prompts.params import RELATIONS

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


CHOICES = PLAIN.replace("\r\n", "\n")


def inferences(folder, text, name="items.csv"):
    (folder / name).write_bytes(text.encode())
    return read_inference_file(folder / name, "official")


def choices(folder, text, name="items.tsv"):
    (folder / name).write_bytes(text.encode())
    return read_reasoning_file(folder / name, "official", "toy")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("CxN Type", "\ufeffCxN Type"),
        ("odd,1", "odd-CxN,1"),
        (",3,premise", ",3.0,Premi"),
        ("1 (neutral)", "1"),
        ("1 (neutral)\n", "1 (neutral)\n,,,\n"),
    ],
)
def test_inferences_are_read_in_all_the_shapes_that_the_release_has(tmp_path, old, new):
    items = inferences(tmp_path, INFERENCES.replace(old, new, 1))
    assert [(item.construction, item.premise, item.hypothesis, RELATIONS[int(item.gold)]) for item in items] == ITEMS
    assert {item.set for item in items} == {"official"}
    assert (len({item.id for item in items}), len({item.cluster_premise for item in items})) == (3, 2)


# The reader, what is changed in a plain file, and the line of the fault; pandas itself finds some.
FAULTS = [
    (inferences, "1 (neutral)", "3 (maybe)", ", line 8: "),
    (inferences, "0 (entailment)", "0 (neutral)", ", line 2: "),
    (inferences, ",1,relation,0 (entailment)\n", "", ", line 2: "),
    (inferences, ",3,relation,1 (neutral)\n", "", ", line 8: "),
    (inferences, "The cat slept.", "", ", line 2: "),
    (inferences, "odd,1,", ",1,", ", line 2: "),
    (inferences, "P/H/R", "Row", ", line 1: "),
    (inferences, COLUMNS, COLUMNS.replace(",", ";"), ", line 1: "),
    (inferences, INFERENCES, "", ": "),
    (inferences, "A dog barked.", "A dog, barked.", ": .* line 8"),
    (inferences, "A dog barked.", '"A dog barked.', ": "),
    (choices, "\tRecency Bias", "\tBias", ", line 3: "),
    (choices, "information\tA", "information\tD", ", line 2: "),
    (choices, "\tnot enough information", "\tboth", ", line 2: "),
    (choices, "\tin May\t", "\t\t", ", line 2: "),
    (choices, "1\tBase\t", "1\tBase\t\t", ": .* line 2"),
]


@pytest.mark.parametrize(("read", "old", "new", "place"), FAULTS)
def test_a_file_of_another_shape_is_refused_with_its_line(tmp_path, read, old, new, place):
    plain = INFERENCES if read is inferences else CHOICES
    assert old in plain
    with pytest.raises(DataError, match=rf"items\.(csv|tsv){place}"):
        read(tmp_path, plain.replace(old, new, 1))


def test_a_plain_file_of_multiple_choice_gives_its_items(tmp_path):
    items = choices(tmp_path, PLAIN)
    assert [item.test for item in items] == [*dict.fromkeys(TEST_NAMES.values())] * 2
    assert [item.gold for item in items] == [*"AABBCCCC", *"BBAACCCC"]
    first = items[0]
    assert first.text == "The warmer the sea, the later they left. The sea was warmer in May than in June."
    assert first.question == "Did they leave later in May or in June?"
    assert (first.a, first.b) == ("in May", "in June")
    assert {(item.set, item.construction) for item in items} == {("official", "toy")}
    assert len({item.id for item in items}) == 16
    assert list(Counter(item.cluster_premise for item in items).values()) == [8, 8]
    assert all(item.answerable == (item.gold != "C") for item in items)
    assert items == choices(tmp_path, PLAIN.replace("\r\n1\t", "\r\n1.0\t").replace("in June?", "in June?."))
    for name in ("Mr. Hill", "J. Hill"):  # whose point ends no sentence
        named = choices(tmp_path, PLAIN.replace("Did they leave", f"Did {name} leave"))
        assert named[0].question == f"Did {name} leave later in May or in June?"


def test_a_number_that_has_a_test_twice_is_of_two_frames(tmp_path):
    items = choices(tmp_path, CHOICES.replace("\n3\t", "\n1\t"))
    assert list(Counter(item.cluster_premise for item in items).values()) == [8, 8]
    assert len({item.id for item in items}) == 16
    assert items[:8] == choices(tmp_path, CHOICES)[:8]
    assert choices(tmp_path, CHOICES.replace("Recency Bias", "Recency")) == choices(tmp_path, CHOICES)
