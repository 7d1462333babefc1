"""The language of templates: what fills a slot, in which form, and what is no template."""

import pytest
from pydantic import TypeAdapter, ValidationError

from cxprobe.text.templates import Template, TemplateError, fill, render


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{who} left. {who} ran", {"who": "the cook"}, "The cook left. The cook ran"),
        ("she is {NOUN1:a}.", {"NOUN1": "European"}, "She is a European."),
        ("{X:a} or {Y:a} passed.", {"X": "hour", "Y": "unit"}, "An hour or a unit passed."),
        ("It was {X}.", {"X": {"see": "{saw}"}}, "It was {saw}."),  # what fills a slot is not read again
        ("She is {V:VBG} it.", {"V": "cut at"}, "She is cutting at it."),
        ("the {ADJ1} one is [MASK].", {"ADJ1": "old", "ADJ2": "new"}, "The old one is [MASK]."),
    ],
)
def test_slots_are_filled_and_sentences_have_capitals(template, values, text):
    assert render(template, values) == text


@pytest.mark.parametrize(
    ("pronoun", "text"),
    [
        ("I", "I was here with my cat, so ask me."),
        ("she", "She was here with her cat, so ask her."),
        ("it", "It was here with its cat, so ask it."),
        ("they", "They were here with their cat, so ask them."),
    ],
)
def test_a_noun_phrase_is_taken_up_by_its_pronoun(pronoun, text):
    template = "{X:they} {X:was} here with {X:their} cat, so ask {X:them}."
    assert render(template, {"X": {pronoun: "someone"}}) == text


@pytest.mark.parametrize(
    ("filler", "forms"),
    [
        ("panicked", "panic panicked panicking panicked"),
        ("slunk", "slink slunk slinking slunk"),
        ("dyed", "dye dyed dyeing dyed"),
        ({"see": "saw"}, "see saw seeing seen"),
        ({"saw": "saw"}, "saw sawed sawing sawn"),
    ],
)
def test_a_verb_is_inflected_whatever_form_it_has(filler, forms):
    assert fill("{V:VB} {V:VBD} {V:VBG} {V:VBN}", {"V": filler}) == forms


@pytest.mark.parametrize(
    ("template", "values", "message"),
    [
        ("{X} left.", {"Y": "he"}, "nothing fills the slot 'X'"),
        ("{X:they} left.", {"X": "the cook"}, "needs the pronoun that refers to it"),
        ("{X:VBG}", {"X": "saw"}, "a form of see or of saw; give its lemma"),
    ],
)
def test_what_cannot_be_filled_is_told(template, values, message):
    with pytest.raises(TemplateError, match=message):
        fill(template, values)


@pytest.mark.parametrize("text", ["{", "a }", "{1}", "{X!r}", "{X:>9}", "{X:VBZ}", "{X y}", "{{X}}", "{}"])
def test_what_is_no_template_is_refused(text):
    with pytest.raises(ValidationError):
        TypeAdapter(Template).validate_python(text)
