"""Look-alikes: characters that a reader takes for others, or does not see."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.errors import ConstructionError
from cxprobe.files.letters import odd_characters
from cxprobe.files.reading import load_yaml

CYRILLIC_A, ZERO_WIDTH, NO_BREAK = "\u0430", "\u200b", "\u00a0"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n§–—‘’“”…→öéñçßŁ"), max_size=40))
def test_english_with_its_names_and_signs_has_none(text):
    assert list(odd_characters(text)) == []


@given(st.text("abc ", max_size=5), st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), st.text("abc ", max_size=5))
def test_a_letter_of_another_script_is_found_at_its_place(before, letter, after):
    found = list(odd_characters(before + letter + after))
    if letter.isascii() or unicodedata.name(letter, "").startswith("LATIN "):
        assert found == []
    else:
        ((place, what),) = found
        assert place == len(before)
        assert f"U+{ord(letter):04X}" in what
    assert list(odd_characters(before + letter + after, latin=False)) == []


@pytest.mark.parametrize("character", ["\t", "\r", "\x1b", "\x85", ZERO_WIDTH, "\u00ad", "\ufeff", "\u202e", NO_BREAK])
def test_what_cannot_be_seen_is_found_whatever_the_letters_are(character):
    for latin in (True, False):
        ((place, what),) = odd_characters(f"wo{character}rd", latin=latin)
        assert place == 2
        assert f"U+{ord(character):04X}" in what
        assert "cannot be seen" in what


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"# the л of a comment\na: b\nc: [d, {CYRILLIC_A}b]", [", line 3: U+0430 in 'аb' is no Latin letter"]),
        (f"a:\n  - {{TA{ZERO_WIDTH}G: JJ}}", [", line 2: U+200B in 'TA\\u200bG' is a character that cannot be seen"]),
        (r'a: "\u0430"', [", line 1: U+0430"]),
        ('a: "b\tc"', [", line 1: U+0009 in 'b\\tc' is a character that cannot be seen"]),
        (f"a: >-\n  one\n  {CYRILLIC_A}\nb: {CYRILLIC_A}", [", line 3: U+0430", ", line 4: U+0430"]),
        ("a: cafe\u0301", [", line 1: U+0301 in 'cafe\u0301' is a separate mark (combining acute accent)"]),
    ],
)
def test_look_alikes_of_an_english_file_are_told_with_line_and_code_point(tmp_path, text, told):
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(ConstructionError) as raised:
        load_yaml(path, ConstructionError, english=True)
    lines = str(raised.value).splitlines()
    assert [line.startswith(f"{path}{start}") for line, start in zip(lines, told, strict=True)] == [True] * len(told)
    load_yaml(path, ConstructionError)  # a file that need not be English
