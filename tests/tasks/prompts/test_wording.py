"""How an item becomes a question, and what the files of prompts must have."""

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.models.replies import read_prompt_file
from cxprobe.tasks.prompts.items import inference, multiple_choice
from cxprobe.tasks.prompts.make import Wording, ask_item, load_wording

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
    """Write a file of prompts with changes, and read all files."""

    def read(name, **changes):
        YAML(typ="safe").dump(CONTENT[name] | changes, tmp_path / f"{name}.yaml")
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
    silent = prompts("inference", direct="")
    assert ask_item(ITEM, "other", silent, chain_of_thought=False)[0].endswith("/ A cat was awake.")
    with pytest.raises(PromptError, match=r"inference\.yaml: reasoned"):
        prompts("inference", reasoned="")
