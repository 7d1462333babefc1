"""Pairs: minimal pairs of texts, made from data or read from files, and what their scores say.

A construction's pairs are read and checked (`load_pairs`), items are drawn and put into words (`render_pairs`), with
pseudowords if asked for (`replace_content`); benchmarks of others become the same records (`read_blimp` ...). Scoring
them is another room's work; accuracies and biases follow from the margins (`accuracy_by`, `bias_by`).
"""

from cxprobe.pairs.analyses import accuracy_by, bias_by, credit_margins, paired_focus_shifts
from cxprobe.pairs.files import PEOPLE_FILE, PairsFile, People, has_pairs, load_pairs, load_people
from cxprobe.pairs.pseudowords import Replaced, candidates_of, replace_content
from cxprobe.pairs.readers import count_identical, read_aann, read_benchmark, read_blimp, read_paired_focus, read_pairs
from cxprobe.pairs.rendering import Rendered, pair_table, pairs_of, render_pairs

__all__ = [
    "PEOPLE_FILE",
    "PairsFile",
    "People",
    "Rendered",
    "Replaced",
    "accuracy_by",
    "bias_by",
    "candidates_of",
    "count_identical",
    "credit_margins",
    "has_pairs",
    "load_pairs",
    "load_people",
    "pair_table",
    "paired_focus_shifts",
    "pairs_of",
    "read_aann",
    "read_benchmark",
    "read_blimp",
    "read_paired_focus",
    "read_pairs",
    "render_pairs",
    "replace_content",
]
