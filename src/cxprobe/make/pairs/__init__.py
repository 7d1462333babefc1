"""Minimal pairs: pairs of texts made from a construction's data, or read from the files of others.

`build_pairs` makes all pairs of a construction's pairs.yaml: items are drawn and rendered as texts (`render_pairs`),
once more with pseudowords where these are declared (`replace_content`). `read_benchmark` reads those of others, in
their own formats (`read_blimp` ...) or in the generic one (`read_pairs`). `pair_table` and `pairs_of` convert between
records and tables.
"""

from cxprobe.make.pairs.building import BuiltPairs, build_pairs, tables_of
from cxprobe.make.pairs.pseudowords import Replaced, candidates_of, replace_content
from cxprobe.make.pairs.readers import (
    count_identical,
    read_aann,
    read_benchmark,
    read_blimp,
    read_paired_focus,
    read_pairs,
)
from cxprobe.make.pairs.rendering import Rendered, render_pairs
from cxprobe.make.pairs.tables import pair_table, pairs_of

__all__ = [
    "BuiltPairs",
    "Rendered",
    "Replaced",
    "build_pairs",
    "candidates_of",
    "count_identical",
    "pair_table",
    "pairs_of",
    "read_aann",
    "read_benchmark",
    "read_blimp",
    "read_paired_focus",
    "read_pairs",
    "render_pairs",
    "replace_content",
    "tables_of",
]
