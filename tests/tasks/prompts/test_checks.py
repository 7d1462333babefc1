"""Rules for inferences and reasoning items, each on a planted fault and on clean data."""

import pytest

from cxprobe.constructions.checking import with_lines
from cxprobe.tasks.prompts.items import load_items
from cxprobe.tasks.prompts.task import lint_items, lint_premises

HEAD = """\
sources: [made for the tests]
"""
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
    path.write_text(HEAD + text)
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, lint_items(load_items("x", folder)))]


def planted(folder, text, old, new):
    assert old in text
    return lint(folder, text.replace(old, new, 1))


@pytest.mark.parametrize("text", [INFERENCE, REASONING, INFERENCE + REASONING])
def test_clean_items_have_no_fault(tmp_path, text):
    assert lint(tmp_path, text) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("{moved: contradiction, stayed: entailment}", "{moved: entailment, stayed: entailment}", 5,
         "the hypothesis 'moved' tells the answer: its relation is entailment to 8 of 12 (67%), and at most 45% are"),
        ('    stayed: "{SBJ} left {OBJ} where {OBJ:they} {OBJ:was}."', '    stayed: "{OBJ} moved!"', FIRST_PREMISE,
         "says the same as its premise or another hypothesis"),
        ("a box of clerk hats", "a box of baker hats", FIRST_PREMISE + 1, "hats moved.' is asked about premises[0]"),
        ("a box of baker hats", "an box of baker hats", FIRST_PREMISE, "'an box' has the wrong article; write 'a box'"),
        ("{OBJ} away.", "{OBJ} away", FIRST_PREMISE, "it does not end in a full stop"),
        ("{she: the baker}", "{she: the king}", FIRST_PREMISE, "SBJ: 'the king' does not agree with its pronoun"),
        ("{SBJ} bundled {OBJ} well", "{OBJ} moved", CHALLENGE, "moved: 'An egg moved.' says the same as its premise"),
    ],
)  # fmt: skip
def test_a_planted_fault_of_inferences_is_told_with_its_line(tmp_path, old, new, line, message):
    faults = planted(tmp_path, INFERENCE, old, new)
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("is taller than {R2}", "is older than {R2}", 8, "says the same as facts, so that a test changes nothing"),

        ("the wilder you are", "the calmer you are", 5, "says the same as rule, so that a test changes nothing"),
        ("{R2} and {R1} live in Adaton, and {R1} is older than {R2}", "in Adaton, {R1} is older than most", 6,
         "names R1; name R1 and R2, and no other"),
        ("of {R1} and {R2} in Adaton, who", "in Adaton, who", 7, "names nobody; name R1 and R2"),
        ("he: the man called Aday", "he: the man called Ada", 3, "'ada' is also in 'the man called ada'"),
        ("{R1} is older than {R2}", "{R1} is older than {R2}, so Ada is old", 6, "has 'ada' in words, which no test"),
        ("in Adaton, the older you are, the calmer", "in a Adaton, the older you are, the calmer", 3,
         "'a Adaton' has the wrong article"),
        ("in Boton, the older you are, the calmer you are.", "In Adaton: the older you are, the calmer you are!", 11,
         "is in frame 0 (counted from 0) too"),
    ],
)  # fmt: skip
def test_a_planted_fault_of_reasoning_is_told_with_its_line(tmp_path, old, new, line, message):
    faults = planted(tmp_path, REASONING, old, new)
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults


@pytest.mark.parametrize(
    ("beside", "told"),
    [("you are.", None), ("you are not.", "beside: 'you are not.' is no part of rule; take it from there")],
)
def test_what_stands_beside_the_construction_is_a_part_of_the_rule(tmp_path, beside, told):
    faults = planted(tmp_path, REASONING, '    facts: "', f'    beside: "{beside}"\n    facts: "')
    assert faults == [] if told is None else told in faults[0]


def test_facts_that_mostly_name_the_same_referent_first_are_told(tmp_path):
    turned = REASONING.replace('facts: "{R2} and {R1}', 'facts: "{R1} and {R2}')
    (fault,) = lint(tmp_path, turned)
    assert fault.startswith("line 2: R1 is named first by the facts of 10 of 10 (100%), and at most 60% are allowed")


def test_a_premise_that_another_construction_has_too_is_told_with_both_files(tmp_path):
    for name, text in (("a", INFERENCE), ("b", INFERENCE.replace("bundled", "pushed"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "items.yaml").write_text(HEAD + text)
    items = {tmp_path / name / "items.yaml": load_items(name, tmp_path) for name in "ab"}
    found = list(lint_premises(items))
    first, second = items
    assert [path for path, _ in found] == [second] * 4  # "did not carry" has stayed
    assert found[0][1].keys == ("inference", "premises", 1)
    assert f"is in {first} too; replace one of them" in found[0][1].what
    assert not list(lint_premises({first: items[first]}))
