import pandas as pd

from cxprobe.prompts.items import Reasoning, make_inference
from cxprobe.prompts.make import Material, item_table

SEEN = make_inference("It rained.", "It was wet.", "entailment", "toy", "templatic", "wet")
OTHER = make_inference("It rained.", "It was dry.", "contradiction", "toy", "templatic", "dry")
LOOSE = make_inference("It rained.", "Ann slept.", "neutral", "toy", "file")
STORY = Reasoning("base-f", "Ann and Bob ran.", "Who ran?", "Ann", "Bob", "B", "toy", "base", "f", True)
MATERIAL = Material({"templatic": [SEEN, OTHER], "file": [LOOSE]}, [STORY], {}, {})


def test_every_item_has_one_row_whether_it_is_asked_about_or_not():
    questions = pd.DataFrame({"item": [SEEN.id, SEEN.id, STORY.id]})  # two prompts about the first
    table = item_table(MATERIAL, questions).set_index("id")
    assert list(table.index) == [SEEN.id, OTHER.id, LOOSE.id, STORY.id]
    assert table["drawn"].to_dict() == {SEEN.id: True, OTHER.id: False, LOOSE.id: False, STORY.id: True}
    assert table["gold"].tolist() == ["0", "2", "1", "B"]
    assert table["kind"].tolist() == ["inference"] * 3 + ["reasoning"]
    assert table.loc[SEEN.id, ["premise", "hypothesis", "text"]].tolist() == ["It rained.", "It was wet.", ""]
    assert table.loc[STORY.id, ["text", "a", "b", "premise"]].tolist() == ["Ann and Bob ran.", "Ann", "Bob", ""]


def test_a_template_is_a_cluster_and_what_has_none_is_one_of_its_own():
    table = item_table(MATERIAL, pd.DataFrame({"item": []})).set_index("id")
    assert table.loc[SEEN.id, "cluster_wording"] == "toy wet"
    assert table.loc[[LOOSE.id, STORY.id], "cluster_wording"].tolist() == [LOOSE.id, STORY.id]
    assert table.loc[[LOOSE.id, STORY.id], "template"].tolist() == ["", ""]
    assert set(table.loc[[SEEN.id, OTHER.id, LOOSE.id], "cluster_premise"]) == {SEEN.premise_id}


def test_an_item_that_two_sets_have_stands_in_the_table_once():
    twice = MATERIAL._replace(inferences={"templatic": [SEEN, SEEN]})
    assert item_table(twice, pd.DataFrame({"item": [SEEN.id]}))["id"].tolist() == [SEEN.id, STORY.id]
