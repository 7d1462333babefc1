"""The authors' own prompts: read from files of code, which are not run."""

import re

import pytest

from cxprobe.errors import PromptError
from cxprobe.tasks.prompts.items import Inference, Reasoning
from cxprobe.tasks.prompts.wording import InferencePrompts, ReasoningPrompts, ask_item, load_prompts
from cxprobe.tasks.registry import TASKS

INFERENCE = '''
import os
open("it was run", "w")
other = ["not a prompt: 0, 1 or 2"]
prompts = [
    """You judge best. Say 0, 1 or 2 for the relation. A number only.
""",
    # a remark
    "Which of 0, 1, 2 is it? The relation, please. A number only.",
    "As one who knows grammar, give 0, 1 or 2. A number only.",
    "You judge as well as any. Tell 0, 1 or 2, the relation. A number only.",
    "As somebody who knows grammar, give 0, 1 or 2. A number only.",
    "As one who knows grammar, give 0, 1 or 2. Explain Step by step, and end with 0, 1 or 2.",
    "As one who knows grammar, give 0, 1 or 2. A number only.",
]
'''
REASONING = '''
prompts = [
"""You judge best. Output A, B or C.

 Question: {}

""",
"Output A, B, or C.\\n\\n Question: {}",
"You judge best. Output A, B or C.\\nIf it is not clear, output the character C.\\n\\n Question: {}",
"Output A, B, or C. If it is not clear, output C.\\n\\n Question: {}",
"Answer in your own words. {}",
"Output just one of A, B, or C. If the answer is ambiguous, output C.\\n\\n Question: {}",
"Output A, B, or C. If it is not clear, output C. Explain Step by step before A, B, or C in the end. Question: {}",
]
'''
ITEM = Inference("A {cat} slept.", "A cat was awake.", "contradiction", "toy", "templatic")
RIDDLE = Reasoning("id", "Ann is old.", "Who is old?", "Bob", "Ann", "B", "toy", "base", "frame", True)


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """Import files of code into a folder, and return its prompts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts").mkdir()

    def run(*contents):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"{number}.py")
            paths[-1].write_text(content)
        TASKS["prompts"].import_prompts(paths)
        kinds = (InferencePrompts, ReasoningPrompts)
        return [load_prompts(kind, tmp_path / "prompts", "verbatim") for kind in kinds]

    return run


def test_the_prompts_of_a_release_are_read_with_rephrasings_and_chains_of_thought_and_nothing_is_run(
    imported, tmp_path
):
    inference, reasoning = imported(REASONING, INFERENCE)
    assert not (tmp_path / "it was run").exists()
    names = ["paper-1", "paper-2", "paper-3", "paper-4"]
    rephrased = dict.fromkeys(names) | {"paper-3-rephrased-1": "paper-3"}
    assert {name: prompt.rephrases for name, prompt in inference.prompts.items()} == rephrased
    assert [name for name, prompt in inference.prompts.items() if prompt.reasoned] == ["paper-3"]
    assert list(reasoning.prompts) == [*names, "paper-4-rephrased-1"]
    assert [prompt.unsure for prompt in reasoning.prompts.values()] == [False, False, True, True, True]
    asked = ask_item(ITEM, "paper-3", inference, reasoning, chain_of_thought=True)
    assert asked == (
        "As one who knows grammar, give 0, 1 or 2. Explain Step by step, and end with 0, 1 or 2.\n\n"
        "Premise: A {cat} slept.\nHypothesis: A cat was awake.\nRelation:"
    )
    asked = ask_item(RIDDLE, "paper-4", inference, reasoning, chain_of_thought=False, order="BCA")
    assert asked == (
        "Output A, B, or C. If it is not clear, output B.\n\nQuestion: Ann is old. Who is old?\n\nOption A: Ann\n"
        "Option B: Not enough information\nOption C: Bob"
    )
    with pytest.raises(PromptError, match="prompt 'paper-1' has no `reasoned`"):
        ask_item(ITEM, "paper-1", inference, reasoning, chain_of_thought=True)


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([INFERENCE], "no file has prompts about reasoning"),
        ([REASONING, "prompts = ["], "1.py: prompts is no list of strings in Python"),
        ([REASONING, "prompts = [open('x')]"], "1.py: prompts is no list of strings in Python"),
        ([REASONING, "texts = ['0 1 2']"], "1.py: 0 prompts about inference; expected 4 or more"),
    ],
)
def test_files_without_the_prompts_are_refused_with_what_they_lack(imported, tmp_path, contents, message):
    with pytest.raises(PromptError, match=re.escape(message)):
        imported(*contents)
    assert not (tmp_path / "prompts" / "verbatim.yaml").exists()
