"""Judging: what language models answer, in words or by likelihood, whether that is right, and what it comes to.

Replies are judged one by one (`judge_inference`, `judge_reasoning`), likelihoods as a table (`judge_likelihoods`); both
are counted (`count_outcomes`) and summed up (`accuracy`, `spread_over_prompts`). Nothing here asks a model, so that a
change re-runs no request. Verdicts of one word are read as well (`read_word`).
"""

from cxprobe.judging.accuracy import accuracy, count_outcomes, macro_f1, spread_over_prompts
from cxprobe.judging.likelihoods import judge_likelihoods
from cxprobe.judging.replies import Judgement, judge_inference, judge_reasoning
from cxprobe.judging.words import read_word

__all__ = [
    "Judgement",
    "accuracy",
    "count_outcomes",
    "judge_inference",
    "judge_likelihoods",
    "judge_reasoning",
    "macro_f1",
    "read_word",
    "spread_over_prompts",
]
