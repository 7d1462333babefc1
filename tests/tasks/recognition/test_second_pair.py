"""The second pair of grammars and the placebo: the two classes differ in nothing that a baseline can count."""

import re
from collections import Counter
from functools import cache

import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from conftest import ROOT
from cxprobe.constructions import SPLITS
from cxprobe.constructions.construction import load_construction
from cxprobe.models.params import NgramFeatures, Rule, TagNgrams
from cxprobe.tasks.recognition.make import draw_subsets
from cxprobe.tasks.recognition.measure import count_features
from cxprobe.tasks.recognition.params import Subsets
from cxprobe.tasks.recognition.sentences import generate_sentences, load_grammars

LIMIT = 0.6
PER_LABEL = 40
CONSTRUCTIONS = ROOT / "constructions"
CC = "comparative-correlative"
BASELINES = [(CC, "balanced"), ("placebo-order", "generated")]


FEATURES = {
    "word n-grams": NgramFeatures(kind="word_ngrams", lengths=[1, 3]),
    "character n-grams": NgramFeatures(kind="character_ngrams", lengths=[2, 6]),
    "tag n-grams": TagNgrams(
        kind="tag_ngrams", lengths=[1, 3], tagger=str(ROOT / "models/tagger/en_ewt_cxprobe"), sha256=None
    ),
    "places": Rule(kind="positions"),
}


@cache
def make(name: str, source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the sentences of one source, by id, and the rows of their balanced subsets."""
    construction = load_construction(name, CONSTRUCTIONS).for_source(source)
    grammars = load_grammars(name, construction, CONSTRUCTIONS, source=source)
    table, draws = generate_sentences(name, construction, grammars, PER_LABEL, seed=1)
    sizes = Subsets(train_per_label=PER_LABEL, test_per_label=PER_LABEL, all_sentences=False)
    rows, dropped = draw_subsets(table, draws, construction.features, sizes, 1, name)
    assert dropped.empty
    return table.set_index("id"), rows


def accuracies(sentences: pd.DataFrame, rows: pd.DataFrame, spec) -> dict[str, tuple[float, int]]:
    """Return, for each balanced subset, the accuracy of a logistic regression on its test part, and the part's size."""
    rates = {}
    for name, subset in rows.groupby("feature"):
        counts = count_features(sentences.loc[subset["id"], "text"].tolist(), spec)
        train, labels = (subset["split"] == "train").to_numpy(), subset["label"].to_numpy()
        model = LogisticRegression(max_iter=2000).fit(counts[train], labels[train])
        rates[name] = (model.score(counts[~train], labels[~train]), int((~train).sum()))
    return rates


@pytest.mark.pipeline
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("pair", BASELINES, ids=" ".join)
def test_no_baseline_model_tells_the_classes_apart_by_more_than_the_limit(pair, kind):
    for feature, (accuracy, n) in accuracies(*make(*pair), FEATURES[kind]).items():
        most = binom.ppf(0.999, n, LIMIT) / n  # the limit, and what chance can add to it in so many sentences
        assert accuracy <= most, (feature, accuracy, n)


@pytest.mark.parametrize("half", SPLITS)
def test_the_frames_of_both_labels_are_the_same_rules_with_the_two_verbs_exchanged(half):
    """So that words, tags, lengths and seams are equally probable under both labels, whatever a baseline counts."""
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    rules = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")[half].productions()
    other = {"SAY": "LIKE", "LIKE": "SAY", "POS": "NEG", "NEG": "POS"}

    def exchanged(text: str) -> str:
        return re.sub("SAY|LIKE|POS|NEG", lambda found: other[found[0]], text)

    frames = Counter(str(rule) for rule in rules if str(rule.lhs()) not in ("SAY", "LIKE"))
    assert Counter(map(exchanged, frames.elements())) == frames
