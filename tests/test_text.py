"""The text of items: what fills a slot and in which form, what is no template, and English spelling."""

import pytest
from pydantic import TypeAdapter, ValidationError

from cxprobe.text import Template, TemplateError, article_of, capitalise_sentences, faults_of_text, fill, render


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


@pytest.mark.parametrize("text", ["", "Wait... he sang.", "The cat . a dog", "At 3.5 the cat came", "The cat: a dog"])
def test_what_ends_no_sentence_is_followed_by_no_capital(text):
    assert capitalise_sentences(text) == text


FAULTY = ("Anna is [MASK].", "The cook {left}.", "The  cook left.", " The cook left.", "the cook left.")
FAULTY += ("The cook left", "The cook took an pie.", "The cook took the a pie.", "")


@pytest.mark.parametrize("text", FAULTY)
def test_each_fault_of_a_finished_text_is_found(text):
    assert len(list(faults_of_text(text))) == 1


@pytest.mark.parametrize(
    "text", ["Who left?", "“The cook left.”", "Name A a pie? No!", "3 cooks left.", "N/A cannot N/A the N/A."]
)
def test_a_finished_text_without_a_fault_passes(text):
    assert list(faults_of_text(text)) == []


# As the CMU Pronouncing Dictionary has their first sounds.
A = """ewe ewer uterus ukulele one once one-way ones oneself unit unite united union unique unity unicorn uniform
unilateral universe university unidirectional unimodal unanimous unanimity unary uranium urine urinary urologist use
used useful useless user usage usual usually usurp usury utensil utility utopia ubiquitous uvula UV-light Ugandan
Ukrainian Uruguayan UFO European eunuch eulogy euphemism euro hotel house honey heroine hospital herd unionised
U-turn year yellow want"""
AN = """uninformed uninvited unimportant unimaginable unimpressed unimmunised unidentified unideal uninterested
uninspired unironic unissued unignorable unanimated unanswered unable unused umbrella usher ugly ulcer ultimate umpire
uncle under undertaker unequal unusual upper urban urge urn us utter hour hourly honest honesty honour honorary heir
heiress heirloom onerous onset onion only ongoing egg elephant oak oyster apple ear X-ray F-word s-shape"""


@pytest.mark.parametrize(("article", "words"), [("a", A), ("an", AN)])
def test_the_sound_and_not_the_letter_decides_on_the_article(article, words):
    assert [word for word in words.split() if {article_of(word), article_of(word.capitalize())} != {article}] == []
