import pytest
from spacy.schemas import TokenPattern

from conftest import PATTERN
from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.pattern import FROM_TAGS, LEXICAL, lexical_only, load_pattern
from cxprobe.errors import ConstructionError


def load_text(toy_constructions, folder, text):
    (folder / "toy").mkdir()
    (folder / "toy" / "pattern.yaml").write_text(text)
    return load_pattern("toy", load_construction("toy", toy_constructions), folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("prefilter: '", "prefilter: '(?!x)", "parts[0].prefilter: '(?!x)(?i:the"),
        ("tokens: [{LOWER: the}, {TAG: JJ}]", "tokens: []", "parts[0].patterns[0].tokens"),
        ("{TAG: JJ}", "{TAG: JJ, OP: '!'}", "OP '!' beside a tag"),
        ("{TAG: JJ}", "{TGA: JJ}", "unknown key 'TGA'; did you mean 'TAG'?"),
        ("{TAG: JJ}", "{DEP: amod}", "unknown key 'DEP'"),
        ("{TAG: JJ}", "{TAG: {INN: [JJ]}}", "unknown key 'INN'; did you mean 'IN'?"),
        ("tokens: [", "enabled: false, tokens: [", "parts[0]: none of its patterns is enabled, so nothing could"),
        ("never: [big]", "never: [Big]", "'Big' must be in lower case"),
        ("never:", "nver:", "nver: unknown key; did you mean 'never'?"),
        ("  - *half\n", "", "features.second_start of construction.yaml asks for mark 1, but there are 1 parts"),
    ],
)
def test_a_fault_is_told_with_its_file_and_key(toy_constructions, tmp_path, old, new, message):
    assert old in PATTERN
    with pytest.raises(ConstructionError) as raised:
        load_text(toy_constructions, tmp_path, PATTERN.replace(old, new))
    assert str(raised.value).startswith(str(tmp_path / "toy" / "pattern.yaml"))
    assert message in str(raised.value)


def test_without_tags_a_token_pattern_keeps_what_the_words_decide():
    tokens = [{"LOWER": "the", "TAG": "DT"}, {"TAG": {"IN": ["JJ"]}, "OP": "?"}, {"POS": "ADV"}]
    assert lexical_only(tokens) == [{"LOWER": "the"}, {"OP": "?"}, {}]


def test_the_keys_of_token_patterns_are_those_of_spacy_but_for_what_is_set_nowhere():
    known = {name.upper() for name in TokenPattern.model_fields}
    assert known >= LEXICAL | FROM_TAGS
    unset = {"DEP", "LEMMA", "SENT_START", "IS_SENT_START", "UNDERSCORE"}
    assert known - LEXICAL - FROM_TAGS == unset | {f"ENT_{kind}" for kind in ("TYPE", "IOB", "ID", "KB_ID")}


def test_a_form_that_is_not_enabled_is_not_looked_for(toy_constructions, tmp_path):
    form = "      - {name: the + adjective, tokens: [{LOWER: the}, {TAG: JJ}]}\n"
    assert form in PATTERN
    other = "      - {name: the + comparative, enabled: false, tokens: [{LOWER: the}, {TAG: JJR}]}\n"
    pattern = load_text(toy_constructions, tmp_path, PATTERN.replace(form, form + other))
    assert len(pattern.parts[0].patterns) == 2
    assert pattern.alternatives(0) == [[{"LOWER": "the"}, {"TAG": "JJ"}]]
