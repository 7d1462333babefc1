import pytest

from conftest import CONSTRUCTION, PATTERN
from cxprobe.corpora.pattern import load_wanted
from cxprobe.errors import ConstructionError


def load_text(folder, text):
    (folder / "toy").mkdir()
    (folder / "toy" / "construction.yaml").write_text(CONSTRUCTION)
    (folder / "toy" / "pattern.yaml").write_text(text)
    return load_wanted("toy", folder).pattern


TOKENS = "tokens: [{LOWER: the}, {TAG: JJ}]"
TREE = (
    "dependencies: [{RIGHT_ID: verb, RIGHT_ATTRS: {POS: VERB}}, "
    "{LEFT_ID: verb, REL_OP: '>', RIGHT_ID: theme, RIGHT_ATTRS: {DEP: obj}}]"
)
FORM = "parts[0].patterns[0]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("prefilter: '", "prefilter: '(?!x)", "parts[0].prefilter: '(?!x)(?i:the"),
        (TOKENS, "tokens: []", f"{FORM}: expected either tokens or dependencies"),
        ("{TAG: JJ}", "{TAG: JJ, OP: '!'}", "OP '!' beside a tag"),
        ("  - *half\n", "", "features.second_start of construction.yaml asks for mark 1, but there are 1 parts"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(tmp_path, old, new, message):
    assert old in PATTERN
    with pytest.raises(ConstructionError) as raised:
        load_text(tmp_path, PATTERN.replace(old, new))
    assert str(raised.value).startswith(str(tmp_path / "toy" / "pattern.yaml"))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "asks_for", "is_parsed"),
    [
        ("", "", {"TAG"}, False),
        (TOKENS, TREE, {"POS", "DEP"}, True),
        ("{TAG: JJ}", "{LEMMA: red}", {"LEMMA"}, True),
    ],
)
def test_a_tree_is_parsed_and_tokens_alone_are_not(tmp_path, old, new, asks_for, is_parsed):
    assert old in PATTERN
    pattern = load_text(tmp_path, PATTERN.replace(old, new) if old else PATTERN)
    assert (pattern.asks_for, pattern.is_parsed) == (asks_for, is_parsed)
