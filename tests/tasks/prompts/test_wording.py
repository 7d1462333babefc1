"""How an item becomes a question, or a text to continue, and what the files of prompts must have."""

from copy import deepcopy
from functools import reduce
from operator import getitem

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.models.replies import read_prompt_file
from cxprobe.tasks.prompts.items import inference, multiple_choice
from cxprobe.tasks.prompts.make import Wording, ask_item, continue_item, load_wording

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
PROJECT = load_wording(ROOT / "prompts")


@pytest.fixture
def prompts(tmp_path):
    """Write a file of prompts with changes, each from a path of keys to a value, and read all files."""

    def read(name, changes=()):
        yaml = YAML(typ="safe")
        content = deepcopy(CONTENT.get(name)) or yaml.load(ROOT / "prompts" / f"{name}.yaml")
        for (*parents, key), value in changes:
            reduce(getitem, parents, content)[key] = value
        yaml.dump(content, tmp_path / f"{name}.yaml")
        return PROJECT._replace(**{name: read_prompt_file(Wording.__annotations__[name], tmp_path / f"{name}.yaml")})

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
    silent = prompts("inference", [(("direct",), "")])
    assert ask_item(ITEM, "other", silent, chain_of_thought=False)[0].endswith("/ A cat was awake.")
    with pytest.raises(PromptError, match=r"inference\.yaml: reasoned"):
        prompts("inference", [(("reasoned",), "")])


PLAIN = {
    "text": "{premise} So {hypothesis}",
    "answers": {"entailment": " Yes.", "neutral": " Maybe.", "contradiction": " No."},
    "anywhere": "So:",
}


def test_a_digit_stands_for_each_relation_and_examples_stand_before_it_with_their_right_answers(prompts):
    continuations = prompts("continuations", [(("inference", "plain"), PLAIN)]).continuations
    context, anywhere, answers = continue_item(ITEM, "plain", continuations, [SHOWN, SHOWN])
    shown = "A dog barked. So A dog was old. Maybe.\n\n"
    assert context == f"{shown}{shown}A {{cat}} slept. So A cat was awake."
    assert answers == {"0": " Yes.", "1": " Maybe.", "2": " No."}
    assert anywhere == "So:"


def test_the_options_of_a_multiple_choice_item_are_its_answers_or_are_listed_in_any_order():
    continuations = PROJECT.continuations
    context, _, answers = continue_item(RIDDLE, "question", continuations)
    assert context == "Ann is old.\nQuestion: Who is old?\nAnswer:"
    assert answers == {"A": " Bob.", "B": " Ann.", "C": " nobody can tell."}
    listed, _, answers = continue_item(RIDDLE, "letters", continuations, order="CAB")
    neither = continuations.reasoning["letters"].neither
    assert listed == f"Ann is old.\nQuestion: Who is old?\nA. {neither}\nB. Bob\nC. Ann\nAnswer:"
    assert answers == {"A": " A", "B": " B", "C": " C"}


ANSWERS = PLAIN["answers"]
# The text, a key of it, its value, and the place of the fault below the text.
FAULTS = [
    ("inference.plain", "text", "{premise}", ": text and answers have the fields ['premise']"),
    ("inference.plain", "anywhere", "{premise}", ".anywhere: "),
    ("inference.plain", "text", "{premise} So {hypothesis} ", ".text: "),
    ("inference.plain", "answers", {"neutral": " No."}, ".answers: {'neutral'"),
    ("inference.plain", "answers", ANSWERS | {"neutral": "May"}, ".answers.neutral: 'May'"),
    ("reasoning.question", "answers", {"A": " {b}", "B": " {a}", "C": " no"}, ": text has the fields"),
    ("reasoning.question", "neither", "Nobody knows.", ": text has the fields"),
    ("reasoning.question", "text", "{text} {question} {a} {b}?", ": text has the fields"),
]


@pytest.mark.parametrize(("name", "key", "value", "place"), FAULTS)
def test_a_text_that_cannot_be_filled_or_joined_is_refused(prompts, name, key, value, place):
    with pytest.raises(PromptError) as raised:
        prompts("continuations", [(("inference", "plain"), dict(PLAIN)), ((*name.split("."), key), value)])
    assert f"continuations.yaml: {name}{place}" in str(raised.value)
