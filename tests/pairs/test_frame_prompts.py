from string import Formatter

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.pairs.frame_prompts import load_writing_prompt

FRAMES = """\
prompts:
  own:
    write: "{name} {gloss} {positive} | {templates} | {slots} | {examples} | {number} {{}}"
    instance: "{name} {gloss} {positive} {sentence}: prototypical, extended, unacceptable?"
    diagnostic: "{sentence} {statement}: appropriate, inappropriate?"
"""
ABOUT = {"name": "Toy", "gloss": "a toy", "positive": "all"}


def load(folder, text=FRAMES, name="own"):
    (folder / "frames.yaml").write_text(text)
    return load_writing_prompt(name, folder)


def test_a_question_has_all_that_is_known_in_its_place(tmp_path):
    prompt = load(tmp_path)
    asked = prompt.ask_for_frames(ABOUT, ["{N1} sang.", "{N1} slept."], {"verb": "a verb"}, ['{"verb": "sang"}'], 7)
    assert asked == 'Toy a toy all | {N1} sang.\n{N1} slept. | verb: a verb | {"verb": "sang"} | 7 {}'
    assert prompt.ask_about_instance(ABOUT, "Ann sang.").startswith("Toy a toy all Ann sang.: ")
    assert prompt.ask_about_diagnostic("Ann sang.", "She is Ann.").startswith("Ann sang. She is Ann.: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{examples}", "", "prompts.own.write: "),
        ("{number}", "{number} {answer}", "must have exactly the fields {name}, {gloss}, {positive}, {templates}"),
        ("extended, ", "", "prompts.own.instance: does not name the answers extended"),
        ("appropriate, inappropriate", "yes or no", "does not name the answers appropriate, inappropriate"),
        ("diagnostic:", "diagnostics:", "prompts.own.diagnostics: unknown key; did you mean 'diagnostic'?"),
        ("  own:", "  Own One:", "prompts.Own One"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(tmp_path, old, new, message):
    assert old in FRAMES
    with pytest.raises(PromptError) as raised:
        load(tmp_path, FRAMES.replace(old, new))
    assert str(raised.value).startswith(str(tmp_path / "frames.yaml"))
    assert message in str(raised.value)


def test_an_answer_is_named_in_its_own_right_and_not_as_a_part_of_another(tmp_path):
    with pytest.raises(PromptError, match="does not name the answers appropriate"):
        load(tmp_path, FRAMES.replace("appropriate, inappropriate?", "inappropriate?"))


def test_an_unknown_prompt_is_told_with_what_there_is(tmp_path):
    with pytest.raises(PromptError, match=r"frames\.yaml: prompt 'wn' is unknown; did you mean 'own'\?"):
        load(tmp_path, name="wn")


def test_the_prompts_of_the_project_load():
    for name in YAML(typ="safe").load(ROOT / "prompts" / "frames.yaml")["prompts"]:
        prompt = load_writing_prompt(name, ROOT / "prompts")
        assert all("{" not in text for text, *_ in Formatter().parse(prompt.write))
