"""How many labels the design of Weissweiler et al. 2022 needs: the table of docs/howto/papers.md."""

import re

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.recognition.make import balance
from cxprobe.recognition.params import Subsets

PAGE = (ROOT / "docs/howto/papers.md").read_text()
SIZES = Subsets(train_per_label=10, test_per_label=5, draws=1, all_sentences=False)
FEATURES = ("length", "first_start", "second_start", "distance")
# The values of these features, and the label, of the labelled sentences that the embedded documentation has of the
# comparative correlative.
LABELLED = """\
19 13 16 3 +;24 0 4 4 +;27 0 13 13 -;21 6 15 9 -;15 1 5 4 +;18 10 15 5 -;5 0 2 2 +
8 3 5 2 +;11 0 3 3 +;21 10 18 8 -;16 0 3 3 +;20 0 3 3 +;11 0 5 5 +;22 13 15 2 +
20 4 16 12 -;16 0 5 5 +;19 0 6 6 +;11 0 4 4 +;14 3 6 3 +;36 23 27 4 +;4 0 2 2 +
41 7 34 27 -;10 1 3 2 +;18 0 6 6 -;11 0 3 3 +;32 15 23 8 -;14 7 10 3 +;43 5 27 22 -
5 0 2 2 +;15 1 8 7 +;14 10 12 2 +;12 0 5 5 +;13 0 3 3 +;20 12 14 2 +;11 0 5 5 +
12 0 4 4 +;29 19 25 6 +;21 0 4 4 +;6 0 3 3 +;14 0 5 5 +;12 3 9 6 +;11 0 5 5 +
22 3 14 11 -;7 0 2 2 +;15 5 12 7 -;5 0 2 2 +;43 4 12 8 -;11 0 5 5 +;36 22 28 6 +
13 0 2 2 +;12 2 7 5 +;16 12 14 2 +;11 4 6 2 +;19 12 15 3 +;19 9 14 5 +;18 0 4 4 +
8 0 4 4 +;8 0 4 4 +;13 0 4 4 +;11 0 7 7 -;10 0 3 3 +;13 0 5 5 +;21 0 4 4 +
33 10 15 5 +;62 18 58 40 -;12 0 6 6 +;8 0 4 4 +;8 0 4 4 +;22 0 4 4 +;23 2 9 7 -
21 0 4 4 +;15 3 7 4 -;13 0 8 8 -;16 0 13 13 -;11 0 6 6 +;25 1 11 10 -;16 0 6 6 +
5 0 3 3 +;32 0 4 4 +;10 3 5 2 +;23 0 16 16 -;22 11 19 8 -;8 0 4 4 +;18 0 6 6 +
11 0 4 4 +;39 33 37 4 +;13 2 7 5 +;40 27 35 8 -"""


def simulated(labels: int, draw: int) -> list[bool]:
    """Return which features have a subset when so many sentences like those of the documentation are labelled."""
    rows = [row.split() for row in LABELLED.replace("\n", ";").split(";")]
    known = pd.DataFrame([[*map(int, row[:4]), row[4]] for row in rows], columns=[*FEATURES, "label"])
    sentences = known.sample(labels, replace=True, random_state=draw, ignore_index=True)
    sentences["label"] = sentences["label"].map({"+": "positive", "-": "negative"})
    test = np.random.default_rng(draw).permutation(labels) < labels / 3  # as folds: 3
    sentences = sentences.assign(id=[f"{row:05d}" for row in range(labels)], split=np.where(test, "test", "train"))
    return [not balance(sentences, feature, SIZES, seed=draw).rows.empty for feature in FEATURES]


@pytest.mark.pipeline
def test_the_page_says_how_often_so_many_labels_suffice():
    rows = re.findall(r"^\| ([0-9,]+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for labels, cells in rows:
        filled = np.mean([simulated(int(labels.replace(",", "")), draw) for draw in range(20)], axis=0)
        assert cells.split(" | ") == [f"{share:.0%}".replace("%", " %") for share in filled], labels
