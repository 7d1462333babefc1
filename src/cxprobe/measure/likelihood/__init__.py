"""Likelihood: how probable a model finds the tokens of a text, or a word at a mask.

`score_texts` scores the tokens of texts: by masking them (`pll_token_scores`) or from left to right
(`causal_token_scores`), as the model requires; the result is one record a text, `TokenScores`. `measure_texts` does so
for a stage and writes the files; `measure_pairs` for the texts of minimal pairs.
`candidate_log_probabilities` compares words at a mask; `drop_items` leaves out items with a word that is not one token
for a model, and `fill_masks` asks a model about all that is left. `texts_of_pairs` and `texts_of_choices` say which
texts minimal pairs and questions need; `refuse_unscored` and `refuse_too_long` refuse those that a model cannot score,
before it is asked. With a store (`open_answers`) every number is kept at once, and none is computed twice.

Scores by name and decisions follow from these numbers elsewhere: they are judging.

Conventions: natural logarithms over the whole vocabulary, computed in float32 at least; a text has the same scores
alone and in any batch, up to 1e-5 nats in float32; nothing is truncated.
"""

from cxprobe.measure.likelihood.answers import open_answers
from cxprobe.measure.likelihood.candidates import (
    MASK,
    Usable,
    candidate_log_probabilities,
    drop_items,
    single_token_words,
)
from cxprobe.measure.likelihood.causal import causal_token_scores
from cxprobe.measure.likelihood.choices import choices_of, refuse_too_long, texts_of_choices
from cxprobe.measure.likelihood.filling import fill_masks
from cxprobe.measure.likelihood.masked import pll_token_scores
from cxprobe.measure.likelihood.pairs import measure_pairs, refuse_unscored, texts_of_pairs
from cxprobe.measure.likelihood.scoring import HowToScore, distinct_texts, measure_texts, score_texts

__all__ = [
    "MASK",
    "HowToScore",
    "Usable",
    "candidate_log_probabilities",
    "causal_token_scores",
    "choices_of",
    "distinct_texts",
    "drop_items",
    "fill_masks",
    "measure_pairs",
    "measure_texts",
    "open_answers",
    "pll_token_scores",
    "refuse_too_long",
    "refuse_unscored",
    "score_texts",
    "single_token_words",
    "texts_of_choices",
    "texts_of_pairs",
]
