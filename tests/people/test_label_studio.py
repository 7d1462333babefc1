"""What Label Studio gets, and what it gives back; the annotations have the form of an export of version 1.2x."""

import json
from xml.etree import ElementTree

import pytest
from html_page import Page
from labelling_desk import desk, mined, session

from cxprobe.errors import DataError
from cxprobe.people.label_studio import labelling_config, read_annotations, tasks_of
from cxprobe.people.labels import Label

GROUPS = session().groups
TASKS = tasks_of("toy", GROUPS, desk())


def exported(*answers: dict) -> list[dict]:
    """Return the tasks as Label Studio exports them, the first ones annotated."""
    tasks = json.loads(json.dumps(TASKS))
    for number, (task, given) in enumerate(zip(tasks, [*answers, *[{}] * len(tasks)], strict=False), start=1):
        task |= {"id": 100 + number, "annotations": given.get("annotations", []), "meta": {}, "project": 7}
    return tasks


def annotation(label="positive", person=3, exceptions=(), day="2026-02-0", **more) -> dict:
    results = [choices("label", label)] + ([choices("exceptions", *exceptions)] if exceptions else [])
    made = {"completed_by": person, "created_at": f"{day}1T09:00:00.123456Z", "was_cancelled": False}
    return made | {"id": 1, "result": results, "lead_time": 3.2, "ground_truth": False} | more


def choices(question: str, *chosen: str) -> dict:
    value = {"choices": list(chosen)}
    return {
        "id": "a",
        "from_name": question,
        "to_name": "sentences",
        "type": "choices",
        "origin": "manual",
        "value": value,
    }


def read(content, people=None):
    return read_annotations(content, "toy", GROUPS, {0: "Ann"} if people is None else people, "a.json")


def test_the_configuration_names_what_the_tasks_have():
    view = ElementTree.fromstring(labelling_config())
    asked = {one.get("value")[1:] for one in view.iter() if (one.get("value") or "").startswith("$")}
    assert asked <= TASKS[0]["data"].keys()
    names = {one.get("name") for one in view.iter() if one.get("name")}
    assert {one.get("toName") for one in view.iter() if one.get("toName")} <= names
    label = view.find(".//Choices[@name='label']")
    assert [one.get("value") for one in label] == ["positive", "negative", "unclear"]


def test_a_task_has_definition_hits_surroundings_and_source():
    (task,) = [one["data"] for one in TASKS if one["data"]["tags"] == "DT JJ NN NN , DT JJ NN NN ."]
    assert "each half is a clause" in task["positive"]
    assert "<mark>the red</mark> cat runs, <mark>the fast</mark> dog sings." in task["html"]
    assert "It was &lt;late&gt;." in task["html"]
    assert "https://example.org/0#0" in task["html"]
    assert task["ids"] == ["mined-27-0", "mined-27-1"]
    assert {"value": "2 negative"} in task["exceptions"]


def test_the_markup_of_a_sentence_is_closed_and_shows_its_text():
    table = mined(1, 1)
    table["text"] = "the red <b>cat & runs, the fast dog sings."
    (task,) = tasks_of("toy", session(table=table).groups, desk({}))
    page = Page(task["data"]["html"])
    assert table["text"][0] in page.elements[0]["text"]
    assert not page.open
    assert task["data"]["exceptions"] == []


def test_annotations_become_labels():
    cancelled = annotation("unclear", was_cancelled=True)
    content = exported(
        {"annotations": [annotation("negative", exceptions=["2 positive"])]}, {"annotations": [cancelled]}
    )
    found = read(content)
    tags, ids = TASKS[0]["data"]["tags"], TASKS[0]["data"]["ids"]
    assert set(found.labels) == {
        Label("sequence", tags, "negative", "Ann", "2026-02-01"),
        Label("sentence", ids[1], "positive", "Ann", "2026-02-01"),
    }
    assert (found.skipped, found.unlabelled) == (1, 3)


def test_people_are_known_by_their_numbers():
    by_record = annotation("negative", person={"id": 9, "email": "bo@example.org", "first_name": "Bo"})
    content = exported({"annotations": [annotation("positive", 3), by_record]})
    found = read(content, {3: "Ann", 9: "Bo"})
    assert {(one.who, one.label) for one in found.labels} == {("Ann", "positive"), ("Bo", "negative")}
    with pytest.raises(DataError, match=r"annotators 9 have no name.*--annotator 9=NAME"):
        read(content, {3: "Ann"})
    with pytest.raises(DataError, match="annotators 3, 9 have no name"):
        read(content)


def test_the_last_annotation_of_a_person_counts():
    first, last = annotation("positive", day="2026-02-0"), annotation("negative", day="2026-03-0")
    for order in ([first, last], [last, first]):
        assert [one.label for one in read(exported({"annotations": order})).labels] == ["negative"]


def change(path, value):
    def apply(content):
        *above, last = path
        place = content
        for key in above:
            place = place[key]
        place[last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((0, "data", "cxprobe"), "other", "a.json, task 101: it is of the construction 'other'"),
        ((0, "data", "tags"), "DT", "task 101: its sentences are not those that were mined here"),
        ((0, "data", "ids"), ["mined-x"], "task 101: its sentences are not those that were mined here"),
        ((0, "annotations", 0, "result"), [], "task 101: annotator 3 has 0 labels"),
        ((0, "annotations", 0, "result"), [choices("label", "yes")], "task 101: the label 'yes' is unknown"),
        (
            (0, "annotations", 0, "result"),
            [choices("label", "positive"), choices("exceptions", "7 negative")],
            "task 101: the exception '7 negative' names no sentence",
        ),
        (
            (0, "annotations", 0, "result"),
            [choices("label", "positive"), choices("exceptions", "2 negative", "2 unclear")],
            "task 101: annotator 3 gives one sentence two labels",
        ),
        ((0, "annotations"), "x", "a.json: 0.annotations: .*export in the format JSON"),
        ((0, "annotations", 0, "created_at"), "yesterday", "a.json: 0.annotations.0.created_at"),
        ((0, "data"), {}, r"a\.json: 0\.data\.cxprobe: Field required"),
    ],
)
def test_what_is_no_such_export_is_refused_with_its_place(path, value, message):
    content = exported({"annotations": [annotation()]})
    change(path, value)(content)
    with pytest.raises(DataError, match=message):
        read(content)


@pytest.mark.parametrize("content", [{}, "x", None, [1], [{"id": 1, "label": "positive", "annotator": 3}]])
def test_another_format_is_refused(content):
    with pytest.raises(DataError, match=r"a\.json: .*not JSON-MIN or CSV"):
        read(content)
