import pytest
from toy_pairs import load_toy

from conftest import PAIRS
from cxprobe.errors import ConstructionError
from cxprobe.pairs.frames import faults_of_pairs, load_pairs


def pairs_of_text(folder, text=PAIRS):
    return load_toy(folder, text)[0]


def test_a_file_that_is_right_loads(tmp_path):
    assert pairs_of_text(tmp_path).content_slots == ["verb"]


def test_pairs_of_form_of_a_construction_stand_in_a_second_file(tmp_path):
    _, people = load_toy(tmp_path)
    file = tmp_path / "x" / "form_pairs.yaml"
    file.write_text(PAIRS.replace("tests: meaning", "tests: form"))
    assert [load_pairs(name, people, tmp_path).tests for name in ("x", "x-form")] == ["meaning", "form"]
    file.write_text(PAIRS)
    with pytest.raises(ConstructionError, match=r"form_pairs.yaml: tests is meaning, and here it is form"):
        load_pairs("x-form", people, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("{N1} {verb} {N2} {gift}.", "{N1} {vreb} {N2} {gift}.", 9, "the slot 'vreb' is unknown; did you mean 'verb'?"),
        ("gave {them} something", "gave {thme} something", 10, "the slot 'thme' is unknown; did you mean"),
        ("{verb: sang, gift: a song}", "{vreb: sang, gift: a song}", 22, "the slot 'vreb' is unknown"),
        ("{verb: sang, gift: a song}", "{verb: sang}", 22, "this row lacks gift"),
        ("{verb: sang, gift: a song}", "{verb: baked, gift: a cake}", 22, "this row repeats row 0 of its group"),
        ('who: {good: "{N1}", bad: "{N2}"}', 'who: {good: "{N1}", bad: "{N1}"}', 12, "the two members do not differ"),
        ('who: {good: "{N1}", bad: "{N2}"}', 'who: {good: "{N1}", bad: "{X}"}', 12, "the slot 'X' is unknown"),
        ('who: {good: "{N1}", bad: "{N2}"}', 'they: {good: "{N1}", bad: "{N2}"}', 12, "has the name of a slot"),
        ("is {who}.", "is {N1}.", 12, "the continuation has no slot {who}"),
        ("an egg", "a egg", 21, "'a egg' has the wrong article"),
        ("gift: a cake", "gift: an cake", 20, "'an cake' has the wrong article"),
        ("people: [N1, N2]", "people: [N1]", 3, "switched: two people are exchanged, and people names 1"),
        ("  gift: {gloss", "  cost: {gloss: none}\n  gift: {gloss", 6, "'cost' is declared, and no row"),
        ("fillers: {}", "fillers:\n  more: [{verb: bought}]", 24, "the slot 'verb' is filled by frames and by more"),
        ("people: [N1, N2]", "people: [N1, N1]", 2, "N1 is named twice"),
        ("fillers: {}", "fillers:\n  frames: [{verb: bought, gift: a pie}]", 24, "this name belongs to the frames"),
        ("  verb: {gloss", "  they: {gloss", 5, "'they' is a slot of the people or their pronouns"),
        ("  A:\n", '  A:\n    rival: "{N1} {verb} {N2} {gift}."\n', 9, "the rival is the context itself"),
        ("  A:\n", '  A:\n    rival: "{N1} {vreb}."\n', 9, "the slot 'vreb' is unknown; did you mean 'verb'?"),
        ("  A:\n", '  A:\n    rival: "{N1} ate a egg."\n', 9, "variant A: 'a egg' has the wrong article"),
        ("frames:", "typical: [[the cook, the cook]]\nframes:", 19, "'the cook' cannot have both roles"),
        ("frames:", "typical: [[a b, c], [a b, c]]\nframes:", 19, "'a b' and 'c' are listed twice"),
        ("frames:", "typical: [[the cook, the king]]\nframes:", 19, "no noun type 'common-noun'"),
    ],
)
def test_a_fault_is_told_with_its_file_and_line(tmp_path, old, new, line, message):
    assert old in PAIRS
    with pytest.raises(ConstructionError) as raised:
        pairs_of_text(tmp_path, PAIRS.replace(old, new))
    path = tmp_path / "x" / "pairs.yaml"
    assert [
        text for text in str(raised.value).splitlines() if text.startswith(f"{path}, line {line}: ") and message in text
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tests: meaning", "tests: spelling", "tests: 'spelling' is not allowed"),
        ("switched: true", "swiched: true", "swiched: unknown key; did you mean 'switched'?"),
        ("gift: a song", 'gift: ""', "frames[2].gift: '' is not allowed"),
        ("gift: a song", 'gift: "{gift}"', "frames[2].gift: '{gift}' is not allowed"),
        ("{verb: sang, gift: a song}", "{}", "frames[2]: {} is not allowed"),
        ("gift: a song", 'gift: "a  song"', "frames[2].gift: 'a  song' is not allowed"),
        ("is {who}.", "is {who!r}.", "a slot is a name in braces and nothing more"),
        ("is {who}.", "is {who.", "is not a template"),
    ],
)
def test_a_fault_of_form_is_told_with_its_file_and_key(tmp_path, old, new, message):
    assert old in PAIRS
    with pytest.raises(ConstructionError) as raised:
        pairs_of_text(tmp_path, PAIRS.replace(old, new))
    assert str(raised.value).startswith(str(tmp_path / "x" / "pairs.yaml"))
    assert message in str(raised.value)


