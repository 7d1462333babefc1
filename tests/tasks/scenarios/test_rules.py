"""The files of scenarios, and rules for them, each on a planted fault and on clean data."""

import pytest
from ruamel.yaml import YAML

from conftest import SCENARIOS
from cxprobe.constructions.checking import with_lines
from cxprobe.errors import ConstructionError
from cxprobe.tasks.scenarios.rules import load_scenarios
from cxprobe.tasks.scenarios.task import lint_scenarios


@pytest.fixture
def path(tmp_path):
    """The scenarios.yaml of the construction toy, to be written, in the folder of constructions ``tmp_path``."""
    (tmp_path / "toy").mkdir()
    return tmp_path / "toy" / "scenarios.yaml"


SHORT = "the {ADJ1} {NOUN2} is [MASK] ."


def text(change):
    return lambda scenarios: scenarios["tests"]["S1"].update(text=change(scenarios["tests"]["S1"]["text"]))


def others(test, **change):
    one = {"answer": "ANT2", "text": "the {ANT1} one is [MASK] .", **change}
    return lambda scenarios: scenarios["tests"][test].update(others=[one])


def calibration(**change):
    return lambda scenarios: scenarios["calibrations"]["short"].update(change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (text(lambda text: text.replace("[MASK]", "big")), "has 0 masks"),
        (text(lambda text: "[MASK] is the {ADJ1} one."), "where a candidate would need a capital"),
        (lambda s: s["tests"]["S1"].update(answer="ADJ1"), "tests.S1.answer: 'ADJ1' is not a candidate"),
        (others("S2", text="the {ADJ9} one is [MASK] ."), "tests.S2.others.0.text: unknown slot 'ADJ9'"),
        (others("S1"), "tests.S1.others: decisions flip from one text; move them to another test"),
        (lambda s: s.update(candidates=["ADJ2", "ADJ2"]), "candidates: both are ADJ2; there would be nothing"),
        (lambda s: s.update(candidates=["ADJ2", "NOUN1"]), "candidates: the words of NOUN1 are drawn"),
        (
            lambda s: s["words"]["adjectives"].update(forms=["ADJ", "X", "ANT"], rows=[list("abc"), list("def")]),
            "candidates: the halves of a row are exchanged, and ADJ2 and ANT2 are not at the same place",
        ),
        (lambda s: s.update(base="S0"), "base: 'S0' is not in tests (allowed: S1, S2, S3)"),
        (lambda s: s["items"].update(draws=6), "items.draw.nouns: needs 6 rows, words.nouns has 5"),
        (lambda s: s["words"]["adjectives"]["rows"].append(["calm"]), "the row ['calm'] has 1 words for the forms ADJ"),
        (calibration(by_test={"S1": [SHORT]}), "calibrations.short.by_test: 'S1' is not another test than the base"),
        (calibration(vary=["NOUN2", "ANT2"]), "calibrations.short.vary: the row of ADJ2, ANT2"),
    ],
)
def test_a_fault_is_told_with_its_file_and_place(tmp_path, path, change, message):
    content = YAML(typ="safe").load(SCENARIOS)
    change(content)
    YAML(typ="safe").dump(content, path)
    with pytest.raises(ConstructionError) as raised:
        load_scenarios("toy", tmp_path)
    assert message in str(raised.value)
    assert all(line.startswith(f"{path}: ") for line in str(raised.value).splitlines())


def lint(path, text):
    """Return the faults that rules find in scenarios that can be loaded, without their file."""
    path.write_text(text)
    faults = lint_scenarios(load_scenarios("toy", path.parents[1]))
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, faults)]


def test_clean_scenarios_have_no_fault(path):
    assert lint(path, SCENARIOS) == []


# What is changed in the toy file, the line of the fault, and a part of what is said.
PLANTED = [
    (f'["{SHORT}"]', f'["the {{ADJ2}} : {SHORT}"]', 21, "({'ADJ2': 1, 'ANT2': 0}; the base"),
    (f'["{SHORT}"]', f'["{SHORT}", "{SHORT.replace(" .", ".")}"]', 21, "as calibrations.short.texts.0"),
    (f'["{SHORT}"]', f'["{SHORT}"], by_test: {{S2: ["{SHORT}"]}}', 21, "as calibrations.short.texts.0"),
    ("the {ANT1} one is {ANT2}", "an {ANT1} one is {ANT2}", 11, "has the wrong article"),
    ("the {ADJ1} one is {ADJ2} .", "the a {ADJ1} one is {ADJ2} .", 15, "'the a' is two articles in a row"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), PLANTED)
def test_a_planted_fault_is_told_with_its_line(path, old, new, line, message):
    assert old in SCENARIOS
    faults = lint(path, SCENARIOS.replace(old, new, 1))
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults
