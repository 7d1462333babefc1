"""The second pair of grammars and the placebo: the two classes differ in nothing that a blind model can count."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from conftest import ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.sentences import SPLITS
from cxprobe.recognition.make import draw_subsets
from cxprobe.recognition.params import Subsets
from cxprobe.recognition.sentences import generate_sentences, load_grammars

LIMIT = 0.6
PER_LABEL = 40
CONSTRUCTIONS = ROOT / "constructions"
CC = "comparative-correlative"
BLIND = [(CC, "balanced"), ("placebo-order", "generated")]


def places(texts):
    """Return, for each sentence, its length and at which words it has "the", a preposition, "and" or a comma."""
    rows = []
    for text in texts:
        words = re.findall(r"\w+|[.,]", text.lower())
        rows.append([len(words), len(text)])
        for word in ("the", "in", "on", "and", "while", "when", "as", "because", "they", "we", ","):
            at = [number for number, one in enumerate(words) if one == word] or [-1]
            rows[-1] += [len(at), at[0], at[-1], np.mean(at), at[0] / len(words), at[-1] / len(words)]
    return np.array(rows, dtype=float)


FEATURES = {
    "word n-grams": lambda: CountVectorizer(ngram_range=(1, 3), token_pattern=r"\w+|[^\w\s]"),
    "character n-grams": lambda: CountVectorizer(ngram_range=(2, 6), analyzer="char"),
    "places": lambda: make_pipeline(FunctionTransformer(places), StandardScaler()),
}


def make(name: str, source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the sentences of one source, by id, and the rows of their balanced subsets."""
    construction = load_construction(name, CONSTRUCTIONS).for_source(source)
    if name == CC and source == "generated":  # the others have ten times as many values
        features = {"first_start": construction.features["first_start"]}
        construction = construction.model_copy(update={"features": features})
    grammars = load_grammars(name, construction, CONSTRUCTIONS, source=source)
    generated = generate_sentences(name, construction, grammars, PER_LABEL, seed=1)
    table, draws = generated.sentences, generated.draws
    sizes = Subsets(train_per_label=PER_LABEL, test_per_label=PER_LABEL, draws=1, all_sentences=False)
    drawn = draw_subsets(table, draws, construction.features, sizes, seed=1, place=name)
    assert drawn.dropped.empty
    return table.set_index("id"), drawn.rows


@pytest.fixture(scope="module")
def made():
    return {pair: make(*pair) for pair in [*BLIND, (CC, "generated")]}


def accuracies(sentences: pd.DataFrame, rows: pd.DataFrame, features) -> dict[str, tuple[float, int]]:
    """Return, for each balanced subset, the accuracy of a logistic regression on its test part, and the part's size."""
    found = {}
    for name, subset in rows.groupby("feature"):
        parts = {split: subset[subset["split"] == split] for split in SPLITS}
        texts = {split: sentences.loc[part["id"], "text"].tolist() for split, part in parts.items()}
        model = make_pipeline(features(), LogisticRegression(max_iter=2000))
        model.fit(texts["train"], parts["train"]["label"])
        found[name] = (model.score(texts["test"], parts["test"]["label"]), len(parts["test"]))
    return found


@pytest.mark.pipeline
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("pair", BLIND, ids=" ".join)
def test_no_blind_model_tells_the_classes_apart_by_more_than_the_limit(made, pair, kind):
    for feature, (accuracy, n) in accuracies(*made[pair], FEATURES[kind]).items():
        most = binom.ppf(0.999, n, LIMIT) / n  # the limit, and what chance can add to it in so many sentences
        assert accuracy <= most, (feature, accuracy, n)


@pytest.mark.parametrize("half", SPLITS)
def test_the_frames_of_both_labels_are_the_same_rules_with_the_words_in_er_exchanged(half):
    """So that words, lengths and seams are equally probable under both labels, whatever a blind model counts."""
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    rules = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")[half].productions()
    other = {"COMP": "AGENT", "AGENT": "COMP", "POS": "NEG", "NEG": "POS"}

    def exchanged(text: str) -> str:
        return re.sub("COMP|AGENT|POS|NEG", lambda found: other[found[0]], text)

    frames = Counter(str(rule) for rule in rules if not re.match(r"(COMP|AGENT)\d", str(rule.lhs())))
    assert Counter(map(exchanged, frames.elements())) == frames


@pytest.mark.parametrize("half", SPLITS)
def test_each_comparative_has_a_noun_with_its_ending_and_no_word_is_both(half):
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    grammar = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")[half]
    words = {category: [] for category in ("COMP1", "COMP2", "AGENT1", "AGENT2")}
    for rule in grammar.productions():
        if str(rule.lhs()) in words:
            words[str(rule.lhs())] += rule.rhs()
    for place in "12":
        comparatives, nouns = words[f"COMP{place}"], words[f"AGENT{place}"]
        assert all(one.endswith("er") for one in comparatives + nouns)
        assert [one[-3:] for one in comparatives] == [one[-3:] for one in nouns]
    assert len({word for some in words.values() for word in some}) == sum(map(len, words.values()))


def test_only_positives_have_a_comparative_at_the_head_of_both_halves(made):
    sentences, _ = made[CC, "balanced"]
    for row in sentences.itertuples():
        words = [word.strip(",.") for word in row.text.split()]
        heads = [words[row.first_start + 1], words[row.second_start + 1]]
        own = ["cluster_COMP1", "cluster_COMP2"] if row.label == "positive" else ["cluster_AGENT1", "cluster_AGENT2"]
        assert heads == [getattr(row, column) for column in own]
        assert len(re.findall(r"\bthe \w+er the\b", row.text)) == 4
