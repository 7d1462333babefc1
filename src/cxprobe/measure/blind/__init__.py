"""Blind models: models that cannot know the construction, measured in the same way as other models."""

from cxprobe.measure.blind.facts import blind_facts
from cxprobe.measure.blind.features import write_counts
from cxprobe.measure.blind.inference import answer_blindly
from cxprobe.measure.blind.ngrams import (
    COLUMNS,
    DISCOUNTS,
    NGRAMS_FILE,
    START,
    UNKNOWN,
    KneserNey,
    load_ngrams,
    sentences_of,
)
from cxprobe.measure.blind.pairs import measure_blindly, preferences_of
from cxprobe.measure.blind.scenarios import fill_blindly
from cxprobe.measure.blind.tokens import (
    ngram_scores,
    put_behind_contexts,
    refuse_without_contexts,
    scores_behind_contexts,
    unigram_scores,
    without_contexts,
)

__all__ = [
    "COLUMNS",
    "DISCOUNTS",
    "NGRAMS_FILE",
    "START",
    "UNKNOWN",
    "KneserNey",
    "answer_blindly",
    "blind_facts",
    "fill_blindly",
    "load_ngrams",
    "measure_blindly",
    "ngram_scores",
    "preferences_of",
    "put_behind_contexts",
    "refuse_without_contexts",
    "scores_behind_contexts",
    "sentences_of",
    "unigram_scores",
    "without_contexts",
    "write_counts",
]
