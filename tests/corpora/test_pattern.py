import pytest
from spacy.schemas import TokenPattern

from conftest import PATTERN
from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.pattern import FROM_PARSES, FROM_TAGS, LEXICAL, load_pattern
from cxprobe.errors import ConstructionError


def load_text(toy_constructions, folder, text):
    (folder / "toy").mkdir()
    (folder / "toy" / "pattern.yaml").write_text(text)
    return load_pattern("toy", load_construction("toy", toy_constructions), folder)


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
        (
            TOKENS,
            TREE.replace("LEFT_ID: verb, ", ""),
            f"{FORM}: theme: each word but the first needs REL_OP and the LEFT",
        ),
        (
            TOKENS,
            TREE.replace("'>'", "'=>'"),
            f"{FORM}.dependencies[1].REL_OP: '=>' is not allowed: string should match",
        ),
        (TOKENS, TREE.replace("RIGHT_ID: theme", "RIGHT_ID: verb"), f"{FORM}: verb: two words have this RIGHT_ID"),
        (TOKENS, TREE.replace("DEP: obj", "DEP: obj, OP: '!'"), "OP cannot stand in RIGHT_ATTRS"),
        ("{TAG: JJ}", "{TAG: JJ, OP: '!'}", "OP '!' beside a tag"),
        ("{TAG: JJ}", "{ENT_TYPE: PERSON}", "unknown key 'ENT_TYPE'"),
        ("{TAG: JJ}", "{TAG: {INN: [JJ]}}", "unknown key 'INN'; did you mean 'IN'?"),
        ("  - *half\n", "", "features.second_start of construction.yaml asks for mark 1, but there are 1 parts"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(toy_constructions, tmp_path, old, new, message):
    assert old in PATTERN
    with pytest.raises(ConstructionError) as raised:
        load_text(toy_constructions, tmp_path, PATTERN.replace(old, new))
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
def test_a_tree_is_parsed_and_tokens_alone_are_not(toy_constructions, tmp_path, old, new, asks_for, is_parsed):
    assert old in PATTERN
    pattern = load_text(toy_constructions, tmp_path, PATTERN.replace(old, new) if old else PATTERN)
    assert (pattern.asks_for, pattern.is_parsed) == (asks_for, is_parsed)


def test_the_keys_of_token_patterns_are_those_of_spacy_but_for_what_is_set_nowhere():
    known = {name.upper() for name in TokenPattern.model_fields}
    assert known >= LEXICAL | FROM_TAGS | FROM_PARSES
    unset = {"SENT_START", "IS_SENT_START", "UNDERSCORE", *(f"ENT_{kind}" for kind in ("TYPE", "IOB", "ID", "KB_ID"))}
    assert known - LEXICAL - FROM_TAGS - FROM_PARSES == unset
