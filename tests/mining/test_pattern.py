import pytest

from conftest import PATTERN, ROOT
from cxprobe.constructions import load_construction
from cxprobe.errors import ConstructionError
from cxprobe.mining import load_pattern
from cxprobe.mining.pattern import lexical_only

MINED = sorted(path.parent.name for path in (ROOT / "constructions").glob("*/pattern.yaml"))


def load_text(toy_constructions, folder, text):
    (folder / "toy").mkdir()
    (folder / "toy" / "pattern.yaml").write_text(text)
    return load_pattern("toy", load_construction("toy", toy_constructions), folder)


@pytest.mark.parametrize("name", MINED)
def test_every_pattern_loads(name):
    construction = load_construction(name, ROOT / "constructions")
    assert load_pattern(name, construction, ROOT / "constructions").parts


def test_more_than_one_construction_can_be_mined():
    assert len(MINED) > 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("prefilter: '", "prefilter: '(?!x)", "parts[0].prefilter: '(?!x)(?i:the"),
        ("tokens: [{LOWER: the}, {TAG: JJ}]", "tokens: []", "parts[0].patterns[0].tokens"),
        ("{TAG: JJ}", "{TAG: JJ, OP: '!'}", "OP '!' beside a tag"),
        ("suppletive: false, tokens", "suppletive: true, tokens", "parts[0]: all its patterns are suppletive"),
        ("dropped: [big]", "dropped: [Big]", "'Big' must be in lower case"),
        ("dropped:", "droped:", "droped: unknown key; did you mean 'dropped'?"),
        ("  - *half\n", "", "features.second_start of construction.yaml asks for mark 1, but there are 1 parts"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(toy_constructions, tmp_path, old, new, message):
    with pytest.raises(ConstructionError) as raised:
        load_text(toy_constructions, tmp_path, PATTERN.replace(old, new))
    assert str(raised.value).startswith(str(tmp_path / "toy" / "pattern.yaml"))
    assert message in str(raised.value)


def test_without_tags_a_token_pattern_keeps_what_the_words_decide():
    tokens = [{"LOWER": "the", "TAG": "DT"}, {"TAG": {"IN": ["JJ"]}, "OP": "?"}, {"IS_SENT_START": True}]
    assert lexical_only(tokens) == [{"LOWER": "the"}, {"OP": "?"}, {}]


def test_suppletive_forms_can_be_left_out():
    construction = load_construction("comparative-correlative", ROOT / "constructions")
    pattern = load_pattern("comparative-correlative", construction, ROOT / "constructions")
    letter = pattern.model_copy(update={"include_suppletive": False})
    assert len(letter.alternatives(0)) == len(pattern.alternatives(0)) - 1
