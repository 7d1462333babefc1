import shutil

import pytest

from conftest import ROOT
from cxprobe.constructions.construction import load_people
from cxprobe.errors import ConstructionError
from cxprobe.tasks.interventions.make import (
    NEUTRAL_FILE,
    draw_base_and_source,
    load_labelled,
    load_neutral,
    neutral_items,
)

FORM, MEANING = "subject-verb-agreement", "ditransitive"
OTHERS = ["anaphor-agreement", "npi-licensing", "control-transfer"]
SIZES = {"test": 40, "train": 60}


@pytest.fixture(scope="module")
def people():
    return load_people(ROOT / "lexicon" / "people.yaml")


@pytest.mark.parametrize("name", [FORM, MEANING, *OTHERS])
def test_base_and_source_differ_in_the_label_alone_and_every_label_is_the_base_as_often(name, people):
    labelled = load_labelled(name, people, ROOT / "constructions")
    items = draw_base_and_source(name, labelled, people, SIZES, 1)
    assert items["part"].value_counts().to_dict() == SIZES
    frames = items.groupby("part")["cluster_frame"].agg(set)
    assert not frames["train"] & frames["test"]
    assert abs((items["base"] == items["base"].iloc[0]).mean() - 0.5) <= 0.05
    assert (items["base"] != items["source"]).all()
    assert (items["base_answer"] != items["source_answer"]).all()
    assert (items["base_after"] == items["source_after"]).all()
    counts = items.groupby("sentence").size()
    assert counts.max() - counts.min() <= 4
    for row in items.to_dict("records"):
        assert len(row["base_ends"]) == len(row["source_ends"]) == len(row["regions"])
        assert row["base_ends"][-1] == len(row["base_before"])
        words = zip(row["base_before"].split(), row["source_before"].split(), strict=True)
        assert sum(one != other for one, other in words) == (1 if labelled.content.tests == "form" else 2)


def test_of_the_ends_the_first_region_and_the_last_are_left(people):
    labelled = load_labelled(MEANING, people, ROOT / "constructions")
    every, ends = (draw_base_and_source(MEANING, labelled, people, SIZES, 1, regions) for regions in ("all", "ends"))
    for side in ("regions", "base_ends", "source_ends"):
        assert [[row[0], row[-1]] for row in every[side]] == [*ends[side]]


def test_the_source_of_a_neutral_sentence_is_the_next_one():
    sentences = load_neutral(ROOT / NEUTRAL_FILE)
    items = neutral_items(sentences)
    assert len(items) == len(sentences) == 40
    for number, row in enumerate(items.to_dict("records")):
        assert f"{row['base_before']} {row['base_answer']}{row['base_after']}" == sentences[number]
        assert f"{row['source_before']} {row['source_answer']}." == sentences[(number + 1) % 40]
        middle, last = (row["base_before"][:end] for end in row["base_ends"])
        assert last == row["base_before"]
        assert 0 < len(middle.split()) < len(last.split())


@pytest.mark.parametrize(
    ("text", "changed", "message"),
    [
        ('before: "The {subject}', 'before: "The {subjekt}', "nothing fills the slot 'subjekt'"),
        ('answer: "{verb}"', 'answer: "ran"', "both labels have the answer 'ran'"),
        ('"The {subject} {beside} the {thing}"', '"The {beside} the {thing}"', "is the same with both labels"),
        ('"The {subject} {beside} the {thing}"', '"The {subject} {beside}"', "regions"),
        ("tests: form", "tests: form\npeople: {who: robots}", "'robots' is no noun type of the people"),
    ],
)
def test_a_fault_of_a_file_is_told_with_its_place(people, tmp_path, text, changed, message):
    shutil.copytree(ROOT / "constructions" / FORM, tmp_path / FORM)
    path = tmp_path / FORM / "interventions.yaml"
    content = path.read_text()
    assert text in content
    path.write_text(content.replace(text, changed, 1))
    with pytest.raises(ConstructionError, match=r"interventions\.yaml") as raised:
        load_labelled(FORM, people, tmp_path)
    assert message in str(raised.value)
