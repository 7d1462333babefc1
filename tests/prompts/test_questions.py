import pandas as pd
import pytest

from conftest import ITEMS, ROOT
from cxprobe.errors import PromptError
from cxprobe.prompts.items import RELATIONS, load_items, render_inferences, render_reasonings
from cxprobe.prompts.make import Material, build_choices, build_questions
from cxprobe.prompts.params import JudgePrompts, MakePrompts
from cxprobe.prompts.wording import load_continuations, load_inference_prompts, load_reasoning_prompts


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constructions")
    (folder / "toy").mkdir()
    (folder / "toy" / "items.yaml").write_text(ITEMS)
    items = load_items("toy", folder)
    own = render_inferences(items, "toy")
    sets = {of: [item for item in own if item.set == of] for of in ("templatic", "challenge")}
    return Material(sets, render_reasonings(items, "toy", seed=1), sets, {})


def questions(material, settings):
    prompts = load_inference_prompts(ROOT / "prompts"), load_reasoning_prompts(ROOT / "prompts")
    return build_questions("toy", material, *prompts, settings, seed=1)


def settings(**changes):
    plain = {
        "sets": ["templatic", "challenge", "reasoning"],
        "files": {},
        "premises": None,
        "inference_prompts": ["short", "long"],
        "reasoning_prompts": ["plain"],
        "chain_of_thought": [False, True],
        "option_orders": "paper",
        "shots": [{"number": 0, "sources": [], "of_the_construction": True}],
        "continuations": {"inference": ["question"], "reasoning": ["riddle"], "most_shots": 1},
    }
    return MakePrompts.model_validate(plain | changes)


def test_every_item_is_asked_with_every_prompt_and_either_way(material):
    table = questions(material, settings())
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
    table = questions(material, settings(shots=shots, chain_of_thought=[False]))
    asked = table[table["set"] == "templatic"].groupby("shots")["cluster_premise"].agg(set)
    assert asked[0] == asked[1]
    assert len(asked[0]) == 1  # the other premise is the example
    shown = table[(table["shots"] == 1) & (table["set"] == "templatic")]
    assert (shown["question"].str.count("Answer:") == 3).all()


def test_what_is_drawn_is_drawn_by_premise(material):
    table = questions(material, settings(premises=1))
    templatic = table[table["set"] == "templatic"]
    assert templatic["cluster_premise"].nunique() == 1
    assert set(templatic["gold"]) == set("012")


def test_an_unknown_prompt_or_nothing_to_ask_is_told(material):
    with pytest.raises(PromptError, match="prompt 'shrot' is unknown; did you mean 'short'"):
        questions(material, settings(inference_prompts=["shrot"]))
    with pytest.raises(PromptError, match="toy: nothing to ask"):
        questions(material._replace(inferences={}, reasonings=[]), settings())


def test_shots_and_their_sources_go_together():
    with pytest.raises(ValueError, match="number is 1 and sources has 0; give both"):
        settings(shots=[{"number": 1, "sources": [], "of_the_construction": True}])


def test_the_score_that_decides_is_one_of_those_that_are_computed():
    with pytest.raises(ValueError, match="score 'pmi' is not in scores, which has sum"):
        JudgePrompts.model_validate({"score": "pmi", "scores": ["sum"]})


def test_a_file_does_not_take_the_name_of_a_set_of_our_own():
    with pytest.raises(ValueError, match="the name of a set of the project's own"):
        settings(files={"templatic": "data/mine.tsv"})


def choices(material, settings, **changes):
    own = settings.continuations.model_copy(update=changes)
    changed = settings.model_copy(update={"continuations": own})
    return build_choices("toy", material, load_continuations(ROOT / "prompts"), changed, seed=1)


SHOTS = [
    {"number": 0, "sources": [], "of_the_construction": True},
    {"number": 1, "sources": ["templatic"], "of_the_construction": True},
]
SAME = ["kind", "set", "test", "answerable", "shots", "examples", "gold", "cluster_premise"]


def test_the_same_items_are_asked_in_words_and_by_likelihood(material):
    asked = settings(shots=SHOTS, inference_prompts=["short"], chain_of_thought=[False])
    in_words = questions(material, asked)
    by_likelihood, answers = choices(material, asked)
    assert in_words[SAME].equals(by_likelihood[SAME])
    assert list(dict.fromkeys(answers["id"])) == by_likelihood["id"].tolist()
    symbols = answers.groupby("id")["answer"].agg(set)
    for row in by_likelihood.itertuples():
        assert row.gold in symbols[row.id]
    assert symbols.map(len).eq(3).all()
    assert answers["text"].str.match(r" \S").all()


def test_a_text_to_continue_and_its_answers_are_those_of_the_file(material):
    continuation = load_continuations(ROOT / "prompts").inference["question"]
    by_likelihood, answers = choices(material, settings(shots=SHOTS[:1], chain_of_thought=[False]))
    asked = by_likelihood[by_likelihood["set"] == "templatic"]
    assert set(asked["anywhere"]) == {continuation.anywhere}
    questions = asked.set_index("id")["question"].to_dict()
    for item in material.inferences["templatic"]:
        parts = {"premise": item.premise, "hypothesis": item.hypothesis}
        (id_,) = (id_ for id_, question in questions.items() if question == continuation.text.format(**parts))
        assert asked.set_index("id").loc[id_, "gold"] == str(RELATIONS.index(item.gold))
        assert answers[answers["id"] == id_].set_index("answer")["text"].to_dict() == {
            str(digit): continuation.answers[relation].format(**parts) for digit, relation in enumerate(RELATIONS)
        }
    assert len(questions) == len(material.inferences["templatic"])


