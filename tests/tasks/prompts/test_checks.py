"""Rules for inferences and reasoning items, each on a planted fault and on clean data."""

import pytest

from cxprobe.constructions.checking import with_lines
from cxprobe.tasks.prompts.items import load_items
from cxprobe.tasks.prompts.task import lint_items

PEOPLE = [
    "baker", "clerk", "dentist", "editor", "farmer", "guide", "harpist", "judge", "knight", "lawyer", "miner", "poet",
]  # fmt: skip
INFERENCE = """\
inference:
  slots: {SBJ: who, OBJ: what}
  hypotheses:
    moved: "{OBJ} moved."
    stayed: "{SBJ} left {OBJ} where {OBJ:they} {OBJ:was}."
  readings:
    asserted: {moved: entailment, stayed: contradiction}
    denied: {moved: contradiction, stayed: entailment}
    open: {moved: neutral, stayed: neutral}
  premises:
""" + "".join(
    f'    - {{text: "{{SBJ}} {verb} {{OBJ}} away.", reading: {reading}, '
    f"slots: {{SBJ: {{she: the {person}}}, OBJ: {{it: a box of {person} hats}}}}}}\n"
    for person, (reading, verb) in zip(
        PEOPLE, [("asserted", "bundled"), ("denied", "did not carry"), ("open", "may have bundled")] * 4, strict=True
    )
) + """\
  challenge:
    - {text: "{SBJ} bundled {OBJ} well.", slots: {SBJ: {he: the owl}, OBJ: {it: an egg}}, gold: {moved: neutral}}
"""  # fmt: skip
FIRST_PREMISE = 12
CHALLENGE = 25
NAMES = ["Ada", "Bo", "Cai", "Dov", "Eli", "Fay", "Gil", "Hal", "Ike", "Jan"]
REASONING = "reasoning:\n" + "".join(
    f"""\
  - referents: [{{she: {name}}}, {{he: the man called {name}y}}, {{it: dog number {number}}}, {{they: the {name}sons}}]
    rule: "in {name}ton, the older you are, the calmer you are."
    swapped: "in {name}ton, the older you are, the wilder you are."
    facts: "{first} and {second} live in {name}ton, and {{R1}} is older than {{R2}}."
    question: "of {{R1}} and {{R2}} in {name}ton, who is calmer?"
    other_facts: "{first} and {second} live in {name}ton, and {{R1}} is taller than {{R2}}."
    nonce_facts: "{first} and {second} live in {name}ton, and {{R1}} blicks with {{R2}}."
"""
    for number, name in enumerate(NAMES)
    for first, second in [("{R1}", "{R2}") if number % 2 else ("{R2}", "{R1}")]
)


def lint(folder, text):
    """Return the faults that rules find in items that can be loaded, without their file."""
    (folder / "x").mkdir()
    path = folder / "x" / "items.yaml"
    path.write_text("sources: [made for the tests]\n" + text)
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, lint_items(load_items("x", folder)))]


@pytest.mark.parametrize("text", [INFERENCE, REASONING, INFERENCE + REASONING])
def test_clean_items_have_no_fault(tmp_path, text):
    assert lint(tmp_path, text) == []


DENIED = ("{moved: contradiction, stayed: entailment}", "{moved: entailment, stayed: entailment}")
TWICE = [f"the {person}}}, OBJ: {{it: a box of {person} hats" for person in ("editor", "baker")]
# The items, what is changed in them, the line of the fault, and a part of what is said.
FAULTS = [
    (INFERENCE, *DENIED, 5, "8 of 12 (67%)"),
    (INFERENCE, '"{SBJ} left {OBJ} where {OBJ:they} {OBJ:was}."', '"{OBJ} moved!"', FIRST_PREMISE, "moved!"),
    (INFERENCE, *TWICE, FIRST_PREMISE + 3, "premises[0]"),
    (INFERENCE, "a box of baker hats", "an box of baker hats", FIRST_PREMISE, "'an box'"),
    (INFERENCE, "{SBJ} bundled {OBJ} well", "{OBJ} moved", CHALLENGE, "'An egg moved.'"),
    (REASONING, "is taller than {R2}", "is older than {R2}", 8, "says the same as facts"),
    (REASONING, "the wilder you are", "the calmer you are", 5, "says the same as rule"),
    (REASONING, "{R1} is older than {R2}", "{R1} is older than most, but not {R3}", 6, "names R1, R2, R3"),
    (REASONING, "of {R1} and {R2} in Adaton, who", "in Adaton, who", 7, "names nobody"),
    (REASONING, "he: the man called Aday", "he: the man called Ada", 3, "'ada' is also in 'the man called ada'"),
    (REASONING, "{R1} is older than {R2}", "{R1} is older than {R2}, so Ada is old", 6, "has 'ada' in words"),
]


@pytest.mark.parametrize(("text", "old", "new", "line", "message"), FAULTS)
def test_a_planted_fault_is_told_with_its_line(tmp_path, text, old, new, line, message):
    assert old in text
    faults = lint(tmp_path, text.replace(old, new, 1))
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults


@pytest.mark.parametrize(("beside", "told"), [("you are.", []), ("you are not.", ["beside: 'you are not.'"] * 2)])
def test_what_stands_beside_the_construction_is_a_part_of_the_rule(tmp_path, beside, told):
    faults = lint(tmp_path, REASONING.replace('    facts: "', f'    beside: "{beside}"\n    facts: "', 1))
    assert [fault.partition(": ")[2][: len("beside: 'you are not.'")] for fault in faults] == told


def test_facts_that_mostly_name_the_same_referent_first_are_told(tmp_path):
    turned = REASONING.replace('facts: "{R2} and {R1}', 'facts: "{R1} and {R2}')
    (fault,) = lint(tmp_path, turned)
    assert fault.startswith("line 2: R1 is named first by the facts of 10 of 10 (100%), and at most 60% are allowed")
