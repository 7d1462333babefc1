import pytest

from conftest import ITEMS, ROOT
from cxprobe.constructions import load_items, render_inferences, render_reasonings
from cxprobe.errors import PromptError
from cxprobe.make.prompting import (
    Material,
    build_choices,
    build_questions,
    load_continuations,
    load_inference_prompts,
    load_reasoning_prompts,
)
from cxprobe.params import BuildPrompts
from cxprobe.records import RELATIONS


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
        "shots": [{"number": 0, "sources": [], "of_the_construction": True}],
        "continuations": {"inference": ["question"], "reasoning": ["riddle"], "most_shots": 1},
    }
    return BuildPrompts.model_validate(plain | changes)


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
    with pytest.raises(PromptError, match=r"most_shots is 0, but each entry of build_prompts\.shots has more"):
        choices(material, settings(shots=SHOTS[1:]), most_shots=0)


def test_an_unknown_continuation_is_told(material):
    with pytest.raises(PromptError, match="continuation 'questoin' is unknown; did you mean 'question'"):
        choices(material, settings(), inference=["questoin"])
