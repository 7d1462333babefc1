"""The files of pairs, and rules for them, each on a planted fault and on clean data."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_pairs import load_toy, write_toy

from conftest import PAIRS as TOY
from cxprobe.constructions.checking import with_lines
from cxprobe.constructions.construction import load_people
from cxprobe.errors import ConstructionError
from cxprobe.tasks.pairs.frames import PairsFile, lint_pairs, load_pairs


def test_pairs_of_form_of_a_construction_stand_in_a_second_file(tmp_path):
    pairs, people = load_toy(tmp_path)
    assert pairs.content_slots == ["verb"]
    file = tmp_path / "x" / "form_pairs.yaml"
    file.write_text(TOY.replace("tests: meaning", "tests: form"))
    assert [load_pairs(name, people, tmp_path).tests for name in ("x", "x-form")] == ["meaning", "form"]
    file.write_text(TOY)
    with pytest.raises(ConstructionError, match=r"form_pairs.yaml: tests is meaning, and here it is form"):
        load_pairs("x-form", people, tmp_path)
    typical = TOY.replace("frames:", "typical: [[the cook, the king]]\nframes:")
    with pytest.raises(ConstructionError, match=r"x/pairs\.yaml, line 19: .*no noun type 'common-noun'"):
        load_toy(tmp_path, typical)


PEOPLE = """\
pronouns:
  feminine: {they: she, them: her, their: her}
  masculine: {they: he, them: him, their: his}
types:
  female-name: {pronouns: [feminine], nouns: [Ann, Eve]}
  common-noun: {pronouns: [feminine, masculine], nouns: [the cook, the actor]}
"""
VERBS = [
    *("baked", "bought", "cooked", "fetched", "fried", "grilled"),
    *("made", "mixed", "ordered", "peeled", "picked", "sent"),
]
PAIRS = """\
tests: meaning
people: [N1, N2]
switched: true
typical:
  - [the nurse, the patient]
  - [the guide, the tourist]
  - [the guide, the patient]
slots:
  verb: {gloss: what one does}
  thing: {gloss: what the other gets}
  who: {gloss: who watches}
variants:
  A:
    context: "{N1} {verb} {N2} {thing}."
    continuation: "{who} saw who got {thing} from {them}: {person}."
    contrast:
      person: {good: "{N2}", bad: "{N1}"}
    rival: "{N1} {verb} {thing}, and {N2} took it."
  B:
    context: "{N1} {verb} {N2} {thing}."
    continuation: "{they} gave {thing} to {receiver}, and not to {giver}."
    contrast:
      receiver: {good: "{N2}", bad: "{N1}"}
      giver: {good: "{N1}", bad: "{N2}"}
    rival: "{N1} {verb} {thing} with {N2}."
frames:
""" + "".join(f"  - {{verb: {verb}, thing: the cake of day {day}}}\n" for day, verb in enumerate(VERBS, 1)) + """\
fillers:
  watchers:
    - {who: He}
    - {who: Somebody else}
"""  # fmt: skip
FIRST_FRAME = 27
FORM = """\
tests: form
slots:
  one: {gloss: a noun}
  many: {gloss: its plural}
  article: {gloss: an article}
variants:
  A:
    continuation: "{article} {noun} sings."
    contrast:
      noun: {good: "{one}", bad: "{many}"}
frames:
  - {one: bird, many: birds}
  - {one: ape, many: apes}
  - {one: child, many: children}
fillers:
  articles:
    - {article: this}
    - {article: that}
