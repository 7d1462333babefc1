"""Constructions: everything about them is data in ``constructions/<name>/``, and nothing about any one is Python.

One module reads one file of the folder and has its name: `load_construction`, `load_pattern`, `load_pairs`,
`load_scenarios` and `load_items` take the construction's name and report all its faults at once. ``labels.tsv``,
which a command also writes, is read and written by its path (`read_labels`, `write_labels`). `load_people` reads the
lexicon of people that minimal pairs share. An optional key of a file has its default in the model that describes it.

The texts that a file's content gives are made here too: `fill` for minimal pairs, `spell` for scenarios,
`render_inferences` and `render_reasonings` for items.
"""

from cxprobe.constructions.construction import (
    Construction,
    Distance,
    Length,
    SecondPair,
    Start,
    grammar_file,
    load_construction,
    load_sound_parts,
)
from cxprobe.constructions.items import Items, load_items, make_inference, render_inferences, render_reasonings
from cxprobe.constructions.labels import (
    JUDGEMENTS,
    Judgement,
    Label,
    read_labels,
    with_label,
    without_label,
    write_labels,
)
from cxprobe.constructions.pairs import (
    PairsFile,
    Variant,
    faults_of_sentences,
    fill,
    has_pairs,
    load_pairs,
)
from cxprobe.constructions.pattern import Pattern, TokenPattern, lexical_only, load_pattern
from cxprobe.constructions.people import PEOPLE_FILE, TYPICAL_TYPE, NounType, People, Row, load_people
from cxprobe.constructions.scenarios import Calibration, Scenarios, WordSet, load_scenarios
from cxprobe.constructions.templates import slots_of, spell

__all__ = [
    "JUDGEMENTS",
    "PEOPLE_FILE",
    "TYPICAL_TYPE",
    "Calibration",
    "Construction",
    "Distance",
    "Items",
    "Judgement",
    "Label",
    "Length",
    "NounType",
    "PairsFile",
    "Pattern",
    "People",
    "Row",
    "Scenarios",
    "SecondPair",
    "Start",
    "TokenPattern",
    "Variant",
    "WordSet",
    "faults_of_sentences",
    "fill",
    "grammar_file",
    "has_pairs",
    "lexical_only",
    "load_construction",
    "load_items",
    "load_pairs",
    "load_pattern",
    "load_people",
    "load_scenarios",
    "load_sound_parts",
    "make_inference",
    "read_labels",
    "render_inferences",
    "render_reasonings",
    "slots_of",
    "spell",
    "with_label",
    "without_label",
    "write_labels",
]
