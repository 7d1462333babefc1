"""Constructions: everything about them is data in ``constructions/<name>/``, and nothing about any one is Python.

Here construction.yaml and the lexicon of people that minimal pairs share are read, and what rules find in any file is
told with its line. Each task reads its own file: pairs.yaml, scenarios.yaml, items.yaml; `cxprobe.corpora` reads
pattern.yaml, and `cxprobe.labels` labels.tsv. This module has the names alone, so that commands import it quickly.
"""

from pathlib import Path
from typing import Literal

LabelName = Literal["positive", "negative"]
Split = Literal["train", "test"]
LABELS: tuple[LabelName, ...] = ("positive", "negative")
SPLITS: tuple[Split, ...] = ("train", "test")
ALL_SENTENCES = "all_sentences"  # in a feature's place where sentences are drawn whatever their features are


def construction_names(constructions: Path = Path("constructions")) -> list[str]:
    """Return the sorted names of a project's constructions: of its folders with a construction.yaml."""
    return sorted(file.parent.name for file in constructions.glob("*/construction.yaml"))
