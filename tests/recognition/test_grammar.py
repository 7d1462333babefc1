import pytest

from conftest import ROOT
from cxprobe.errors import ConstructionError
from cxprobe.recognition.grammar import check_lexical_halves, content_words, read_grammar

CC = ROOT / "constructions" / "comparative-correlative"


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_papers_grammars_parse_and_share_no_content_word():
    categories = ["ADV", "NUM", "NOUN", "VERB"]
    check_lexical_halves(CC / "grammars/train.cfg", CC / "grammars/test.cfg", categories)
    words = content_words(read_grammar(CC / "grammars/train.cfg", categories), categories)
    assert len(words) == 40
    assert words["twenty-one"] == "NUM"


def test_a_line_that_does_not_parse_is_named(tmp_path):
    path = write(tmp_path / "g.cfg", "S -> A", "A -> 'unclosed", "B -> 'b'")
    with pytest.raises(ConstructionError, match=r"g\.cfg: the grammar does not parse: Unable to parse line 2"):
        read_grammar(path)


def test_a_symbol_without_a_rule_is_named_with_its_line(tmp_path):
    path = write(tmp_path / "g.cfg", "# NOUN here is no use of it", "S -> 'NOUN' A | A", "A -> 'a' NOUN", "B -> VERB")
    with pytest.raises(ConstructionError) as raised:
        read_grammar(path)
    assert f"{path}, line 3: NOUN is used and has no rule" in str(raised.value)
    assert f"{path}, line 4: VERB is used and has no rule" in str(raised.value)


def test_a_symbol_that_the_construction_names_must_be_there(tmp_path):
    with pytest.raises(ConstructionError, match=r"construction\.yaml names SPOS, which has no rule here"):
        read_grammar(write(tmp_path / "g.cfg", "S -> 'a'"), ["S", "SPOS"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConstructionError, match=r"g\.cfg does not exist"):
        read_grammar(tmp_path / "g.cfg")


def test_a_shared_content_word_is_named_with_both_lines(tmp_path):
    train = write(tmp_path / "train.cfg", "S -> N V", "N -> 'Cat'", "V -> 'runs'")
    test = write(tmp_path / "test.cfg", "S -> N V", "", "V -> 'sits'", "N -> 'dog' | 'wild cat'")
    with pytest.raises(ConstructionError) as raised:
        check_lexical_halves(train, test, ["N", "V"])
    assert str(raised.value).startswith(f"{test}, line 4: 'cat' (N) is also in {train}, line 2 (N)")


def test_a_quote_in_a_wrong_place_is_told_with_its_line(tmp_path):
    """What stands between the quotes is then text, and the words themselves are symbols, without spaces around them."""
    path = write(tmp_path / "g.cfg", "S -> A", "A -> 'B '0' 'the' C .'")
    with pytest.raises(ConstructionError, match=r"g\.cfg, line 2: 0 is used and has no rule"):
        read_grammar(path)


def test_bytes_that_are_not_utf_8_are_told_with_their_line(tmp_path):
    (tmp_path / "g.cfg").write_bytes("S -> 'a'\nA -> 'é'\n".encode("latin-1"))
    with pytest.raises(ConstructionError, match=r"g\.cfg, line 2: the byte 0xe9 is not UTF-8; save the file as UTF-8"):
        read_grammar(tmp_path / "g.cfg")
