"""Scores against those of minicons, on the same ids; `benchmarks/` compares the speed."""

import numpy as np
import pytest
from minicons import scorer
from scored import causal_token_scores, pll_token_scores

pytest_plugins = ["loaded_lms"]

CONTEXT = "the old cat runs, the king waits."
ENDS = ["the old one is the cat.", "the old one is the dog.", "the oxen sing", "the queen, too, reads"]
TEXTS = [f"{CONTEXT} {end}" for end in ENDS] + ["we say that the cats run", "the fox eats in the garden"]


@pytest.fixture
def opened(lms, monkeypatch):
    """Opens a tiny model of a kind as both know it."""

    def open_(kind, theirs):
        model = lms(kind)
        # minicons calls a method that transformers 5 dropped.
        monkeypatch.setattr(
            type(model.tokenizer), "batch_encode_plus", lambda self, texts, **how: self(texts, **how), raising=False
        )
        return model, theirs(model.model, "cpu", tokenizer=model.tokenizer)

    return open_


def add(one):
    return one.sum().item()


@pytest.mark.parametrize(
    ("kind", "scheme", "texts"),
    [
        *[(kind, "pll", TEXTS) for kind in ("bert", "deberta", "deberta-v2")],
        *[(kind, "pll_word_l2r", TEXTS) for kind in ("bert", "deberta")],
        # Here minicons takes "cat," for one word, as the tokenizer does; so these have no punctuation.
        ("deberta-v2", "pll_word_l2r", TEXTS[4:]),
    ],
)
def test_pseudo_log_likelihoods_are_those_of_minicons(opened, kind, scheme, texts):
    model, theirs = opened(kind, scorer.MaskedLMScorer)
    ours = [np.nansum(one.log_probs) for one in pll_token_scores(model, texts, scheme=scheme, token_budget=96)]
    metric = {"pll": "original", "pll_word_l2r": "within_word_l2r"}[scheme]
    np.testing.assert_allclose(ours, theirs.sequence_score(texts, reduction=add, PLL_metric=metric), atol=1e-4)


@pytest.mark.parametrize(("bos", "has_bos"), [("add", True), ("none", False)])
def test_causal_scores_are_those_of_minicons(opened, bos, has_bos):
    model, theirs = opened("gpt2", scorer.IncrementalLMScorer)
    ours = [np.nansum(one.log_probs) for one in causal_token_scores(model, TEXTS, bos=bos, token_budget=96)]
    expected = theirs.sequence_score(TEXTS, reduction=add, bos_token=has_bos)
    np.testing.assert_allclose(ours, expected, atol=1e-4)


def test_scores_of_continuations_are_those_of_minicons(opened):
    model, theirs = opened("gpt2", scorer.IncrementalLMScorer)
    scores = causal_token_scores(model, [f"{CONTEXT} {end}" for end in ENDS], bos="add", token_budget=96)
    found = [one.log_probs[one.spans[:, 1] > len(CONTEXT) + 1].sum() for one in scores]
    expected = theirs.conditional_score([CONTEXT] * len(ENDS), ENDS, reduction=add, bos_token=True)
    np.testing.assert_allclose(found, expected, atol=1e-4)
