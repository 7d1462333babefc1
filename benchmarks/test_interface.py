"""The Python interface against minicons, as users call them: from texts to a table of scores."""

import numpy as np
import pytest
from minicons.scorer import IncrementalLMScorer, MaskedLMScorer
from paired import take_turns
from test_likelihood import sentences, with_batch_encode_plus

import cxprobe

ROUNDS = 5
BATCH = 16
MINICONS = f"minicons 0.3.39, batches of {BATCH}"


@pytest.mark.parametrize("name", ["mini-clm", "mini-mlm"])
def test_scores_against_minicons(name, show, fit):
    lm, every = cxprobe.load(name, device="cpu"), sentences()
    tokenizer = with_batch_encode_plus(lm.tokenizer)
    masked = lm.kind == "masked"
    scorer = (MaskedLMScorer if masked else IncrementalLMScorer)(lm.model, "cpu", tokenizer=tokenizer)
    special = set(tokenizer.all_special_tokens)

    def ours(texts):
        return lm.score(texts)["sum"].to_numpy()

    def theirs(texts):
        found = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            if masked:
                add = {"reduction": lambda one: one.sum().item(), "PLL_metric": "within_word_l2r"}
                found += scorer.sequence_score(batch, **add)
            else:  # without the token that ends a text
                rows = scorer.token_score(batch)
                found += [sum(score for token, score in row if token not in special) for row in rows]
        return found

    def ways_of(number):
        return {"cxprobe": lambda: ours(every[:number]), MINICONS: lambda: theirs(every[:number])}

    texts = every[: fit(f"score(), {name}", ways_of, len(every))]
    seconds = take_turns(ways_of(len(texts)), ROUNDS)
    show(f"score(), {name}, {len(texts)} sentences", seconds, "sentences/s", len(texts), {MINICONS: 1})
    if not masked:  # minicons takes "cat." for one word, where a tokenizer does
        np.testing.assert_allclose(ours(texts), theirs(texts), atol=1e-4)
