from collections import Counter

import pytest
from reasoning_tables import PLAIN

from conftest import ITEMS as TOY
from conftest import ROOT
from cxprobe.errors import ConstructionError, DataError
from cxprobe.tasks.prompts.items import (
    TEST_NAMES,
    load_items,
    read_inference_file,
    read_reasoning_file,
    render_inferences,
    render_reasonings,
)
from cxprobe.tasks.prompts.params import RELATIONS


def load_text(folder, text):
    (folder / "toy").mkdir()
    (folder / "toy" / "items.yaml").write_text(text)
    return load_items("toy", folder)


def test_a_template_is_asked_about_each_premise_whose_reading_or_itself_has_a_relation_to_it(tmp_path):
    rendered = render_inferences(load_text(tmp_path, TOY), "toy")
    assert [(item.set, item.premise, item.hypothesis, RELATIONS[int(item.gold)]) for item in rendered] == [
        ("templatic", "The king drew the cats.", "The cats were drawn.", "entailment"),
        ("templatic", "The king drew the cats.", "The king drew them quickly.", "neutral"),
        ("templatic", "The king drew the cats.", "The king did not draw the cats.", "contradiction"),
        ("templatic", "Ann never fed the cat.", "The cat was fed.", "neutral"),
        ("templatic", "Ann never fed the cat.", "Ann fed it quickly.", "contradiction"),
        ("templatic", "Ann never fed the cat.", "Ann did not feed the cat.", "entailment"),
        ("challenge", "Ann slept at home.", "Ann did not sleep home.", "entailment"),
    ]
    assert [item.reading for item in rendered] == ["asserted"] * 3 + ["denied"] * 3 + [""]
    assert len({item.cluster_premise for item in rendered}) == 3
    (tmp_path / "toy" / "items.yaml").write_text(TOY.replace("quick: neutral, ", ""))
    fewer = render_inferences(load_items("toy", tmp_path), "toy")
    assert [item.hypothesis for item in rendered if item not in fewer] == ["The king drew them quickly."]


# What is changed in a file, and the place and the value of the fault.
FAULTS = [
    ("quick: neutral", "quick: nuetral", "inference.readings.asserted.quick: 'nuetral'"),
    ("quick: neutral", "quik: neutral", "readings.asserted: 'quik' is unknown; did you mean 'quick'?"),
    ("gold: {done: neutral}", "gold: {doen: neutral}", "premises[1].gold: 'doen'"),
    ("reading: asserted", "reading: assertd", "premises[0].reading: 'assertd'"),
    ("{OBJ} {OBJ:was}", "{OJB} {OBJ:was}", "premises[0], done: nothing fills the slot 'OJB'"),
    ("OBJ: {they: the cats}", "OBJ: the cats", "premises[0], done: 'was' of 'the cats' needs the pronoun"),
    ("{not-done: entailment}", "{undone: entailment}", "challenge[0].gold: 'undone'"),
    ("{she: Cleo}", "{she: Ann}", "referents must be four different ones"),
    ('{R2:their} dog."\n    question', '{R5:their} dog."\n    question', "nothing fills the slot 'R5'"),
    (TOY, "sources: [x]\n", "inference and reasoning are both absent"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS)
def test_a_fault_is_told_with_its_file_and_place(tmp_path, old, new, message):
    assert old in TOY
    with pytest.raises(ConstructionError) as raised:
        load_text(tmp_path, TOY.replace(old, new))
    assert all(part in str(raised.value) for part in (str(tmp_path / "toy" / "items.yaml"), message))


def test_the_eight_tests_of_a_frame(tmp_path):
    rendered = render_reasonings(load_text(tmp_path, TOY), "toy", seed=1)
    rule, facts = "The older you are, the calmer you are.", "Ann is older than Bob and his dog."
    expected = {
        "base": (f"{rule} {facts}", "Ann"),
        "recency": (f"{facts} {rule}", "Ann"),
        "vocabulary": (f"The older you are, the wilder you are. {facts}", "Bob"),
        "name": (f"{rule} Bob is older than Ann and her dog.", "Bob"),
        "short": (facts, None),
        "other-names": (f"{rule} Cleo is older than the Days and their dog. Ann is taller than Bob and his dog.", None),
        "other-property": (f"{rule} Ann is taller than Bob and his dog.", None),
        "nonce": (f"{rule} Ann blicks with Bob and his dog.", None),
    }
    assert {item.test: (item.text, answer_of(item)) for item in rendered} == expected
    assert all(
        item.question == "Of Ann and Bob, who is calmer?" and {item.a, item.b} == {"Ann", "Bob"} for item in rendered
    )
    assert all(item.answerable == (expected[item.test][1] is not None) for item in rendered)
    assert len({item.id for item in rendered}) == 8
    assert len({item.cluster_premise for item in rendered}) == 1


def test_a_and_b_are_right_equally_often_in_every_test_of_however_many_frames():
    for name, items in OWN.items():
        for seed in range(3):
            rendered = render_reasonings(items, name, seed=seed)
            right = {item.cluster_premise: answer_of(item) for item in rendered if item.test == "base"}
            frames, with_swapped = list(right), {item.cluster_premise for item in rendered if item.test == "vocabulary"}
            for number in range(1, len(frames) + 1):
                asked = [item for item in rendered if item.cluster_premise in frames[:number]]
                for test in {item.test for item in asked}:
                    own = [item for item in asked if item.test == test]
                    # Where nothing follows, the two options take turns at standing first.
                    golds = Counter(
                        item.gold if item.answerable else item.a == right[item.cluster_premise] for item in own
                    )
                    assert abs(2 * golds.most_common()[0][1] - len(own)) <= 1, (name, test, number)
                golds = Counter(item.gold for item in asked)
                assert golds["A"] == golds["B"] or not with_swapped.issuperset(frames[:number]), (name, number)


def answer_of(item):
    return {"A": item.a, "B": item.b, "C": None}[item.gold]


# The items that the project has.
FOLDER = ROOT / "constructions"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/items.yaml"))
OWN = {name: load_items(name, FOLDER) for name in NAMES}


@pytest.mark.parametrize("name", [name for name in NAMES if OWN[name].inference.challenge])
def test_a_challenge_has_another_label_than_the_construction_would(name):
    asked = OWN[name].inference
    for premise in asked.challenge:
        as_asserted = next(iter(asked.readings.values()))
        assert all(gold != as_asserted.get(of) for of, gold in premise.gold.items()), premise.text


# Files in the shape of the CxNLI release: what a plain file gives, and what is refused

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
READ = [
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


SHAPES = {"CxN Type": "\ufeffCxN Type", "odd,1": "odd-CxN,1", ",3,premise": ",3.0,Premi", "1 (neutral)\n": "1\n,,,\n"}


@pytest.mark.parametrize(("old", "new"), [("", ""), *SHAPES.items()])
def test_inferences_are_read_in_all_the_shapes_that_the_release_has(tmp_path, old, new):
    items = inferences(tmp_path, INFERENCES.replace(old, new, 1))
    assert [(item.construction, item.premise, item.hypothesis, RELATIONS[int(item.gold)]) for item in items] == READ
    assert {item.set for item in items} == {"official"}
    assert (len({item.id for item in items}), len({item.cluster_premise for item in items})) == (3, 2)


# The reader, what is changed in a plain file, and the line of the fault; pandas itself finds some.
FAULTS_OF_FILES = [
    (inferences, "1 (neutral)", "3 (maybe)", ", line 8: "),
    (inferences, ",1,relation,0 (entailment)\n", "", ", line 2: "),
    (inferences, "The cat slept.", "", ", line 2: "),
    (inferences, "odd,1,", ",1,", ", line 2: "),
    (inferences, "P/H/R", "Row", ", line 1: "),
    (inferences, COLUMNS, COLUMNS.replace(",", ";"), ", line 1: "),
    (inferences, INFERENCES, "", ": "),
    (inferences, "A dog barked.", "A dog, barked.", ": .* line 8"),
    (inferences, "A dog barked.", '"A dog barked.', ": "),
    (choices, "\tRecency Bias", "\tBias", ", line 3: "),
    (choices, "information\tA", "information\tD", ", line 2: "),
    (choices, "\tin May\t", "\t\t", ", line 2: "),
    (choices, "1\tBase\t", "1\tBase\t\t", ": .* line 2"),
]


@pytest.mark.parametrize(("read", "old", "new", "place"), FAULTS_OF_FILES)
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
