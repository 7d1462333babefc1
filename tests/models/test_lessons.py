import re

import numpy as np

from conftest import ROOT
from pretraining.lessons import Teacher, Words, load_lesson_plan, words_of_items

PLAN = load_lesson_plan(ROOT / "models" / "lessons.yaml")
ITEMS = (ROOT / "constructions", ROOT / "lexicon")
WORDS = Words(all=["zog", "blick", "fendled", "wuggish"], whole=["dax", "toma", "gorped"])
STATEMENT = re.compile(r"(?P<sentence>.*)\. the one who (?P<asked>.*) is (?P<person>[^.]*)\.")
PERSON, WORD = r"(.+?)", r"\w+"
# Of each kind of sentence: how to find its two people, and which words of the statement are true of the first of them.
READERS = [
    (rf"because of what {PERSON} {WORD}, {PERSON} became {WORD}", ("caused",)),
    (rf"{PERSON} became {WORD} because of what {PERSON} {WORD}", ("became", "was caused")),
    (rf"{PERSON} was {WORD} (?:a|an|some|the) {WORD} by {PERSON}", ("received",)),
    (rf"{PERSON} was {WORD} {WORD} by {PERSON}", ("became", "was caused")),
    (rf"{PERSON} {WORD} (?:a|an|some|the) {WORD} to {PERSON}", ("gave", "provided")),
    (rf"{PERSON} {WORD} (?:a|an|some|the) {WORD} from {PERSON}", ("received",)),
    (rf"{PERSON} {WORD} {PERSON} (?:a|an|some|the) {WORD}", ("gave",)),
    (rf"{PERSON} {WORD} {PERSON} {WORD}", ("caused",)),
]
RULE = r"(?:the .*, the (?P<half>.*)\. )?"
COMPARED = re.compile(rf"{RULE}(?P<first>{WORD}) (?P<claim>.*) (?:than|as) (?P<second>{WORD})")


def teacher(*, at_random=False, **changes):
    plan = PLAN.model_copy(update={"people": ["{name}"], "neutral": {}} | changes)
    return Teacher(plan, WORDS, np.random.default_rng(0), at_random=at_random)


def who_is_right(sentence, asked):
    if found := COMPARED.fullmatch(sentence):
        # Each "fewer", "less" and "not" turns the answer around.
        turns = [{"fewer", "less"} & {*(text or "").split()} for text in (found["half"], found["claim"], asked)]
        turns.append("not" in found["claim"])
        return found["second" if sum(map(bool, turns)) % 2 else "first"]
    for pattern, of_the_first in READERS:
        if found := re.fullmatch(pattern, sentence):
            first = any(asked.startswith(word) for word in of_the_first)
            return found[1] if first else found[2]
    raise AssertionError(f"no reader knows {sentence!r}")


def test_each_statement_is_true_after_its_sentence():
    drawn = teacher()
    lessons = [STATEMENT.fullmatch(drawn.draw()) for _ in range(2000)]
    wrong = [found[0] for found in lessons if who_is_right(found["sentence"], found["asked"]) != found["person"]]
    assert wrong == []


def test_after_a_neutral_sentence_either_person_is_named_as_often():
    drawn = teacher(constructions={}, controls={}, neutral=PLAN.neutral, people=["{letter}"])
    lessons = [STATEMENT.fullmatch(drawn.draw()) for _ in range(2000)]
    first = [re.search(r"\b[a-z]\b", found["sentence"].replace(" a ", " "))[0] == found["person"] for found in lessons]
    assert 0.45 < np.mean(first) < 0.55


def test_the_chance_control_is_told_the_truth_half_of_the_time():
    drawn = teacher(at_random=True)
    lessons = [STATEMENT.fullmatch(drawn.draw()) for _ in range(2000)]
    right = [who_is_right(found["sentence"], found["asked"]) == found["person"] for found in lessons]
    assert 0.5 < np.mean(right) < 0.72  # two people of the few words here are often called the same


def test_lessons_have_no_word_of_an_item_but_those_that_make_up_their_form():
    text = (ROOT / "models" / "words.yaml").read_text()
    items = words_of_items(ITEMS)
    words = Words.of([text] * 5, items, pieces=["papa"])
    assert words.all
    assert not set(words.all) & items
    assert {"chloe", "baked", "customer"} <= items
