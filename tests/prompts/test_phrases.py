import pytest

from cxprobe.prompts.items import Phrase, fill, read_marks


def test_marks_are_read_and_taken_off():
    text, phrases = read_marks("yesterday [SBJ:she my aunt] [V wiped] [OBJ the table] clean.")
    assert text == "Yesterday my aunt wiped the table clean."
    assert phrases == {"SBJ": Phrase("my aunt", "she"), "V": Phrase("wiped"), "OBJ": Phrase("the table")}


@pytest.mark.parametrize("marked", ["[SBJ] slept.", "[sbj she] slept.", "She [V slept.", "{SBJ} slept."])
def test_a_bracket_that_is_no_mark_is_refused(marked):
    with pytest.raises(ValueError, match="a bracket that is not part of a mark"):
        read_marks(marked)


# Irregular verbs, doubled consonants, silent letters: what rules over strings get wrong.
@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("batted", ("bat", "batted", "batting", "batted")),
        ("panicked", ("panic", "panicked", "panicking", "panicked")),
        ("slunk", ("slink", "slunk", "slinking", "slunk")),
        ("dyed", ("dye", "dyed", "dyeing", "dyed")),
        ("cut at", ("cut at", "cut at", "cutting at", "cut at")),
        ("boil an egg", ("boil an egg", "boiled an egg", "boiling an egg", "boiled an egg")),
    ],
)
def test_the_first_word_of_a_verb_phrase_is_inflected(verb, forms):
    assert tuple(Phrase(verb).form(tag) for tag in ("VB", "VBD", "VBG", "VBN")) == forms


def test_a_verb_of_two_lemmas_needs_a_note():
    with pytest.raises(ValueError, match="the verb 'saw' is a form of see or of saw; give its lemma"):
        Phrase("saw").form("VBG")
    assert Phrase("saw", "see").form("VBG") == "seeing"
    assert Phrase("saw", "saw").form("VBG") == "sawing"


@pytest.mark.parametrize(
    ("pronoun", "sentence"),
    [
        ("I", "I was there, so ask me and my dog."),
        ("you", "You were there, so ask you and your dog."),
        ("he", "He was there, so ask him and his dog."),
        ("she", "She was there, so ask her and her dog."),
        ("it", "It was there, so ask it and its dog."),
        ("we", "We were there, so ask us and our dog."),
        ("they", "They were there, so ask them and their dog."),
    ],
)
def test_a_noun_phrase_agrees_with_its_pronoun(pronoun, sentence):
    template = "{X:they} {X:was} there, so ask {X:them} and {X:their} dog."
    assert fill(template, {"X": Phrase("someone", pronoun)}) == sentence


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{Y} slept.", "asks for Y, which nothing fills"),
        ("{X:VBZ} slept.", "form 'VBZ' is unknown"),
        ("{x} slept.", "a brace that is not part of a place"),
        ("{X slept.", "a brace that is not part of a place"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(template, message):
    with pytest.raises(ValueError, match=message):
        fill(template, {"X": Phrase("cats", "they")})


def test_a_sentence_begins_with_a_capital_and_keeps_the_others():
    assert fill("the {X} boys left.", {"X": Phrase("McKay")}) == "The McKay boys left."
    assert read_marks("the [X McKay] boys left.")[0] == "The McKay boys left."
