"""Pairs: minimal pairs of texts, made from data or read from files, and what their scores say.

A construction's pairs are read and checked (`load_pairs`), items are drawn and put into words (`render_pairs`), with
pseudowords if asked for (`replace_content`); benchmarks of others become the same records (`read_blimp` ...). Scoring
them is another room's work; accuracies and biases follow from the margins (`accuracy_by`, `bias_by`). Frames that a
model has written are held against a construction's own (`check_proposals`).
"""

from cxprobe.pairs.analyses import accuracy_by, bias_by, credit_margins, paired_focus_shifts
from cxprobe.pairs.files import PEOPLE_FILE, PairsFile, People, has_pairs, load_pairs, load_people
from cxprobe.pairs.proposals import (
    KEPT,
    Proposal,
    Verdict,
    check_proposals,
    filter_proposals,
    frames_text,
    read_proposals,
    show,
    templates_of,
)
from cxprobe.pairs.pseudowords import Replaced, candidates_of, replace_content
from cxprobe.pairs.readers import count_identical, read_aann, read_benchmark, read_blimp, read_paired_focus, read_pairs
from cxprobe.pairs.rendering import Rendered, pair_table, pairs_of, render_pairs

__all__ = [
    "KEPT",
    "PEOPLE_FILE",
    "PairsFile",
    "People",
    "Proposal",
    "Rendered",
    "Replaced",
    "Verdict",
    "accuracy_by",
    "bias_by",
    "candidates_of",
    "check_proposals",
    "count_identical",
    "credit_margins",
    "filter_proposals",
    "frames_text",
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
    "read_proposals",
    "render_pairs",
    "replace_content",
    "show",
    "templates_of",
]
