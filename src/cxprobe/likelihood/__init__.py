"""Likelihood: how probable a model finds words and texts.

Masked models give the probability of candidate words at a mask (`candidate_log_probabilities`) and of each token of a
text (`pll_token_scores`), causal ones that of each token given those before it (`causal_token_scores`). One record,
`TokenScores`, holds them; scores by name and decisions follow from it, of minimal pairs (`score_pairs`) and of a
question's answers (`score_choices`), and `agreement` tells how far bfloat16 changes the decisions.

Conventions: natural logarithms over the whole vocabulary, never from less than float32, summed in float64; a tie is
half; a text scores the same alone and in any company; nothing is truncated.
"""

from cxprobe.likelihood.causal import causal_token_scores
from cxprobe.likelihood.choices import score_choices
from cxprobe.likelihood.masked import candidate_log_probabilities, pll_token_scores, single_token_words
from cxprobe.likelihood.pairs import refuse_unscored, score_pairs
from cxprobe.likelihood.precision import agreement
from cxprobe.likelihood.scores import (
    CONTEXT_SCORES,
    SCORES,
    decide,
    given_context,
    per_character,
    per_token,
    pmi,
    total,
)

__all__ = [
    "CONTEXT_SCORES",
    "SCORES",
    "agreement",
    "candidate_log_probabilities",
    "causal_token_scores",
    "decide",
    "given_context",
    "per_character",
    "per_token",
    "pll_token_scores",
    "pmi",
    "refuse_unscored",
    "score_choices",
    "score_pairs",
    "single_token_words",
    "total",
]
