"""Texts that go on with an answer: what they are made of, and what a file of them must have."""

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.prompts.items import Inference, Reasoning
from cxprobe.prompts.wording import continue_inference, continue_reasoning, load_continuations

ITEM = Inference("i", "Ann slept.", "Ann was awake.", "contradiction", "toy", "templatic", "p")
EXAMPLE = Inference("e", "Bob ran.", "Bob moved.", "entailment", "toy", "templatic", "q")
RIDDLE = Reasoning("r", "Ann is older than Bob.", "who is older?", "Ann", "Bob", "A", "toy", "base", "f", True)


@pytest.fixture
def continuations(tmp_path):
    """Write a file, as a change leaves it, and read it."""

    def write(change=lambda content: None):
        yaml = YAML(typ="safe")
        content = yaml.load(ROOT / "prompts" / "continuations.yaml")
        content["inference"] = {"plain": {
            "text": "{premise} So {hypothesis}",
            "answers": {"entailment": " Yes.", "neutral": " Maybe.", "contradiction": " No."},
            "anywhere": "So:",
        }}  # fmt: skip
        change(content)
        with (tmp_path / "continuations.yaml").open("w") as file:
            yaml.dump(content, file)
        return load_continuations(tmp_path)

    return write


def test_a_digit_stands_for_each_relation(continuations):
    choice = continue_inference("x", ITEM, "plain", continuations(), [])
    assert choice.context == "Ann slept. So Ann was awake."
    assert choice.answers == {"0": " Yes.", "1": " Maybe.", "2": " No."}
    assert (choice.id, choice.anywhere) == ("x", "So:")


def test_examples_stand_before_it_with_their_right_answers(continuations):
    choice = continue_inference("x", ITEM, "plain", continuations(), [EXAMPLE, EXAMPLE])
    shown = "Bob ran. So Bob moved. Yes.\n\n"
    assert choice.context == f"{shown}{shown}Ann slept. So Ann was awake."


def test_the_options_of_a_multiple_choice_item_are_its_answers():
    choice = continue_reasoning("x", RIDDLE, "question", load_continuations(ROOT / "prompts"))
    assert choice.context == "Ann is older than Bob.\nQuestion: who is older?\nAnswer:"
    assert choice.answers == {"A": " Ann.", "B": " Bob.", "C": " nobody can tell."}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "{premise}"}, "text and answers together must have exactly the fields {hypothesis}, {premise}"),
        ({"anywhere": "{premise}"}, "anywhere must have none"),
        ({"text": "{premise} So {hypothesis} "}, "must not be empty or end in a space"),
        ({"answers": {"entailment": " Yes.", "neutral": " No."}}, "give entailment, neutral, contradiction"),
        ({"answers": {"entailment": "Yes.", "neutral": " M", "contradiction": " N"}}, "must begin with a space"),
        ({"answers": {"entailment": " Y", "neutral": " Y", "contradiction": " N"}}, "two answers are the same"),
    ],
)
def test_what_cannot_be_filled_or_joined_is_refused(continuations, change, message):
    with pytest.raises(PromptError) as raised:
        continuations(lambda content: content["inference"]["plain"].update(change))
    assert "continuations.yaml: inference.plain" in str(raised.value)
    assert message in str(raised.value)


def test_the_third_option_names_neither_of_the_others(continuations):
    with pytest.raises(PromptError, match="answer A must have the field"):
        continuations(lambda content: content["reasoning"]["question"]["answers"].update(A=" {b}.", B=" {a}."))


def test_a_text_that_lists_the_options_shows_them_in_any_order():
    continuations = load_continuations(ROOT / "prompts")
    neither = continuations.reasoning["letters"].neither
    choice = continue_reasoning("x", RIDDLE, "letters", continuations, "CAB")
    shown = f"Question: who is older?\nA. {neither}\nB. Ann\nC. Bob\nAnswer:"
    assert choice.context == f"Ann is older than Bob.\n{shown}"
    assert choice.answers == {"A": " A", "B": " B", "C": " C"}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("letters", {"neither": None}, "a text that lists the options must have"),
        ("letters", {"text": "{text} {question} A. {a} B. {b}"}, "a text that lists the options must have"),
        ("letters", {"answers": {"A": " {b}", "B": " B", "C": " C"}}, "answer A may have no field but {a}"),
        ("question", {"neither": "Nobody knows."}, "neither is the third option of a text that lists them"),
    ],
)
def test_a_text_lists_all_options_or_none(continuations, name, change, message):
    with pytest.raises(PromptError) as raised:
        continuations(lambda content: content["reasoning"][name].update(change))
    assert f"continuations.yaml: reasoning.{name}" in str(raised.value)
    assert message in str(raised.value)
