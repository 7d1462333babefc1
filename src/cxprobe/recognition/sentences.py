"""Labelled sentences, and what lacks of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Label = Literal["positive", "negative"]
Split = Literal["train", "test"]
LABELS: tuple[Label, ...] = ("positive", "negative")
SPLITS: tuple[Split, ...] = ("train", "test")
ALL_SENTENCES = "all_sentences"  # in a feature's place where sentences are drawn whatever their features are


@dataclass(frozen=True)
class Sentence:
    """One labelled sentence.

    Attributes:
        id: Names the sentence by its split and text, so the same sentence keeps its id in every run.
        text: The sentence as it is read, detokenised.
        label: Whether it is an instance of the construction.
        split: The lexical half that it belongs to.
        features: Feature name -> value, in words; positions count from 0.
        clusters: What it shares with other sentences, for intervals and folds: "template" -> the sentence with
            its content words replaced by their categories, and each content category -> its first word.
    """

    id: str
    text: str
    label: Label
    split: Split
    features: Mapping[str, int]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class Shortfall:
    """A value of a feature that cannot give as many sentences of a label as were asked for."""

    split: Split
    feature: str
    value: int
    label: Label
    wanted: int
    found: int