def faults_of_text(folder, text):
    """Return the lines of a file's faults, without the file and without what is allowed."""
    with pytest.raises(ConstructionError) as raised:
        pairs_of_text(folder, text)
    told = [line.removeprefix(f"{folder}/x/pairs.yaml, ") for line in str(raised.value).splitlines()]
    return [line.partition(" (allowed")[0] for line in told]


def test_faults_of_slots_templates_and_sentences_are_told_at_once(tmp_path):
    text = PAIRS.replace("gift: a cake", "gift: an cake").replace("gave {them} something", "gave {thme} something")
    text = text.replace("{verb: sang, gift: a song}", "{verb: sang, gift: a song, gfit: x}")
    assert faults_of_text(tmp_path, text) == [
        "line 10: the slot 'thme' is unknown; did you mean 'they'?",
        "line 20: gift: 'an cake' has the wrong article; write 'a cake'",
        "line 22: the slot 'gfit' is unknown; did you mean 'gift'?",
    ]


def test_a_fault_of_a_template_is_one_line_with_the_frames_it_touches(tmp_path):
    text = PAIRS.replace("a cake", "cake").replace("an egg", "egg").replace("a song", "apple")
    text = text.replace("{N2} {gift}.", "{N2} a {gift}.", 1)
    assert faults_of_text(tmp_path, text) == [
        "line 9: variant A: 'a egg' has the wrong article; write 'an egg'; so in frames 1, 2 (counted from 0)"
    ]


def test_a_slot_that_all_rows_misspell_is_one_line(tmp_path):
    assert faults_of_text(tmp_path, PAIRS.replace("{verb: ", "{vreb: ").replace("  - {vreb", "  - {vreb", 3)) == [
        "line 5: the slot 'verb' is declared, and no row fills it",
        "line 20: the slot 'vreb' is unknown; did you mean 'verb'?",
    ]


def test_the_odd_row_is_told_even_if_it_is_the_first(tmp_path):
    assert faults_of_text(tmp_path, PAIRS.replace("{verb: baked, gift: a cake}", "{verb: baked}")) == [
        "line 20: this row lacks gift, which most rows of its group have"
    ]


class Counted(str):
    """Words that count how often they are compared."""

    times = 0

    def __eq__(self, other):
        Counted.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_what_frames_are_held_against_does_not_grow_with_the_square_of_their_number(tmp_path):
    content, people = load_toy(tmp_path)
    frames = [{"verb": "baked", "gift": Counted(f"cake {number}")} for number in range(500)]
    assert faults_of_pairs(content.model_copy(update={"frames": frames}), people) == []
    assert Counted.times < 10 * len(frames)
