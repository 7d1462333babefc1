"""Pseudo-log-likelihoods, and candidate words at a mask, against one input at a time."""

import numpy as np
import pandas as pd
import pytest
import torch
from counted import count_rows
from scored import pll_token_scores
from tiny_lms import MASKED

from cxprobe.errors import DataError
from cxprobe.models.masked import candidate_log_probabilities, drop_items
from cxprobe.models.texts import encode

pytest_plugins = ["loaded_lms"]

TEXTS = [
    "the old cat runs.",
    "the old cats run.",
    "we say that the oxen, too, sing in the garden",
    "the young cat runs.",
    "king",
    "the old cat runs.",
]


@pytest.fixture
def bert(lms):
    return lms("bert")


def by_hand(model, text, scheme):
    """Mask one token after the other, one input at a time, and read the softmax over the whole vocabulary."""
    ids = model.tokenizer(text)["input_ids"]
    [encoded] = encode(model.tokenizer, [text], special_tokens=True)
    numbers = []
    for place in range(1, len(ids) - 1):
        copy = list(ids)
        copy[place] = model.tokenizer.mask_token_id
        if scheme == "pll_word_l2r":
            for later in range(place + 1, len(ids) - 1):
                if encoded.words[later - 1] == encoded.words[place - 1]:
                    copy[later] = model.tokenizer.mask_token_id
        with torch.no_grad():
            logits = model.model(torch.tensor([copy])).logits
        numbers.append(logits[0, place].double().log_softmax(-1)[ids[place]].item())
    return numbers


@pytest.mark.parametrize("scheme", ["pll", "pll_word_l2r"])
@pytest.mark.parametrize("kind", MASKED)
def test_scores_are_those_of_masking_one_token_after_the_other(lms, kind, scheme):
    expected = [by_hand(lms(kind), text, scheme) for text in TEXTS]
    for budget in (1, 64, 10_000):
        found = pll_token_scores(lms(kind), TEXTS, scheme=scheme, token_budget=budget)
        assert [(scores.text, scores.scheme) for scores in found] == [(text, scheme) for text in TEXTS]
        for scores, numbers in zip(found, expected, strict=True):
            np.testing.assert_allclose(scores.log_probs, numbers, atol=1e-5)


def test_what_stands_before_the_start_has_no_score(bert):
    text = "the old cat runs, the king waits. "
    [whole] = pll_token_scores(bert, [text], scheme="pll", token_budget=64)
    [part] = pll_token_scores(bert, [text], scheme="pll", token_budget=64, starts=[18])
    assert np.isnan(part.log_probs[:5]).all()
    np.testing.assert_allclose(part.log_probs[5:], whole.log_probs[5:], atol=1e-5)
    with pytest.raises(DataError, match="no token from character 33 on"):
        pll_token_scores(bert, [text], scheme="pll", token_budget=64, starts=[33])


def test_what_the_members_of_a_pair_have_in_common_is_computed_once(bert):
    seen = count_rows(bert)
    pair = ["the old cat runs.", "the old dog runs."]
    found = pll_token_scores(bert, [*pair, pair[0]], scheme="pll", token_budget=64)
    seen.hook.remove()
    assert seen.rows == 5 + 5 - 1  # where "cat" and "dog" are masked the two are the same
    np.testing.assert_array_equal(found[0].log_probs, found[2].log_probs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the [MASK] cat", "contains the model's mask token"),
        ("cat " * 63, "65 tokens, the model takes 64"),
        ("", "has no token; is it empty"),
    ],
)
def test_a_text_that_cannot_be_scored_is_refused_before_anything_is_computed(untouched, text, message):
    with pytest.raises(DataError, match=message):
        pll_token_scores(untouched("bert"), ["the cat", text], scheme="pll", token_budget=64)


# Candidate words

FRAMES = ["the old [MASK] runs, the young dog sings.", "the [MASK] cat runs", "we say that the [MASK] runs, too"]
CANDIDATES = [["cat", "fox"], ["old", "young", "red"], ["king", "queen"]]


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
ITEMS = pd.DataFrame(ROWS, columns=["item", "first", "second"]).assign(text="the cat is [MASK]", draw=range(4))


def test_items_with_a_word_that_is_not_one_token_are_left_out_and_the_words_counted(bert):
    texts, dropped = drop_items(bert, ITEMS, place="here")
    assert texts["draw"].tolist() == [0, 1]
    assert dropped.to_dict("records") == [
        {"word": "happy", "reason": "not one token", "items": 1},
        {"word": "sorry", "reason": "not one token", "items": 2},
    ]
    again, more = drop_items(bert, texts, place="here")
    pd.testing.assert_frame_equal(again, texts)
    assert more.empty
