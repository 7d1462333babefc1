"""Sentences: from a construction's grammars to balanced subsets of labelled sentences.

A construction's grammars are read and checked (`load_grammars`), and sentences are drawn from them so that every value
of every feature can be filled (`generate_sentences`). Balanced subsets are drawn from these sentences, or from labelled
sentences of any other origin (`draw_subsets`).
"""

from cxprobe.make.sentences.generation import Generated, draw_table, generate_sentences, load_grammars, sentence_table
from cxprobe.make.sentences.subsets import (
    BalancedSubset,
    DrawnSubsets,
    all_sentences,
    balance,
    draw_subsets,
    part_sizes,
    shortfall_table,
)

__all__ = [
    "BalancedSubset",
    "DrawnSubsets",
    "Generated",
    "all_sentences",
    "balance",
    "draw_subsets",
    "draw_table",
    "generate_sentences",
    "load_grammars",
    "part_sizes",
    "sentence_table",
    "shortfall_table",
]
