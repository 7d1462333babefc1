import pytest

from conftest import CONSTRUCTION, PEOPLE
from cxprobe.constructions.construction import RESERVED_FEATURES, grammar_file, load_construction, load_people
from cxprobe.errors import ConstructionError
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.sentences import generate_sentences, load_grammars


def load_text(folder, text):
    (folder / "x").mkdir()
    (folder / "x" / "construction.yaml").write_text(text)
    return load_construction("x", folder)


def test_what_a_construction_does_not_have_is_absent(tmp_path):
    construction = load_text(tmp_path, CONSTRUCTION[: CONSTRUCTION.index("grammar:")])
    assert construction.grammar is None
    assert construction.features == {}
    with pytest.raises(ConstructionError, match=r"Toy order: construction\.yaml has no grammar"):
        construction.rules()


SECOND_PAIR = """\
balanced:
  positive: a comes first
  grammar: {start: {positive: P, negative: N}, content: [A, B], marker: "#", marks: 3, no_space_before: []}
  features: {third_start: {measure: start, mark: 2}}
"""


def test_a_second_pair_has_rules_and_features_of_its_own(tmp_path):
    construction = load_text(tmp_path, CONSTRUCTION + SECOND_PAIR)
    assert construction.for_source("generated") is construction.for_source("mined") is construction
    second = construction.for_source("balanced")
    assert second.name == construction.name
    assert second.positive == "a comes first"
    assert (second.rules().marker, second.rules().start["positive"]) == ("#", "P")
    assert list(second.features) == ["third_start"]
    assert list(construction.features) == ["length", "second_start"]
    files = [grammar_file(source, "test") for source in ("generated", "balanced")]
    assert files == ["grammars/test.cfg", "grammars/balanced_test.cfg"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mark: 2", "mark: 3", "balanced.features.third_start asks for mark 3, but the last mark of a sentence is 2"),
        ("features: {third_start: {measure: start, mark: 2}}", "features: {}", "balanced.features: {} is not allowed"),
        (", negative: NEG", "", "grammar: start names no symbol for the label negative"),
        ("  length: {", "  label: {", "features.label: 'label' names another column of the tables of sentences"),
        ("length: {measure: length}", "far: {measure: distance, marks: [1, 0]}", "name the earlier mark first; [1, 0]"),
        ("made for the tests", "<script>alert(1)</script>", "sources[0]: '<script>' is HTML, a picture or a link"),
        ("Toy order", "Toy [x](javascript:alert(1))", "name: '[x](' is HTML, a picture or a link"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(tmp_path, old, new, message):
    with pytest.raises(ConstructionError) as raised:
        load_text(tmp_path, (CONSTRUCTION + SECOND_PAIR).replace(old, new, 1))
    assert str(raised.value).startswith(str(tmp_path / "x" / "construction.yaml"))
    assert message in str(raised.value)


def test_every_column_of_sentences_beside_the_features_is_reserved(toy_constructions):
    construction = load_construction("toy", toy_constructions)
    grammars = load_grammars("toy", construction, toy_constructions)
    generated = generate_sentences("toy", construction, grammars, 2, 0)[0].columns
    mined = ("id", "text", "url", "start", "end", "tags", "matched", "slots")
    columns = {*generated, *mined} - construction.features.keys()
    assert {column for column in columns if not column.startswith(CLUSTER)} <= RESERVED_FEATURES


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("[feminine, masculine]", "[feminine, neuter]", "line 7: types.job.pronouns: 'neuter'"),
        ("[feminine, masculine]", "[feminine, feminine]", "types.job.pronouns: 'feminine'"),
        ("Ida, Mia", "Ida, Ann", "types.female-name.nouns: 'Ann'"),
        ("they: he, them: him", "they: he", "line 1: pronouns: "),
    ],
)
def test_a_fault_of_the_people_is_told(tmp_path, old, new, place):
    (tmp_path / "people.yaml").write_text(PEOPLE.replace(old, new))
    with pytest.raises(ConstructionError) as raised:
        load_people(tmp_path / "people.yaml")
    assert place in str(raised.value)
