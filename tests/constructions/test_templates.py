import re

import pytest
from cxprobe.constructions.templates import form_and_number, spell, template_slots
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("template", "words", "text"),
    [
        ("{NAME1} has a(n) {COLOUR1} box.", {"NAME1": "Anna", "COLOUR1": "orange"}, "Anna has an orange box."),
        ("{NAME1} has a(n) {COLOUR1} box.", {"NAME1": "Anna", "COLOUR1": "red"}, "Anna has a red box."),
        ("A(n) {ADJ1} one is [MASK].", {"ADJ1": "older"}, "An older one is [MASK]."),
        ("She is a(n) {NOUN1}.", {"NOUN1": "European"}, "She is a European."),
        ("He took a(n) {NOUN1} or a(n) {NOUN2}.", {"NOUN1": "hour", "NOUN2": "unit"}, "He took an hour or a unit."),
        ('She called it a(n) "{NOUN1}".', {"NOUN1": "idea"}, 'She called it an "idea".'),
        ("A(n) ({ADJ1}) box.", {"ADJ1": "old"}, "An (old) box."),
        ("It is a(n) '{NOUN1}'.", {"NOUN1": "unit"}, "It is a 'unit'."),
        ("a(n) {ADJ1} cat. {ADJ1} is it? {ADJ1}! yes", {"ADJ1": "big"}, "A big cat. Big is it? Big! Yes"),
        ("It is ... you are, 3.5 of them.", {}, "It is ... you are, 3.5 of them."),
    ],
)
def test_what_is_filled_is_written_as_english_is(template, words, text):
    assert spell(template, words) == text


def test_slots_stand_once_in_the_order_of_their_place():
    assert template_slots("{B2} and {A1} and {B2} and {A12}") == ("B2", "A1", "A12")


@given(st.from_regex(r"[A-Z]+", fullmatch=True), st.integers(1, 999))
def test_a_slot_is_a_form_and_a_number(form, number):
    assert form_and_number(f"{form}{number}") == (form, number)


@given(st.lists(st.sampled_from(["{A1}", "{B1}", "is", "the", "one.", "a(n)"]), min_size=1))
def test_no_slot_and_no_choice_is_left_and_sentences_have_capitals(parts):
    template = " ".join([*parts, "{A1}"])
    text = spell(template, {"A1": "apple", "B1": "berry"})
    assert not re.search(r"[{}]|\(n\) [^a]", text.replace("a(n) a(n)", ""))
    assert all(sentence[0].isupper() for sentence in re.split(r"(?<=\.) ", text))
