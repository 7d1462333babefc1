"""Sentences: from a construction's grammars to balanced subsets of labelled sentences.

A construction's grammars are read and checked (`load_grammars`), sentences are drawn from them so that every value
of every feature can be filled (`generate_sentences`), and balanced subsets are drawn from those, or from labelled ones
of any other origin (`balance`, `all_sentences`).
"""

from cxprobe.sentences.generation import (
    Generated,
    draw_table,
    generate_sentences,
    load_grammars,
    sentence_table,
)
from cxprobe.sentences.splits import BalancedSubset, all_sentences, balance, shortfall_table

__all__ = [
    "BalancedSubset",
    "Generated",
    "all_sentences",
    "balance",
    "draw_table",
    "generate_sentences",
    "load_grammars",
    "sentence_table",
    "shortfall_table",
]
