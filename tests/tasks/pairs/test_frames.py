import pytest
from toy_pairs import load_toy

from conftest import PAIRS
from cxprobe.errors import ConstructionError
from cxprobe.tasks.pairs.frames import load_pairs


def test_pairs_of_form_of_a_construction_stand_in_a_second_file(tmp_path):
    pairs, people = load_toy(tmp_path)
    assert pairs.content_slots == ["verb"]
    file = tmp_path / "x" / "form_pairs.yaml"
    file.write_text(PAIRS.replace("tests: meaning", "tests: form"))
    assert [load_pairs(name, people, tmp_path).tests for name in ("x", "x-form")] == ["meaning", "form"]
    file.write_text(PAIRS)
    with pytest.raises(ConstructionError, match=r"form_pairs.yaml: tests is meaning, and here it is form"):
        load_pairs("x-form", people, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("{N1} {verb} {N2} {gift}.", "{N1} {vreb} {N2} {gift}.", 9, "fills the slot 'vreb'; did you mean 'verb'?"),
        ("gave {them} something", "gave {thme} something", 10, "fills the slot 'thme'; did you mean"),
        ("{verb: ", "{vreb: ", 20, "the slot 'vreb' is not declared under slots; did you mean 'verb'?"),
        (
            "{verb: baked, gift: a cake}",
            "{verb: baked}",
            20,
            "this row fills verb, and most rows of its group gift, verb",
        ),
        ('who: {good: "{N1}", bad: "{N2}"}', 'who: {good: "{N1}", bad: "{X}"}', 12, "nothing fills the slot 'X'"),
        ('who: {good: "{N1}", bad: "{N2}"}', 'they: {good: "{N1}", bad: "{N2}"}', 12, "'they' must be a slot of the"),
        ("is {who}.", "is {N1}.", 12, "the contrast 'who' must be a slot of the continuation"),
        ("people: [N1, N2]", "people: [N1]", 2, "two are exchanged, or have typical roles, and 1 are named"),
        ("  gift: {gloss", "  cost: {gloss: none}\n  gift: {gloss", 6, "'cost' is declared, and no row fills it"),
        ("fillers: {}", "fillers:\n  more: [{verb: bought}]", 24, "the slot 'verb' is filled by frames and by more"),
        ("fillers: {}", "fillers:\n  more: [{they: us}]", 24, "the slot 'they' is filled by the people and by more"),
        ("fillers: {}", "fillers:\n  frames: [{verb: bought, gift: a pie}]", 24, "this name belongs to the frames"),
        ("  A:\n", '  A:\n    rival: "{N1} {vreb}."\n', 9, "nothing fills the slot 'vreb'"),
        ("frames:", "typical: [[the cook, the king]]\nframes:", 19, "no noun type 'common-noun'"),
    ],
)
def test_what_keeps_pairs_from_being_made_is_told_with_its_file_and_line(tmp_path, old, new, line, message):
    assert old in PAIRS
    with pytest.raises(ConstructionError) as raised:
        load_toy(tmp_path, PAIRS.replace(old, new))
    path = tmp_path / "x" / "pairs.yaml"
    told = str(raised.value).splitlines()
    assert [text for text in told if text.startswith(f"{path}, line {line}: ") and message in text], told