def test_fewer_shots_leave_the_items_as_they_are(material):
    asked = settings(shots=SHOTS)
    few, _ = choices(material, asked, most_shots=0)
    both, _ = choices(material, asked)
    assert few["id"].tolist() == [id_ for id_, shots in zip(both["id"], both["shots"], strict=True) if shots == 0]
    with pytest.raises(PromptError, match=r"most_shots is 0, but each entry of prompts\.make\.shots has more"):
        choices(material, settings(shots=SHOTS[1:]), most_shots=0)


def test_an_unknown_continuation_is_told(material):
    with pytest.raises(PromptError, match="continuation 'questoin' is unknown; did you mean 'question'"):
        choices(material, settings(), inference=["questoin"])


ONE_SETTING = ["item", "prompt", "shots", "examples", "chain_of_thought"]


def test_rotated_options_stand_first_second_and_last_once_and_the_gold_letter_follows(material):
    table = questions(material, settings(option_orders="rotated"))
    reasoning = table[table["kind"] == "reasoning"]
    items = {item.id: item for item in material.reasonings}
    neither = load_reasoning_prompts(ROOT / "prompts").neither
    for (item, *_), own in reasoning.groupby(ONE_SETTING):
        shown = {items[item].a, items[item].b, neither}
        assert len(own) == 3
        for column in ("option_a", "option_b", "option_c"):
            assert set(own[column]) == shown
        assert set(own["gold"]) == set("ABC")
        for row in own.itertuples():
            right = {"A": items[item].a, "B": items[item].b, "C": neither}[items[item].gold]
            assert getattr(row, f"option_{row.gold.lower()}") == right
            lines = [f"{letter.upper()}. {getattr(row, f'option_{letter}')}" for letter in "abc"]
            assert "\n".join(lines) in row.question
    assert table["id"].is_unique
    assert table["question"].is_unique


def test_the_paper_s_order_has_the_same_ids_whether_or_not_there_are_others(material):
    paper = questions(material, settings())
    rotated = questions(material, settings(option_orders="rotated"))
    pd.testing.assert_frame_equal(paper, rotated[rotated["order"].isin(["", "ABC"])].reset_index(drop=True))
    assert (paper.loc[paper["kind"] == "reasoning", "option_c"].nunique(), set(paper["order"])) == (1, {"", "ABC"})


def test_a_prompt_that_says_what_to_choose_when_unsure_names_the_letter_of_that_option(material):
    table = questions(material, settings(option_orders="rotated", reasoning_prompts=["plain-unsure"]))
    reasoning = table[table["kind"] == "reasoning"]
    for row in reasoning.itertuples():
        (letter,) = (letter for letter in "ABC" if "information" in getattr(row, f"option_{letter.lower()}"))
        assert f"If you are not sure, choose {letter}." in row.question
    assert reasoning["order"].nunique() == 3


def test_frames_that_are_drawn_have_a_and_b_right_equally_often():
    name = next(path.parent.name for path in sorted((ROOT / "constructions").glob("*/items.yaml")) if has_frames(path))
    items = load_items(name, ROOT / "constructions")
    of_project = Material({}, render_reasonings(items, name, seed=1), {}, {})
    plain = settings(sets=["reasoning"], chain_of_thought=[False])
    prompts = load_inference_prompts(ROOT / "prompts"), load_reasoning_prompts(ROOT / "prompts")
    for number in (1, 2, 3, 5):
        asked = plain.model_copy(update={"premises": number})
        table = build_questions(name, of_project, *prompts, asked, seed=1)
        assert table["cluster_premise"].nunique() == number
        golds = table[table["answerable"]].groupby("test")["gold"].value_counts().unstack(fill_value=0)
        assert ((golds["A"] - golds["B"]).abs() <= 1).all()


def has_frames(path):
    return bool(load_items(path.parent.name, path.parents[1]).reasoning)


def test_a_text_that_does_not_list_the_options_is_asked_once_and_one_that_does_in_every_order(material):
    asked = settings(option_orders="rotated", chain_of_thought=[False])
    once, _ = choices(material, asked)
    assert once.equals(choices(material, settings(chain_of_thought=[False]))[0])
    listed, answers = choices(material, asked, reasoning=["letters"])
    reasoning = listed[listed["kind"] == "reasoning"]
    assert (reasoning.groupby("item")["order"].agg(set).map(len) == 3).all()
    assert (reasoning.groupby("item")["gold"].agg(set) == set("ABC")).all()
    own = answers[answers["id"].isin(reasoning["id"])]
    assert own.groupby("id")["text"].agg(list).map(sorted).map(tuple).unique().tolist() == [(" A", " B", " C")]
    in_words = questions(material, asked)
    assert set(in_words["item"]) == set(once["item"]) == set(listed["item"])


def test_an_inference_has_its_template_as_a_cluster_and_a_multiple_choice_item_has_none(material):
    table = questions(material, settings())
    inferences = table[table["kind"] == "inference"]
    assert (inferences["cluster_wording"] == "toy " + inferences["template"]).all()
    reasoning = table[table["kind"] == "reasoning"]
    assert (reasoning["cluster_wording"] == reasoning["item"]).all()
    assert set(reasoning["template"]) == {""}
    templatic = inferences[inferences["set"] == "templatic"]
    assert (templatic.groupby(["template", "reading"])["gold"].nunique() == 1).all()
