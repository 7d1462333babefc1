import pytest

from conftest import ITEMS, ROOT
from cxprobe.errors import PromptError
from cxprobe.prompting import (
    Material,
    build_questions,
    load_inference_prompts,
    load_items,
    load_reasoning_prompts,
    render_inferences,
    render_reasonings,
)
from cxprobe.prompting_params import AskLlms


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constructions")
    (folder / "toy").mkdir()
    (folder / "toy" / "items.yaml").write_text(ITEMS)
    items = load_items("toy", folder)
    own = render_inferences(items, "toy")
    sets = {of: [item for item in own if item.set == of] for of in ("templatic", "challenge")}
    prompts = load_inference_prompts(ROOT / "prompts"), load_reasoning_prompts(ROOT / "prompts")
    return Material(sets, render_reasonings(items, "toy", seed=1), sets, *prompts)


def settings(**changes):
    plain = {
        "sets": ["templatic", "challenge", "reasoning"],
        "files": {},
        "premises": None,
        "inference_prompts": ["short", "long"],
        "reasoning_prompts": ["plain"],
        "chain_of_thought": [False, True],
        "shots": [{"number": 0, "sources": [], "of_the_construction": True}],
    }
    return AskLlms.model_validate(plain | changes)


def test_every_item_is_asked_with_every_prompt_and_either_way(material):
    table = build_questions("toy", material, settings(), seed=1)
    assert len(table) == 7 * 2 * 2 + 8 * 1 * 2
    assert table["id"].is_unique
    assert table["question"].is_unique
    assert table.groupby("kind")["gold"].agg(set).to_dict() == {"inference": set("012"), "reasoning": set("ABC")}
    assert (table["answerable"] == (table["gold"] != "C")).all()
    clusters = table.groupby("set")["cluster_premise"].nunique().to_dict()
    assert clusters == {"templatic": 2, "challenge": 1, "reasoning": 1}


def test_all_settings_of_shots_are_asked_about_the_same_items(material):
    shots = [
        {"number": 0, "sources": [], "of_the_construction": True},
        {"number": 1, "sources": ["templatic"], "of_the_construction": True},
    ]
    table = build_questions("toy", material, settings(shots=shots, chain_of_thought=[False]), seed=1)
    asked = table[table["set"] == "templatic"].groupby("shots")["cluster_premise"].agg(set)
    assert asked[0] == asked[1]
    assert len(asked[0]) == 1  # the other premise is the example
    shown = table[(table["shots"] == 1) & (table["set"] == "templatic")]
    assert (shown["question"].str.count("Answer:") == 3).all()


def test_what_is_drawn_is_drawn_by_premise(material):
    table = build_questions("toy", material, settings(premises=1), seed=1)
    templatic = table[table["set"] == "templatic"]
    assert templatic["cluster_premise"].nunique() == 1
    assert set(templatic["gold"]) == set("012")


def test_an_unknown_prompt_or_nothing_to_ask_is_told(material):
    with pytest.raises(PromptError, match="prompt 'shrot' is unknown; did you mean 'short'"):
        build_questions("toy", material, settings(inference_prompts=["shrot"]), seed=1)
    with pytest.raises(PromptError, match="toy: nothing to ask"):
        build_questions("toy", material._replace(inferences={}, reasonings=[]), settings(), seed=1)


def test_shots_and_their_sources_go_together():
    with pytest.raises(ValueError, match="number is 1 and sources has 0; give both"):
        settings(shots=[{"number": 1, "sources": [], "of_the_construction": True}])
