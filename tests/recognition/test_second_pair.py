"""The second pair of grammars and the placebo: the two classes differ in nothing that a blind model can count."""

import re
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest
import spacy
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
KINDS = ["cluster_SAY", "cluster_LIKE"]  # the verbs that change places
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


@cache
def tagger():
    """Return the carried tagger of parts of speech."""
    return spacy.load(ROOT / "models" / "tagger" / "en_ewt_cxprobe", exclude=["morphologizer", "senter"])


def tags_of(texts):
    """Return the fine tags of each sentence, with spaces between them."""
    return [" ".join(token.tag_ for token in sentence) for sentence in tagger().pipe(texts)]


FEATURES = {
    "word n-grams": lambda: CountVectorizer(ngram_range=(1, 3), token_pattern=r"\w+|[^\w\s]"),
    "character n-grams": lambda: CountVectorizer(ngram_range=(2, 6), analyzer="char"),
    "tag n-grams": lambda: make_pipeline(
        FunctionTransformer(tags_of), CountVectorizer(ngram_range=(1, 3), token_pattern=r"\S+", lowercase=False)
    ),
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
def test_the_frames_of_both_labels_are_the_same_rules_with_the_two_verbs_exchanged(half):
    """So that words, tags, lengths and seams are equally probable under both labels, whatever a blind model counts."""
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    rules = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")[half].productions()
    other = {"SAY": "LIKE", "LIKE": "SAY", "POS": "NEG", "NEG": "POS"}

    def exchanged(text: str) -> str:
        return re.sub("SAY|LIKE|POS|NEG", lambda found: other[found[0]], text)

    frames = Counter(str(rule) for rule in rules if str(rule.lhs()) not in ("SAY", "LIKE"))
    assert Counter(map(exchanged, frames.elements())) == frames


def test_only_in_positives_is_the_main_verb_one_that_takes_a_clause(made):
    sentences, _ = made[CC, "balanced"]
    for row in sentences.itertuples():
        words = row.text.split()
        (asked,) = re.findall(r"\bwhat she (\w+)", row.text)
        assert words[row.first_start] == words[row.second_start] == "the"
        assert (words[row.first_start - 1], asked) == (
            (row.cluster_SAY, row.cluster_LIKE) if row.label == "positive" else (row.cluster_LIKE, row.cluster_SAY)
        )


def test_which_of_the_two_verbs_is_first_says_nothing(made):
    sentences, rows = made[CC, "balanced"]
    places = [
        (text.find(one), text.find(two)) for text, one, two in sentences[["text", *KINDS]].itertuples(index=False)
    ]
    first = pd.Series([one < two for one, two in places], index=sentences.index)
    for feature, subset in rows.groupby("feature"):
        right = first[subset["id"]].to_numpy() == (subset["label"] == "positive").to_numpy()
        assert binom.cdf(right.sum(), len(right), 0.5) < 0.9995, feature
