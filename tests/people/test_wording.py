import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.people.wording import load_wording

FILE = ROOT / "prompts" / "validation.yaml"


def changed(folder, *keys, value):
    yaml = YAML(typ="safe")
    content = yaml.load(FILE)
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    path = folder / "validation.yaml"
    with path.open("w") as file:
        yaml.dump(content, file)
    return path


def test_the_project_has_checks_of_all_kinds_none_twice():
    checks = load_wording(FILE).checks
    sentences = [text for _, check in checks for member in check.members for text in (member.right, member.wrong)]
    assert len(sentences) == len(set(sentences)) >= 2 * 3 * 3


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("checks", "instruction", "question"), "Read on.", "exactly the fields {answer}"),
        (("checks", "agreement", "question"), "Choose {answer}.", "must have no fields"),
        (("checks", "shuffled", "members", 0, "wrong"), "Train the to.", "does not have the words of"),
        (("checks", "agreement", "members", 0), {"right": "A.", "wrong": "A."}, "nobody could tell them apart"),
        (("checks", "agreement", "members"), [], "at least 1 item"),
        (("tasks", "inference", "text"), "So: {premis}", "exactly the fields {premise}"),
        (("tasks", "inference", "question"), "So: {", "Single '{' encountered"),
        (("tasks", "pairs", "title"), " ", "at least 1 character"),
        (("tasks", "pair"), {}, "did you mean 'pairs'"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path, keys, value, message):
    with pytest.raises(PromptError) as fault:
        load_wording(changed(tmp_path, *keys, value=value))
    assert message in str(fault.value)
    assert str(fault.value).startswith(f"{tmp_path}/validation.yaml: {keys[0]}")
