"""Which items are asked about, what is shown as examples, and the questions that follow."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from reasoning_tables import PLAIN
from ruamel.yaml import YAML

from conftest import ITEMS, ROOT, write_toy_construction
from cxprobe.errors import PromptError
from cxprobe.models.replies import read_prompt_file
from cxprobe.tasks.prompts.items import inference, load_items, multiple_choice, render_inferences, render_reasonings
from cxprobe.tasks.prompts.make import (
    Material,
    Wording,
    ask_item,
    build_tables,
    check_sets,
    choose_examples,
    load_material,
    load_wording,
)
from cxprobe.tasks.prompts.params import RELATIONS, MakePrompts, PromptsParams, Shots

WORDING = load_wording(ROOT / "prompts")
NEITHER = WORDING.reasoning.neither
NO_SHOTS = {"number": 0, "sources": [], "of_the_construction": True}
SHOTS = [NO_SHOTS, {"number": 1, "sources": ["templatic"], "of_the_construction": True}]


@pytest.fixture(scope="module")
def material(toy_constructions):
    items = load_items("toy", toy_constructions)
    inferences = render_inferences(items, "toy")
    sets = {of: [item for item in inferences if item.set == of] for of in ("templatic", "challenge")}
    return Material([*inferences, *render_reasonings(items, "toy", seed=1)], sets)


def settings(**changes):
    plain = {"sets": ["templatic", "challenge", "reasoning"], "files": {}, "premises": None, "control_premises": None}
    plain |= {"inference_prompts": ["paper-2"], "reasoning_prompts": ["paper-2"], "chain_of_thought": [False]}
    plain |= {"option_orders": "paper", "shots": [NO_SHOTS]}
    return MakePrompts.model_validate(plain | changes)


def questions(material, **changes):
    return build_tables("toy", material, WORDING, settings(**changes), seed=1)["questions"]


def test_every_item_is_asked_with_every_prompt_and_either_way(material):
    table = questions(material, inference_prompts=["paper-2", "paper-1"], chain_of_thought=[False, True])
    assert len(table) == 7 * 2 * 2 + 8 * 1 * 2
    assert table[["id", "question"]].nunique().tolist() == [len(table)] * 2
    assert table.groupby("kind")["gold"].agg(set).to_dict() == {"inference": set("012"), "reasoning": set("ABC")}
    clusters = table.groupby("set")["cluster_premise"].nunique().to_dict()
    assert clusters == {"templatic": 2, "challenge": 1, "reasoning": 1}
    templatic = questions(material, premises=1).query("set == 'templatic'")
    assert (templatic["cluster_premise"].nunique(), set(templatic["gold"])) == (1, set("012"))


def test_all_settings_of_shots_are_asked_about_the_same_items(material):
    table = questions(material, shots=SHOTS)
    templatic = table[table["set"] == "templatic"]
    asked = templatic.groupby("shots")["cluster_premise"].agg(set)
    assert asked[0] == asked[1]
    assert len(asked[0]) == 1  # the other premise is the example
    assert (templatic.loc[templatic["shots"] == 1, "question"].str.count("Answer:") == 3).all()


def test_rotated_options_stand_first_second_and_last_once_and_the_gold_letter_follows(material):
    table = questions(material, option_orders="rotated", reasoning_prompts=["paper-2", "paper-4"])
    items = {item.id: item for item in material.items}
    for (id_, prompt), rows in table[table["kind"] == "reasoning"].groupby(["item", "prompt"]):
        options = {"A": items[id_].a, "B": items[id_].b, "C": NEITHER}
        shown = rows[["option_a", "option_b", "option_c"]].set_axis([*"ABC"], axis=1).to_dict("records")
        for letter in "ABC":
            assert sorted(one[letter] for one in shown) == sorted(options.values())
        for row, one in zip(rows.itertuples(), shown, strict=True):
            assert one[row.gold] == options[items[id_].gold]
            assert "\n".join(f"{letter}. {option}" for letter, option in one.items()) in row.question
            (unsure,) = (letter for letter, option in one.items() if option == NEITHER)
            assert (f"the answer is {unsure}." in row.question) == (prompt == "paper-4")
    paper = questions(material, reasoning_prompts=["paper-2", "paper-4"])
    pd.testing.assert_frame_equal(paper, table[table["order"].isin(["", "ABC"])].reset_index(drop=True))


@pytest.mark.parametrize(
    ("model", "content", "value"),
    [
        (Shots, SHOTS[1] | {"sources": []}, "number is 1 and sources has 0"),
        (Shots, SHOTS[1] | {"of_the_construction": False}, "templatic are items of the construction"),
        (MakePrompts, {"shots": [NO_SHOTS, NO_SHOTS]}, "shots: 0 of .* is listed more than once"),
        (MakePrompts, {"files": {"mine": "mine.tsv"}}, "'mine.tsv' is not below data/benchmarks/"),
        (MakePrompts, {"files": {"templatic": "data/benchmarks/mine.tsv"}}, "'templatic' is the name of a set"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(model, content, value):
    whole = {**settings().model_dump(), **content} if model is MakePrompts else content
    with pytest.raises(ValueError, match=value):
        model.model_validate(whole)


# Three hypotheses to a premise, as in the release; four premises to each of two constructions.
FULL = [
    inference(f"Premise {n} of {name}.", f"Hypothesis {gold}.", gold, name, "full")
    for name in ("odd", "even")
    for n in range(4)
    for gold in RELATIONS
]
# One hypothesis to a premise, as in a challenge set.
SINGLE = [inference(f"Single {n}.", "It was.", gold, "odd", "single") for n, gold in enumerate(RELATIONS * 2)]


def test_each_source_gives_an_example_of_each_relation_a_shot_by_a_draw_that_follows_from_the_seed():
    for shots in (0, 1, 3):
        examples = choose_examples([FULL], "odd", shots, seed=1)
        assert Counter(example.gold for example in examples) == Counter(dict.fromkeys("012", shots))
        assert {example.construction for example in examples} <= {"odd"}
        assert len({example.premise for example in examples}) == shots
    examples = choose_examples([FULL, SINGLE], "odd", 2, seed=1)
    assert Counter((example.set, example.gold) for example in examples) == {
        (name, gold): 2 for name in ("full", "single") for gold in "012"
    }
    assert choose_examples([FULL], "odd", 2, seed=1) == choose_examples([FULL[::-1]], "odd", 2, seed=1)
    drawn = {tuple(example.gold for example in choose_examples([FULL], None, 1, seed=seed)) for seed in range(8)}
    assert len(drawn) > 1  # the relations are shown in a drawn order
    for construction, shots, has in (("odd", 3, "2 of entailment"), ("even", 1, "0 of entailment")):
        said = f"source of {shots} examples of each relation of {construction} has {has}"
        with pytest.raises(PromptError, match=said):
            choose_examples([SINGLE], construction, shots, seed=1)


def test_a_control_has_sets_of_its_own_and_a_number_of_premises_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("constructions", "plain")
    folder.mkdir(parents=True)
    (folder / "items.yaml").write_text("control: true\n" + ITEMS)
    control = load_material("plain", settings(shots=SHOTS), seed=1)
    made = build_tables("plain", control, WORDING, settings(shots=SHOTS), seed=1)
    asked = made["questions"]
    assert set(asked["set"]) == {"templatic-control", "challenge-control", "reasoning-control"}
    assert set(asked["shots"]) == {0, 1}  # its own sentences are its examples
    few = build_tables("plain", control, WORDING, settings(premises=1, control_premises=2), seed=1)["questions"]
    assert few.groupby("set")["cluster_premise"].nunique()["templatic-control"] == 2


# Free-form hypotheses: people wrote one of each relation to a premise, in words of their own.
FREE_FORM = """CxN Type,Number,P/H/R,Annotation Targets - Gold Standard Relation
toy,1,premise,The king drew the cats.
,1,hypothesis,Somebody with a crown had a pencil in his hand.
,1,relation,1 (neutral)
other,4,premise,It rained.
,4,hypothesis,The street was wet.
,4,relation,0 (entailment)
"""
FILES = {"free-form": "data/benchmarks/free.csv", "official": {"toy": "data/benchmarks/toy.tsv"}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the toy construction and files of two imported sets, to work in."""
    write_toy_construction(tmp_path / "constructions")
    imported = tmp_path / "data" / "benchmarks"
    imported.mkdir(parents=True)
    (imported / "toy.tsv").write_text(PLAIN, newline="")
    (imported / "free.csv").write_text(FREE_FORM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_imported_sets_are_asked_about_beside_our_own_by_their_own_names(folder):
    read = []
    elsewhere = FILES | {"elsewhere": {"other": "data/benchmarks/o.tsv"}}
    material = load_material("toy", settings(files=elsewhere), seed=1, use=lambda path: read.append(str(path)) or path)
    assert read == ["constructions/toy/items.yaml", "data/benchmarks/free.csv", "data/benchmarks/toy.tsv"]
    made = build_tables("toy", material, WORDING, settings(files=FILES), seed=1)
    counts = {"challenge": 1, "free-form": 1, "official": 16, "reasoning": 8, "templatic": 6}
    assert made["questions"].groupby("set")["item"].nunique().to_dict() == counts
    assert made["items"].query("drawn").groupby("set").size().to_dict() == counts
    few = questions(material, files=FILES, premises=1).query("kind == 'reasoning'")
    assert few.groupby("set")["cluster_premise"].nunique().to_dict() == {"official": 1, "reasoning": 1}


def test_an_imported_set_that_no_construction_has_an_item_of_is_refused(folder):
    with pytest.raises(PromptError, match=r"^prompts\.make\.files\.official: 'toi' is .* mean 'toy'"):
        check_sets(set(), settings(files={"official": {"toi": "data/benchmarks/toy.tsv"}}))
    asked = settings(files=FILES | {"elsewhere": "data/benchmarks/other.csv"})
    with pytest.raises(PromptError, match=r"^prompts\.make\.files\.elsewhere: has no item about any of"):
        check_sets({"free-form", "official"}, asked)
    check_sets({"free-form", "official", "elsewhere"}, asked)


def test_a_model_is_asked_a_part(material):
    chosen = {"shots": SHOTS, "chain_of_thought": [False, True], "sets": ["templatic", "reasoning"]}
    table = questions(material, **chosen)

    def asked(**parts):
        params = {"models": {}, "llms": {"one": parts}, "constructions": ["toy"], "make": settings(**chosen)}
        section = PromptsParams(**params)
        return section.llms["one"].part_of(table)

    pd.testing.assert_frame_equal(asked(), table)
    assert set(asked(sets=["templatic"])["kind"]) == {"inference"}
    assert asked(shots=[1]).groupby("kind")["shots"].agg(set).to_dict() == {"inference": {1}, "reasoning": {0}}
    assert not asked(chain_of_thought=[False])["chain_of_thought"].any()
    with pytest.raises(ValueError, match=r"llms\.one\.sets: 'templatik'"):
        asked(sets=["templatik"])


# How an item becomes a question

CONTENT = {
    "inference": {
        "prompts": {"plain": {"text": "Is it so? {no field} here"}, "other": {"text": "So is it?"}},
        "heading": "For example:",
        "example": "{premise} / {hypothesis} = {answer}",
        "item": "{premise} / {hypothesis}",
        "direct": "One digit.",
        "reasoned": "Think, then a digit.",
    },
    "reasoning": {
        "prompts": {"when": {"text": "If unsure {unsure}."}},
        "item": "{text} {question} A {a} B {b} C {c}",
        "neither": "nobody",
        "direct": "One letter.",
        "reasoned": "Think, then a letter.",
    },
}
ITEM = inference("A {cat} slept.", "A cat was awake.", "contradiction", "toy", "templatic")
SHOWN = inference("A dog barked.", "A dog was old.", "neutral", "toy", "templatic")
RIDDLE = multiple_choice("frame", "base", "toy", "reasoning", "B", "Ann is old.", "Who is old?", "Bob", "Ann")


@pytest.fixture
def prompts(tmp_path):
    """Write a file of prompts with changes, and read all files."""

    def read(name, **changes):
        YAML(typ="safe").dump(CONTENT[name] | changes, tmp_path / f"{name}.yaml")
        return WORDING._replace(**{name: read_prompt_file(Wording.__annotations__[name], tmp_path / f"{name}.yaml")})

    return read


def test_a_question_has_its_parts_in_order(prompts):
    wording = prompts("inference")
    assert ask_item(ITEM, "plain", wording, chain_of_thought=False)[0] == (
        "Is it so? {no field} here\n\nA {cat} slept. / A cat was awake.\n\nOne digit."
    )
    assert ask_item(ITEM, "other", wording, [SHOWN], chain_of_thought=True)[0] == (
        "So is it?\n\nFor example:\n\nA dog barked. / A dog was old. = 1\n\nA {cat} slept. / A cat was awake.\n\n"
        "Think, then a digit."
    )


@pytest.mark.parametrize(
    ("order", "unsure", "shown"),
    [("ABC", "C", "A Bob B Ann C nobody"), ("BCA", "B", "A Ann B nobody C Bob"), ("CAB", "A", "A nobody B Bob C Ann")],
)
def test_the_options_of_a_question_stand_in_the_order_that_is_asked_for(prompts, order, unsure, shown):
    asked, _ = ask_item(RIDDLE, "when", prompts("reasoning"), chain_of_thought=False, order=order)
    assert asked == f"If unsure {unsure}.\n\nAnn is old. Who is old? {shown}\n\nOne letter."


def test_prompts_may_say_themselves_how_to_answer_at_once_but_not_after_reasoning(prompts):
    silent = prompts("inference", direct="")
    assert ask_item(ITEM, "other", silent, chain_of_thought=False)[0].endswith("/ A cat was awake.")
    with pytest.raises(PromptError, match=r"inference\.yaml: reasoned"):
        prompts("inference", reasoned="")
