"""Rules for scenarios, each on a planted fault and on clean data."""

import pytest

from cxprobe.constructions.checking import with_lines
from cxprobe.tasks.scenarios.rules import load_scenarios
from cxprobe.tasks.scenarios.task import lint_scenarios

SCENARIOS = """\
words:
  adjectives: {forms: [ADJ, ANT], rows: [[taller, shorter], [older, younger], [richer, poorer]]}
  names: {forms: [NAME], rows: [Ann, Bob, Cleo, Dan]}
items: {cross: {adjectives: 2}, draw: {names: 2}}
candidates: [ADJ2, ANT2]
base: S1
tests:
  S1:
    bias: none
    answer: ADJ2
    text: "The {ADJ1}, the {ADJ2}. The {ANT1}, the {ANT2}. {NAME1} is {ADJ1} than {NAME2}, and so [MASK]."
  S2:
    bias: name
    answer: ADJ2
    text: "The {ADJ1}, the {ADJ2}. The {ANT1}, the {ANT2}. {NAME2} is {ADJ1} than {NAME1}, {ADJ1:a} one, so [MASK]."
calibrations:
  short:
    purpose: short
    texts: ["{NAME1} is {ADJ1} than {NAME2}, and so [MASK]."]
  other:
    purpose: name
    texts:
      - "The {ADJ1}, the {ADJ2}. The {ANT1}, the {ANT2}. {NAME1} is {ADJ1} than {NAME2}, and so {NAME3} is [MASK]."
      - "Of the N/A the {ADJ2} and the {ANT2}: {NAME3} is [MASK]."
    vary: [NAME3]
"""
BASE = "The {ADJ1}, the {ADJ2}. The {ANT1}, the {ANT2}. {NAME1} is {ADJ1} than {NAME2}, and so [MASK]."
SHORT = "{NAME1} is {ADJ1} than {NAME2}, and so [MASK]."


def lint(folder, text):
    """Return the faults that rules find in scenarios that can be loaded, without their file."""
    (folder / "x").mkdir()
    path = folder / "x" / "scenarios.yaml"
    path.write_text(text)
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, lint_scenarios(load_scenarios("x", folder)))]


def test_clean_scenarios_have_no_fault(tmp_path):
    assert lint(tmp_path, SCENARIOS) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (f'texts: ["{SHORT}"]', f'texts: ["The {{ADJ2}}, so {SHORT}"]', 19, "({'ADJ2': 1, 'ANT2': 0}; the base"),
        (f'texts: ["{SHORT}"]', f'texts: ["{BASE}"]', 19, "says the same as tests.S1.text"),
        (f'texts: ["{SHORT}"]', f'texts: ["{SHORT}", "{SHORT.replace(",", "")}"]', 19, "as calibrations.short.texts.0"),
        (f'["{SHORT}"]', f'["{SHORT}"]\n    by_test: {{S2: ["{SHORT}"]}}', 20, "as calibrations.short.texts.0"),
        ("{ADJ1:a} one", "an {ADJ1} one", 15, "'an taller' has the wrong article; write 'a taller'"),
        ("Of the N/A the", "Of the a", 24, "'the a' is two articles in a row"),
    ],
)  # fmt: skip
def test_a_planted_fault_is_told_with_its_line(tmp_path, old, new, line, message):
    assert old in SCENARIOS
    faults = lint(tmp_path, SCENARIOS.replace(old, new, 1))
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults
