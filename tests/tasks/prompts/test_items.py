from collections import Counter

import pytest

from conftest import ITEMS as TOY
from conftest import ROOT
from cxprobe.errors import ConstructionError
from cxprobe.tasks.prompts.items import load_items, render_inferences, render_reasonings
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
