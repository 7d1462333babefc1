import re

import pytest

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.prompts.items import Reasoning, make_inference
from cxprobe.prompts.wording import ask_inference, ask_reasoning, load_inference_prompts, load_reasoning_prompts

INFERENCE = """\
prompts:
  plain: {rephrases: null, text: "Is it so? {no field} here"}
  other: {rephrases: plain, text: "So is it?"}
heading: "For example:"
example: "{premise} / {hypothesis} = {answer}"
item: "{premise} / {hypothesis}"
direct: "One digit."
reasoned: "Think, then a digit."
"""
REASONING = """\
prompts:
  plain: {rephrases: null, unsure: false, text: "Choose."}
item: "{text} {question} A {a} B {b} C {c}"
neither: nobody
direct: "One letter."
reasoned: "Think, then a letter."
"""
ITEM = make_inference("A {cat} slept.", "A cat was awake.", "contradiction", "toy", "templatic")
SHOWN = make_inference("A dog barked.", "A dog was old.", "neutral", "toy", "templatic")


def write(folder, name, text):
    (folder / f"{name}.yaml").write_text(text)
    return folder


def test_a_question_has_its_parts_in_order(tmp_path):
    prompts = load_inference_prompts(write(tmp_path, "inference", INFERENCE))
    assert ask_inference(ITEM, "plain", prompts, [], chain_of_thought=False) == (
        "Is it so? {no field} here\n\nA {cat} slept. / A cat was awake.\n\nOne digit."
    )
    assert ask_inference(ITEM, "other", prompts, [SHOWN], chain_of_thought=True) == (
        "So is it?\n\nFor example:\n\nA dog barked. / A dog was old. = 1\n\nA {cat} slept. / A cat was awake.\n\n"
        "Think, then a digit."
    )


def test_a_multiple_choice_question_has_its_options(tmp_path):
    prompts = load_reasoning_prompts(write(tmp_path, "reasoning", REASONING))
    item = Reasoning("id", "Ann is old.", "Who is old?", "Bob", "Ann", "B", "toy", "base", "frame", True)
    asked = ask_reasoning(item, "plain", prompts, chain_of_thought=False)
    assert asked == "Choose.\n\nAnn is old. Who is old? A Bob B Ann C nobody\n\nOne letter."
    assert ask_reasoning(item, "plain", prompts, chain_of_thought=True).endswith("Think, then a letter.")


def test_what_is_asked_is_no_example(tmp_path):
    prompts = load_inference_prompts(write(tmp_path, "inference", INFERENCE))
    other = make_inference(ITEM.premise, "A cat slept.", "entailment", "toy", "templatic")
    with pytest.raises(PromptError, match="is asked about and is an example too"):
        ask_inference(ITEM, "plain", prompts, [other], chain_of_thought=False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "rephrases: plain",
            "rephrases: plane",
            "prompts.other.rephrases: 'plane' is not the name of another prompt; did you mean",
        ),
        ("rephrases: plain", "rephrases: other", "prompts.other.rephrases: 'other' is not the name of another prompt"),
        ("= {answer}", "= {gold}", "example: '{premise} / {hypothesis} = {gold}' must have exactly the fields"),
        ("= {answer}", "", "must have exactly the fields {premise}, {hypothesis}, {answer}"),
        ('item: "{premise} /', 'item: "{premise.__class__} /', "item: "),
        ("direct:", "directly:", "directly: unknown key; did you mean 'direct'?"),
        ("heading:", "# heading:", "heading: missing"),
        ("  other:", "  Other One:", "prompts.Other One"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(tmp_path, old, new, message):
    with pytest.raises(PromptError) as raised:
        load_inference_prompts(write(tmp_path, "inference", INFERENCE.replace(old, new)))
    assert str(raised.value).startswith(str(tmp_path / "inference.yaml"))
    assert message in str(raised.value)


def test_the_prompts_of_the_project():
    inference = load_inference_prompts(ROOT / "prompts").prompts
    contents = [name for name, prompt in inference.items() if prompt.rephrases is None]
    assert len(contents) == 4
    assert max(sum(prompt.rephrases == name for prompt in inference.values()) for name in contents) >= 3
    reasoning = load_reasoning_prompts(ROOT / "prompts").prompts
    unsure = [prompt.unsure for prompt in reasoning.values() if prompt.rephrases is None]
    assert sorted(unsure) == [False, False, True, True]
    assert all(("{unsure}" in prompt.text) == prompt.unsure for prompt in reasoning.values())
    # No prompt names a letter by itself: which option a letter stands for depends on the order.
    assert not any(re.search(r"\b[BC]\b", prompt.text.replace("A, B or C", "")) for prompt in reasoning.values())
    texts = [prompt.text for prompts in (inference, reasoning) for prompt in prompts.values()]
    assert len(texts) == len(set(texts))


def test_each_digit_is_explained_in_every_prompt():
    for prompt in load_inference_prompts(ROOT / "prompts").prompts.values():
        assert all(prompt.text.count(digit) == 1 for digit in "012"), prompt.text


@pytest.mark.parametrize(("unsure", "text"), [("true", "If unsure, choose C."), ("false", "Or choose {unsure}.")])
def test_only_a_prompt_for_the_unsure_names_a_letter_and_in_braces(tmp_path, unsure, text):
    changed = REASONING.replace('unsure: false, text: "Choose."', f'unsure: {unsure}, text: "{text}"')
    with pytest.raises(PromptError, match=r"prompts\.plain: text: .* must have \{unsure\}"):
        load_reasoning_prompts(write(tmp_path, "reasoning", changed))
