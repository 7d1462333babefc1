"""Rules for minimal pairs, each on a planted fault and on clean data."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_pairs import write_toy

from cxprobe.constructions.faults import lint_people, with_lines
from cxprobe.constructions.people import load_people
from cxprobe.pairs.checks import lint_pairs
from cxprobe.pairs.frames import PairsFile

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


def lint(folder, text, people=PEOPLE):
    """Return the faults that rules find in pairs, without their file."""
    path, toy = folder / "x" / "pairs.yaml", write_toy(folder, text, people)
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, lint_pairs(*toy))]


def planted(folder, text, old, new):
    assert old in text
    return lint(folder, text.replace(old, new, 1))


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
    ("old", "new", "line", "message"),
    [
        ('person: {good: "{N2}", bad: "{N1}"}', 'person: {good: "{N2}", bad: "only {N1}"}', 17, "in more than one"),
        ('giver: {good: "{N1}", bad: "{N2}"}', "giver: {good: us, bad: him}", 22, "by more than the order"),
        ('"{N1} {verb} {N2} {thing}."', '"The {N1} {verb} {N2} {thing}."', 14, "'The {N1}': the people bring"),
        ("from {them}: {person}", "from his hands: {person}", 15, "'his' agrees with women or with men only"),
        ("the cake of day 3", "the cake of her day", FIRST_FRAME + 2, "thing: 'her' agrees with women or with men"),
        ('rival: "{N1} {verb} {thing}, and {N2} took it."', 'rival: "Somebody {verb} {thing}."', 18, "nobody is named"),
        ('"{N1} {verb} {thing} with {N2}."', '"Their man {verb} {their} {thing}."', 25, "{their} is nobody whom"),
        ("{thing}, and {N2} took it", "{thing}, and {N1} took it with {N2}", 18, "{N1} is in '{N1} {verb} {thing}, a"),
        ("from {them}: {person}", "from {N1}: {person}", 15, "{N1} is in '{who} saw who got {thing} from {N1}: {N1}.'"),
        ("the cake of day 3", "the cook's cake", FIRST_FRAME + 2, "thing: 'the cook' can also be one of the people"),
        ("the cake of day 3", "a patient's cake", FIRST_FRAME + 2, "thing: 'a patient' can also be one of the people"),
        ("the cake of day 3", "Eve's cake", FIRST_FRAME + 2, "thing: 'Eve' can also be one of the people"),
        ("who: Somebody else", "who: the actor", 42, "who: 'the actor' can also be one of the people"),
        ("- [the guide, the patient]", "- [the guide, the guest]\n  - [the judge, the guide]", 8, "in more than 2"),
        ("- [the guide, the patient]", "- [the patient, the nurse]", 7, "are listed the other way round too"),
        ("- [the guide, the patient]", "- [the king, the patient]", 7, "'the king' would be called 'she'"),
        ("verb: peeled", "verb: baked, thing: The Cake of day 1}\n  - {verb: peeled", FIRST_FRAME + 9, "as frame 0"),
        ('\n    rival: "{N1} {verb} {thing} with {N2}."', "", 12, "'the first person' is right in 12 and wrong in 24"),
    ],
)  # fmt: skip
def test_a_planted_fault_is_told_with_its_line(tmp_path, old, new, line, message):
    faults = planted(tmp_path, PAIRS, old, new)
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults


def test_a_verb_may_come_twice_and_not_three_times(tmp_path):
    text = PAIRS.replace("verb: bought", "verb: baked").replace("verb: cooked", "verb: Baked")
    told = f"line {FIRST_FRAME + 2}: the verb 'Baked' is in more than 2 frames: frames 0, 1, 2 (counted from 0); take"
    (fault,) = lint(tmp_path, text)
    assert fault.startswith(told)


def test_a_frame_that_a_variant_cannot_tell_from_another_is_told_for_that_variant(tmp_path):
    text = PAIRS.replace("{N1} {verb} {thing} with {N2}.", "{N1} {verb} something with {N2}.")
    text = text.replace("{they} gave {thing} to", "{they} gave it to").replace("verb: bought", "verb: baked")
    (fault,) = lint(tmp_path, text)
    assert fault == (
        f"line {FIRST_FRAME + 1}: variant B, the rival: says the same as frame 0 (counted from 0); replace it"
    )


def test_a_variant_that_hides_what_tells_frames_apart_is_one_line(tmp_path):
    text = PAIRS.replace("{verb} {thing}, and {N2} took it", "baked {thing}, and {N2} took it")
    text = text.replace("saw who got {thing} from", "saw who got it from").replace("the cake of day", "the cake")
    for day in range(3, 13):
        text = text.replace(f"the cake {day}}}", "the cake 1}")
    (fault,) = lint(tmp_path, text)
    frames = "frames 2, 3, 4, 5, 6 and 5 more (counted from 0)"
    assert fault.startswith(f"line 18: variant A, the rival: {frames} say the same as others; show more of the frame")


def test_rules_hold_for_what_has_no_fault_so_far_and_all_faults_are_told_at_once(tmp_path):
    text = PAIRS.replace("{they} gave {thing}", "{thye} gave {thing}").replace("verb: bought", "vreb: bought")
    text = text.replace("from {them}", "from his hands").replace("verb: cooked", "verb: baked")
    text = text.replace("verb: peeled", "verb: baked").replace("the cake of day 3}", "Eve's cake}")
    assert [line.partition(";")[0] for line in lint(tmp_path, text)] == [
        "line 15: 'his' agrees with women or with men only, and the people are both",
        "line 21: the slot 'thye' is unknown",
        "line 28: the slot 'vreb' is unknown",
        "line 28: this row lacks verb, which most rows of its group have",
        "line 29: thing: 'Eve' can also be one of the people, who would then be there twice",
        "line 36: the verb 'baked' is in more than 2 frames: frames 0, 2, 9 (counted from 0)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("many: children}", "many: small children}", 14, "in more than one word of {noun}: 'child' and 'small chi"),
        ("article: that", "article: a", 13, "'A ape' has the wrong article; write 'An ape'"),
        ("{one: ape, many: apes}", "{one: the ape, many: the apes}", 13, "is two articles in a row"),
    ],
)
def test_what_only_some_rows_cause_is_told_with_the_row(tmp_path, old, new, line, message):
    text = FORM.replace("article: this", "article: the") if "the ape" in new else FORM
    text = text.replace("article: that", "article: a") if "the ape" in new else text
    faults = planted(tmp_path, text, old, new)
    assert [fault for fault in faults if fault.startswith(f"line {line}: variant A: ") and message in fault], faults


def test_fewer_frames_than_ten_and_tests_of_form_may_be_unbalanced(tmp_path):
    first, rest = PAIRS.split("frames:\n")
    frames, fillers = rest.split("fillers:")
    few = "frames:\n" + "".join(frames.splitlines(keepends=True)[:9]) + "fillers:" + fillers
    (tmp_path / "few").mkdir()
    (tmp_path / "form").mkdir()
    unbalanced = first.replace('\n    rival: "{N1} {verb} {thing} with {N2}."', "")
    assert lint(tmp_path / "few", unbalanced + few) == []
    assert lint(tmp_path / "form", unbalanced.replace("tests: meaning", "tests: form") + "frames:\n" + rest) == []


def test_a_noun_of_the_lexicon_that_cannot_bear_the_pronouns_of_its_type_is_told(tmp_path):
    (tmp_path / "people.yaml").write_text(PEOPLE.replace("the actor", "the queen"))
    (fault,) = lint_people(load_people(tmp_path / "people.yaml"))
    assert fault.keys == ("types", "common-noun", "nouns", 1)
    assert fault.what.startswith("'the queen' would be called 'he', since people of the type common-noun get")


VARIANTS = st.lists(
    st.tuples(
        st.permutations(["{N1}", "{N2}"]),
        st.permutations(["{N1}", "{N2}"]),
        st.none() | st.permutations(["{N1}", "{N2}"]),
    ),
    min_size=1,
    max_size=6,
)


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
    pairs = PairsFile.model_validate(
        {
            "tests": "meaning",
            "people": ["N1", "N2"],
            "slots": {"verb": {"gloss": "a verb"}},
            "variants": content,
            "frames": [{"verb": verb} for verb in VERBS],
        }
    )
    faults = list(lint_pairs(pairs, load_people(folder / "people.yaml")))
    first_is_right = [context[0] == members[0] for context, members, _ in variants]
    first_is_right += [rival[0] == members[1] for _, members, rival in variants if rival]
    assert bool(faults) == (2 * sum(first_is_right) != len(first_is_right))
