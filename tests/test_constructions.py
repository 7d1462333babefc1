import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import CONSTRUCTION, ROOT
from cxprobe.constructions import Distance, Length, Start, load_construction
from cxprobe.errors import ConstructionError


def load_text(folder, text):
    (folder / "x").mkdir()
    (folder / "x" / "construction.yaml").write_text(text)
    return load_construction("x", folder)


@pytest.mark.parametrize("folder", sorted((ROOT / "constructions").iterdir()), ids=lambda folder: folder.name)
def test_every_construction_loads(folder):
    assert load_construction(folder.name, ROOT / "constructions").features


@given(st.lists(st.integers(0, 30), min_size=2, max_size=2).map(sorted), st.integers(0, 30))
def test_features_measure_length_starts_and_distance(marks, beyond):
    words, marks = marks[-1] + beyond, tuple(marks)
    assert Length(measure="length").of(words, marks) == words
    assert Start(measure="start", mark=1).of(words, marks) == marks[1]
    assert Distance(measure="distance", marks=(0, 1)).of(words, marks) == marks[1] - marks[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mark: 1", "mark: 2", "features.second_start asks for mark 2, but a sentence has 2, from 0"),
        ("marker:", "marcker:", "grammar.marcker: unknown key; did you mean 'marker'?"),
        (", negative: NEG", "", "grammar: start names no symbol for the label negative"),
        ("gloss: the words of a clause in their order\n", "", "gloss: missing"),
        ("length: {measure: length}", "length: {measure: length, mark: 1}", "features.length.length.mark: unknown key"),
        ("  length: {", "  label: {", "'label' is a column of every table"),
        ("  length: {", "  Length!: {", "'Length!' is not allowed"),
        (
            "length: {measure: length}",
            "far: {measure: distance, marks: [1, 0]}",
            "marks must name the earlier mark first; [1, 0] does not",
        ),
        ("measure: length", "measure: weight", "features.length: {'measure': 'weight'} is not allowed"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(tmp_path, old, new, message):
    with pytest.raises(ConstructionError) as raised:
        load_text(tmp_path, CONSTRUCTION.replace(old, new))
    assert str(raised.value).startswith(str(tmp_path / "x" / "construction.yaml"))
    assert message in str(raised.value)


def test_a_construction_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConstructionError, match=r"nowhere/construction\.yaml: there is no such file"):
        load_construction("nowhere", tmp_path)
