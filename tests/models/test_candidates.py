"""Candidate words at a mask, against the softmax of the model's whole output."""

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_lms import MASKED

from cxprobe.errors import DataError
from cxprobe.models.candidates import candidate_log_probabilities, drop_items

pytest_plugins = ["loaded_lms"]

FRAMES = ["the old [MASK] runs, the young dog sings.", "the [MASK] cat runs", "we say that the [MASK] runs, too"]
CANDIDATES = [["cat", "fox"], ["old", "young", "red"], ["king", "queen"]]


@pytest.fixture
def bert(lms):
    return lms("bert")


@pytest.mark.parametrize("kind", MASKED)
def test_candidates_have_the_probability_at_the_models_own_mask_in_the_models_own_spelling(lms, kind):
    model = lms(kind)
    found = candidate_log_probabilities(model, FRAMES, CANDIDATES, token_budget=64)
    space = {"roberta": "Ġ", "deberta": "Ġ", "modernbert": "Ġ", "deberta-v2": "▁"}.get(kind, "")
    for frame, words, numbers in zip(FRAMES, CANDIDATES, found, strict=True):
        ids = model.tokenizer(frame.replace("[MASK]", model.tokenizer.mask_token))["input_ids"]
        with torch.no_grad():
            logits = model.model(torch.tensor([ids])).logits[0, ids.index(model.tokenizer.mask_token_id)]
        wanted = logits.double().log_softmax(-1)[[model.tokenizer.get_vocab()[space + word] for word in words]]
        np.testing.assert_allclose(numbers, wanted.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        ("the [MASK] runs", "cats", "'cats' in 'the \\[MASK\\] runs'"),
        ("the [MASK] runs", "été", "1 candidates are not one known token"),
        ("the [MASK]t runs", "ca", "1 candidates are not one known token"),
        ("the cat runs", "cat", "contains \\[MASK\\] 0 times; it must contain it once"),
        ("[MASK] the [MASK]", "cat", "contains \\[MASK\\] 2 times"),
        ("the [MASK] " + "runs " * 70, "cat", "74 tokens, the model takes 64"),
    ],
)
def test_a_candidate_that_cannot_be_compared_is_refused_before_anything_is_computed(untouched, text, word, message):
    with pytest.raises(DataError, match=message):
        candidate_log_probabilities(
            untouched("bert"), [FRAMES[0], text], [["cat", "fox"], ["cat", word]], token_budget=64
        )


def test_candidates_that_change_the_tokens_around_them_are_refused(bert):
    message = "its candidates change the tokens around them, and cannot be compared"
    with pytest.raises(DataError, match=message):  # "cat ##s", but ", s"
        candidate_log_probabilities(bert, ["the [MASK]s run"], [["cat", ","]], token_budget=64)


ROWS = [("a", "old", "young"), ("a", "old", "young"), ("b", "happy", "sorry"), ("c", "sorry", "young")]
TEXTS = pd.DataFrame(ROWS, columns=["item", "first", "second"]).assign(text="the cat is [MASK]", draw=range(4))


def test_items_with_a_word_that_is_not_one_token_are_left_out_and_the_words_counted(bert):
    texts, dropped = drop_items(bert, TEXTS, place="here")
    assert texts["draw"].tolist() == [0, 1]
    assert dropped.to_dict("records") == [
        {"word": "happy", "reason": "not one token", "items": 1},
        {"word": "sorry", "reason": "not one token", "items": 2},
    ]
    again, more = drop_items(bert, texts, place="here")
    pd.testing.assert_frame_equal(again, texts)
    assert more.empty
