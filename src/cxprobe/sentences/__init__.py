"""Sentences: from a construction's grammars to balanced subsets of labelled sentences.

A construction's grammars are read and checked (`load_grammars`), sentences are drawn from them so that every value
of every feature can be filled (`generate_sentences`), and the balanced subsets are drawn from those (`balance`).
"""

from cxprobe.sentences.generation import (
    Generated,
    draw_table,
    generate_sentences,
    load_grammars,
    sentence_table,
)
from cxprobe.sentences.splits import BalancedSubset, balance, shortfall_table

__all__ = [
    "BalancedSubset",
    "Generated",
    "balance",
    "draw_table",
    "generate_sentences",
    "load_grammars",
    "sentence_table",
    "shortfall_table",
]
