from collections import Counter

import numpy as np
import pytest
import spacy
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import ROOT
from cxprobe.models.params import NgramFeatures, Rule, TagNgrams
from cxprobe.probing import Fitting, predict_held_out
from cxprobe.tasks.recognition.measure import count_features, positions_of

TAGGER = ROOT / "models/tagger/en_ewt_cxprobe"
WORDS = NgramFeatures(kind="word_ngrams", lengths=[1, 3])
CHARACTERS = NgramFeatures(kind="character_ngrams", lengths=[2, 6])
TAGS = TagNgrams(kind="tag_ngrams", lengths=[1, 2], tagger=str(TAGGER), sha256=None)
BASELINES = {
    "bag-of-words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
    "word-ngrams": WORDS,
    "character-ngrams": CHARACTERS,
    "positions": Rule(kind="positions"),
}
TEXTS = ["The more you read the more you know", "She reads a bigger book", "a A é x2 a A"]


@pytest.mark.parametrize("spec", [WORDS, CHARACTERS, TAGS], ids=lambda spec: spec.kind)
def test_ngrams_are_all_runs_of_words_letters_or_tags_those_of_one_letter_included(spec):
    units: dict[str, list] = {
        "word_ngrams": [text.lower().split() for text in TEXTS],
        "character_ngrams": [list(text.lower()) for text in TEXTS],
        "tag_ngrams": [[token.tag_ for token in doc] for doc in spacy.load(TAGGER).pipe(TEXTS)],
    }
    shortest, longest = spec.lengths
    expected = [
        Counter(
            tuple(own[start : start + n]) for n in range(shortest, longest + 1) for start in range(len(own) - n + 1)
        )
        for own in units[spec.kind]
    ]
    counts = count_features(TEXTS, spec)
    assert counts.shape == (len(TEXTS), len(set().union(*expected)))
    found = [Counter(row[row > 0].tolist()) for row in counts.toarray()]  # whatever the columns are called
    assert found == [Counter(map(float, own.values())) for own in expected]


def test_positions_are_lengths_and_the_places_of_function_words_from_all_sides():
    lengths = {"words": 0.5, "characters": 0.2}
    first = {"the at 0": 1, "the at -5": 1, "the in tenth 0": 1}
    second = {"the at 3": 1, "the at -2": 1, "the in tenth 6": 1, "the 3 after the": 1}
    assert positions_of("The fox saw the dog.") == lengths | first | second


@pytest.mark.parametrize("spec", BASELINES.values(), ids=BASELINES)
@pytest.mark.parametrize("standardise", [False, True])
def test_columns_that_the_training_part_lacks_change_nothing(spec, standardise):
    """The oracle counts and scales the training part alone, with dense numbers."""
    rng = np.random.default_rng(0)
    words = ["the", "a", "than", "old", "older", "fox", "foxes", "run", "runs", "so"]
    texts = [" ".join(rng.choice(words, size=rng.integers(4, 9))) + "." for _ in range(120)]
    labels = np.array(["older" in text for text in texts]) ^ (rng.random(120) < 0.2)
    train, test = np.arange(20), np.arange(20, 120)
    texts[60:] = [f"whereas {text}" for text in texts[60:]]
    counts, how = count_features(texts, spec), Fitting(1.0, standardise, 1000, 0, "toy")
    found = predict_held_out(counts, labels, [(train, test)], how)[test]
    seen = counts[train].toarray().any(axis=0)
    if isinstance(spec, NgramFeatures):
        options = {"analyzer": "char"} if spec.kind == "character_ngrams" else {"token_pattern": r"\b\w+\b"}
        counter = CountVectorizer(ngram_range=tuple(spec.lengths), **options)
        known = counter.fit_transform([texts[row] for row in train]).toarray()
        new = counter.transform([texts[row] for row in test]).toarray()
    else:
        known, new = (counts[rows].toarray()[:, seen] for rows in (train, test))
    assert seen.sum() == known.shape[1] < counts.shape[1]
    probe = LogisticRegression(C=1.0, max_iter=1000, tol=1e-8)
    oracle = make_pipeline(StandardScaler(), probe) if standardise else probe
    oracle.fit(known.astype(np.float64), labels[train])
    np.testing.assert_allclose(found, oracle.predict_proba(new.astype(np.float64))[:, 1], atol=5e-3)
