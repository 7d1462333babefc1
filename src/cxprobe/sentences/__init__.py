"""Sentences: from a construction's grammars to balanced subsets of labelled sentences.

A grammar is read and checked (`load_grammars`), sentences are drawn from it so that every value of every feature
can be filled (`generate_sentences`), and the balanced subsets are drawn from those (`balance`).
"""

from cxprobe.sentences.generation import generate_sentences, load_grammars
from cxprobe.sentences.splits import BalancedSubset, balance, shortfall_table

__all__ = ["BalancedSubset", "balance", "generate_sentences", "load_grammars", "shortfall_table"]
