"""Names of the labels of a construction's sentences, and of the two parts that sentences are divided into."""

from typing import Literal

LabelName = Literal["positive", "negative"]
Split = Literal["train", "test"]
LABELS: tuple[LabelName, ...] = ("positive", "negative")
SPLITS: tuple[Split, ...] = ("train", "test")
ALL_SENTENCES = "all_sentences"  # in a feature's place where sentences are drawn whatever their features are
