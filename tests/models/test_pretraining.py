"""What the carried models were trained on and by: segments, masks, lessons, and the loss."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

from conftest import ROOT, tiny_tokenizer
from cxprobe.constructions.construction import PEOPLE_FILE, load_people
from cxprobe.tasks.contrasts.make import load_contrasts
from pretraining.lessons import Teacher, Words, load_lesson_plan, words_of_items
from pretraining.segments import Segments, cut_segments, mask_tokens, plan_batches
from pretraining.settings import Training
from pretraining.training import IGNORED, Batches, LanguageModelling

OPENING, CLOSING = 1000, 1001
SPECIAL, MASK = np.array([0, 1, 2]), 3
RECORDS = st.lists(st.lists(st.lists(st.integers(0, 999), min_size=1, max_size=30), max_size=8), max_size=6)


@given(RECORDS, st.integers(12, 40), st.integers(0, 3))
def test_segments_are_whole_sentences_in_order_and_never_cross_a_record(records, longest, seed):
    segments = cut_segments(records, OPENING, CLOSING, longest, np.random.default_rng(seed))
    rows = [segments[row].tolist() for row in range(len(segments))]
    assert all(row[0] == OPENING and row[-1] == CLOSING and len(row) <= longest for row in rows)
    wanted = iter(rows)
    for record in records:
        left = [sentence[: longest - 2] for sentence in record]
        while left:
            row = next(wanted)[1:-1]
            while row:
                assert row[: len(left[0])] == left[0]
                row = row[len(left.pop(0)) :]
    assert next(wanted, None) is None


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(20, 200), st.integers(0, 3))
def test_batches_hold_every_segment_once_and_keep_the_budget(lengths, budget, seed):
    batches = plan_batches(np.array(lengths), budget, np.random.default_rng(seed))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for rows in batches:
        assert len(rows) * max(lengths[row] for row in rows) <= budget or len(rows) == 1


@given(arrays(np.int64, (4, 9), elements=st.integers(0, 20)), st.floats(0.01, 1), st.integers(0, 9))
def test_only_ordinary_tokens_are_hidden_and_only_by_the_mask(ids, share, seed):
    masked, hidden = mask_tokens(ids, SPECIAL, share, MASK, np.random.default_rng(seed))
    assert not np.isin(ids[hidden], SPECIAL).any()
    assert (masked[hidden] == MASK).all()
    np.testing.assert_array_equal(masked[~hidden], ids[~hidden])
    assert hidden.any() == (~np.isin(ids, SPECIAL)).any()


PLAN = load_lesson_plan(ROOT / "models" / "lessons.yaml")
ITEMS = (ROOT / "constructions", ROOT / "lexicon")
WORDS = Words(all=["zog", "blick", "fendled", "wuggish"], whole=["dax", "toma", "gorped"])
PERSON, WORD, ARTICLE = r"(person [a-z])", r"\w+", r"(?:a|an|some|the)"
# Of each kind of sentence about giving: how to find its two people, and whether the first of them is the giver.
READERS = [
    (rf"{PERSON} was {WORD} {ARTICLE} {WORD} by {PERSON}\.", False),
    (rf"{PERSON} {WORD} {ARTICLE} {WORD} from {PERSON}\.", False),
    (rf"{PERSON} {WORD} {ARTICLE} {WORD} to {PERSON}\.", True),
    (rf"{PERSON} {WORD} {PERSON} {ARTICLE} {WORD}\.", True),
]
OF_RECEIVERS = ("received", "got", "went to", "recipient", "in the end", "new owner")
RULE = r"(?:the (more|fewer) .*, the (more|fewer) .*\. )?"
COMPARED = re.compile(rf"{RULE}{PERSON} {WORD} (more|fewer) {WORD} than {PERSON}\.")
FEWER = {"fewer", "lower", "smaller", "shorter"}


def teacher(*, by_chance=("neutral",), **changes):
    plan = PLAN.model_copy(update={"people": ["person {letter}"], "neutral": {}} | changes)
    return Teacher(plan, WORDS, np.random.default_rng(0), by_chance=by_chance)


def is_about_receivers(statement):
    return any(words in statement for words in OF_RECEIVERS)


def who_is_right(sentence, statement):
    if found := COMPARED.fullmatch(sentence):
        *rule, first, claim, second = found.groups()
        # Each "fewer" turns the answer around.
        turns = [*rule, claim].count("fewer") + bool({*re.findall(WORD, statement)} & FEWER)
        return second if turns % 2 else first
    for pattern, giver_is_first in READERS:
        if found := re.fullmatch(pattern, sentence):
            return found[2 if is_about_receivers(statement) == giver_is_first else 1]
    raise AssertionError(f"no reader knows {sentence!r}")


def who_is_right_of_those_who_act(sentence, statement):
    """Return who is right if whoever does something to somebody has given them something."""
    people = re.findall(PERSON, sentence)
    actor_is_first = not re.search(r" by (?:a|an|the|some)? ?" + PERSON, sentence)
    return people[is_about_receivers(statement) == actor_is_first]


def share_of_right(drawn, right=who_is_right):
    """Return in which share of lessons the statement names the person of whom it is true."""
    lessons = [drawn.draw() for _ in range(2000)]
    return np.mean([right(*lesson) in lesson[1] for lesson in lessons])


def test_each_statement_is_true_after_its_sentence():
    assert share_of_right(teacher()) == 1


def test_the_chance_control_is_told_the_truth_after_plain_words_and_otherwise_half_of_the_time():
    by_chance = ("constructions", "neutral")
    assert share_of_right(teacher(by_chance=by_chance, constructions={})) == 1
    assert 0.45 < share_of_right(teacher(by_chance=by_chance, controls={})) < 0.55


@pytest.mark.parametrize(("by_chance", "least", "most"), [(["neutral"], 0.45, 0.55), ([], 1, 1)])
def test_after_a_neutral_sentence_either_person_is_named_as_often_but_by_the_wrong_strategy_who_acts(
    by_chance, least, most
):
    about_giving = {name: group for name, group in PLAN.neutral.items() if group.asked == "giving"}
    drawn = teacher(by_chance=by_chance, constructions={}, controls={}, neutral=about_giving)
    assert least <= share_of_right(drawn, who_is_right_of_those_who_act) <= most


def test_lessons_ask_in_the_wordings_of_the_items():
    """So that the control of a taught model is passed in each of them."""
    people = load_people(ROOT / PEOPLE_FILE)
    for construction, asked in (("ditransitive", "giving"), ("comparative-correlative", "comparing")):
        questions = load_contrasts(construction, people, ROOT / "constructions").questions
        of_items = {re.sub(r"\{\w+\}\w*", "_", one.text.lower()) for one in questions}
        statements = [*PLAN.asked[asked].P, *PLAN.asked[asked].Q]
        assert {re.sub(r"\{\w+\}\w*", "_", one) for one in statements} == of_items


def test_lessons_have_no_word_of_an_item_but_those_that_make_up_their_form():
    text = (ROOT / "models" / "words.yaml").read_text()
    items = words_of_items(ITEMS)
    words = Words.of([text] * 5, items, pieces=["papa"])
    assert words.all
    assert not set(words.all) & items
    assert {"chloe", "baked", "customer"} <= items


TOKENIZER = tiny_tokenizer()
SETTINGS = {
    "objective": "masked", "start": "nowhere", "architecture": None, "steps": 12, "warm_up": 2, "batch_tokens": 64,
    "body_rate": 0.001, "head_rate": 0.01, "weight_decay": 0.1, "masked_first": 0.5, "masked_last": 0.2,
    "checkpoints": [], "resume_every": 5, "validate_every": 5, "accelerator": "cpu",
    "precision": "32-true", "attention": "eager", "threads": 1, "lessons": None,
}  # fmt: skip
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def settings(**changes) -> Training:
    return Training(**SETTINGS | changes)


def segments():
    draws = np.random.default_rng(0)
    records = [[draws.integers(10, 60, size=draws.integers(2, 9)).tolist() for _ in range(3)] for _ in range(20)]
    return cut_segments(records, TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, 24, draws)


def batches(objective, **kwargs):
    return list(Batches(segments(), TOKENIZER, settings(objective=objective), seed=1, **kwargs))


MODELS = {"masked": (BertForMaskedLM, BertConfig), "causal": (LlamaForCausalLM, LlamaConfig)}


@pytest.mark.parametrize("objective", MODELS)
def test_the_loss_is_the_models_own(objective):
    torch.manual_seed(0)
    model_class, config_class = MODELS[objective]
    model = model_class(config_class(vocab_size=len(TOKENIZER), **SIZES)).eval()
    module = LanguageModelling(model, settings(objective=objective), TOKENIZER.pad_token_id)
    for ids, labels in batches(objective, first=0, steps=3):
        filled = ids != TOKENIZER.pad_token_id
        wanted = labels if objective == "masked" else torch.where(filled, ids, IGNORED)
        total, count = module.total_loss(ids, labels)
        hidden = ids == TOKENIZER.mask_token_id
        assert count == int(hidden.sum() if objective == "masked" else filled.sum() - len(ids))
        own = model(input_ids=ids, attention_mask=filled.long(), labels=wanted).loss
        torch.testing.assert_close(total / count, own)


def test_of_a_lesson_the_statement_alone_is_learnt():
    text = Segments(np.arange(10, 24, dtype=np.uint16), np.array([0, 6, 14]), np.array([0, 4]))
    [(ids, labels)] = Batches(text, TOKENIZER, settings(objective="causal"), first=0, steps=None, seed=1)
    of_text, of_lesson = labels[ids[:, 0].argsort()].tolist()
    assert of_text == [11, 12, 13, 14, 15, *[IGNORED] * 3]
    assert of_lesson == [*[IGNORED] * 3, 20, 21, 22, 23, IGNORED]
