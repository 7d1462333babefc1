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
from pretraining.lessons import Teacher, Words, load_lesson_plan, words_of_items
from pretraining.segments import cut_segments, mask_tokens, plan_batches
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