"""


def lint(folder, text):
    """Return the faults that rules find in pairs, without their file."""
    path, toy = folder / "x" / "pairs.yaml", write_toy(folder, text, PEOPLE)
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, lint_pairs(*toy))]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (PAIRS, "", ""),
        (FORM, "", ""),
        (FORM, "one: ape, many: apes", "one: the same, many: a different"),  # an article goes with its word
        (PAIRS, "who: Somebody else", "who: She"),  # a pronoun alone is a person of its own
        (PAIRS, "verb: peeled", "verb: baked"),  # two frames with a verb are as many as there may be
    ],
)
def test_clean_pairs_have_no_fault(tmp_path, text, old, new):
    assert lint(tmp_path, text.replace(old, new, 1)) == []


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "message"),
    [
        (TOY, "{N1} {verb} {N2} {gift}.", "{N1} {vreb} {N2} {gift}.", 9, "fills the slot 'vreb'; did you mean 'verb'?"),
        (TOY, "fillers: {}", "fillers:\n  more: [{vreb: had}]", 24, "'vreb' is not declared under slots; did you"),
        (TOY, ", gift: a cake}", "}", 20, "this row fills verb, and most rows of its group gift, verb"),
        (TOY, 'who: {good: "{N1}"', 'they: {good: "{N1}"', 12, "'they' must be a slot of the"),
        (TOY, "people: [N1, N2]", "people: [N1]", 2, "two are exchanged, or have typical roles, and 1 are named"),
        (TOY, "  gift: {gloss", "  cost: {gloss: none}\n  gift: {gloss", 6, "'cost' is declared, and no row fills it"),
        (TOY, "fillers: {}", "fillers:\n  more: [{verb: bought}]", 24, "'verb' is filled by frames and by more"),
        (TOY, "fillers: {}", "fillers:\n  frames: [{verb: bought, gift: a pie}]", 24, "belongs to the frames"),
        (PAIRS, 'giver: {good: "{N1}", bad: "{N2}"}', "giver: {good: us, bad: him}", 19, "in more than one word"),
        (PAIRS, '"{N1} {verb} {N2} {thing}."', '"The {N1} {verb} {N2} {thing}."', 27, "'The the' is two articles"),
        (PAIRS, "from {them}: {person}", "from his hands: {person}", 15, "'his' agrees with women or with men only"),
        (PAIRS, "the cake of day 3", "the cook's cake", FIRST_FRAME + 2, "thing: 'the cook' can also be"),
        (PAIRS, "verb: peeled", "verb: baked, thing: The Cake of day 1}\n  - {verb: peeled",
         FIRST_FRAME + 9, "the same as variant A (frames.0)"),
        (PAIRS, "verb: bought, thing: the cake of day 2}\n  - {verb: cooked",
         "verb: baked, thing: the cake of day 2}\n  - {verb: Baked", FIRST_FRAME - 1, "'baked' is in 3 frames"),
        (PAIRS, "{N1} {verb} {thing}, and {N2} took it", "{N1} {verb} {N2} {thing}", 13, "the rival: 'Person1 baked"),
        (PAIRS, '\n    rival: "{N1} {verb} {thing} with {N2}."', "", 1, "'person1' is wrong 12 times more"),
    ],
)  # fmt: skip
def test_a_planted_fault_is_told_with_its_line(tmp_path, text, old, new, line, message):
    assert old in text
    faults = lint(tmp_path, text.replace(old, new, 1))
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults


def test_fewer_frames_than_ten_and_tests_of_form_may_be_unbalanced(tmp_path):
    unbalanced = PAIRS.replace('\n    rival: "{N1} {verb} {thing} with {N2}."', "")
    few = "".join(line for line in unbalanced.splitlines(keepends=True) if not re.search(r"of day 1\d", line))
    for name, text in {"few": few, "form": unbalanced.replace("tests: meaning", "tests: form")}.items():
        (tmp_path / name).mkdir()
        assert lint(tmp_path / name, text) == []


SEATS = st.permutations(["{N1}", "{N2}"])
VARIANTS = st.lists(st.tuples(SEATS, SEATS, st.none() | SEATS), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(VARIANTS)
def test_people_are_balanced_if_the_first_mentioned_is_right_in_half_of_the_texts(tmp_path_factory, variants):
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.yaml").write_text(PEOPLE)
    content = {
        f"V{number}": {
            "context": f"{context[0]} {{verb}} {context[1]}.",
            "continuation": "It was {person}.",
            "contrast": {"person": {"good": members[0], "bad": members[1]}},
            "rival": rival and f"{rival[0]} {{verb}} near {rival[1]}.",
        }
        for number, (context, members, rival) in enumerate(variants)
    }
    slots, frames = {"verb": {"gloss": "a verb"}}, [{"verb": verb} for verb in VERBS]
    file = {"tests": "meaning", "people": ["N1", "N2"], "slots": slots, "variants": content, "frames": frames}
    pairs = PairsFile.model_validate(file)
    faults = list(lint_pairs(pairs, load_people(folder / "people.yaml")))
    first_is_right = [context[0] == members[0] for context, members, _ in variants]
    first_is_right += [rival[0] == members[1] for _, members, rival in variants if rival]
    assert bool(faults) == (2 * sum(first_is_right) != len(first_is_right))
