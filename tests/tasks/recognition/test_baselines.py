from collections import Counter

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.models.params import NgramFeatures, Rule, TagNgrams
from cxprobe.probing import Fitting, Regularisation, fit_and_predict
from cxprobe.tasks.recognition.measure import count_features, positions_of

WORDS = NgramFeatures(kind="word_ngrams", lengths=[1, 3])
CHARACTERS = NgramFeatures(kind="character_ngrams", lengths=[2, 6])
POSITIONS = Rule(kind="positions")
BASELINES = {
    "bag-of-words": NgramFeatures(kind="word_ngrams", lengths=[1, 1]),
    "word-ngrams": WORDS,
    "character-ngrams": CHARACTERS,
    "positions": POSITIONS,
}


def rows_of(matrix) -> list[Counter]:
    """Return how often each count stands in each row, whatever the columns are called."""
    return [Counter(row[row > 0].tolist()) for row in matrix.toarray()]


@given(st.lists(st.text(alphabet="aAbé ,.-", min_size=2, max_size=30), min_size=1, max_size=5))
def test_character_ngrams_are_all_stretches_of_the_lower_cased_sentence(texts):
    texts = [" ".join(text.split()) or "ab" for text in texts]
    if max(map(len, texts)) < 2:
        return
    expected = [
        Counter(text.lower()[start : start + n] for n in range(2, 7) for start in range(len(text) - n + 1))
        for text in texts
    ]
    counts = count_features(texts, CHARACTERS, "toy")
    assert counts.shape == (len(texts), len(set().union(*expected)))
    assert rows_of(counts) == [Counter(map(float, own.values())) for own in expected]


@given(st.lists(st.lists(st.sampled_from(["a", "The", "the", "x2"]), min_size=1, max_size=6), min_size=1, max_size=4))
def test_word_ngrams_are_all_runs_of_lower_cased_words_those_of_one_letter_included(sentences):
    lowered = [[word.lower() for word in words] for words in sentences]
    expected = [
        Counter(" ".join(words[start : start + n]) for n in (1, 2, 3) for start in range(len(words) - n + 1))
        for words in lowered
    ]
    counts = count_features([" ".join(words) + "." for words in sentences], WORDS, "toy")
    assert counts.shape[1] == len(set().union(*expected))
    assert rows_of(counts) == [Counter(map(float, own.values())) for own in expected]


def test_positions_are_lengths_and_the_places_of_function_words_from_all_sides():
    assert positions_of("The fox saw the dog.") == {
        "words": 0.5,
        "characters": 0.2,
        "the at 0": 1,
        "the at -5": 1,
        "the in tenth 0": 1,
        "the at 3": 1,
        "the at -2": 1,
        "the in tenth 6": 1,
        "the 3 after the": 1,
    }


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
    counts = count_features(texts, spec, "toy")
    found = fit_and_predict(
        counts[train], labels[train], counts[test], Regularisation(1.0, standardise), Fitting(1000, 0, "toy")
    )
    seen = counts[train].toarray().any(axis=0)
    if isinstance(spec, NgramFeatures):
        how = {"analyzer": "char"} if spec.kind == "character_ngrams" else {"token_pattern": r"\b\w+\b"}
        counter = CountVectorizer(ngram_range=tuple(spec.lengths), **how)
        known = counter.fit_transform([texts[row] for row in train]).toarray()
        new = counter.transform([texts[row] for row in test]).toarray()
    else:
        known, new = (counts[rows].toarray()[:, seen] for rows in (train, test))
    assert seen.sum() == known.shape[1] < counts.shape[1]
    probe = LogisticRegression(C=1.0, max_iter=1000, tol=1e-8)
    oracle = make_pipeline(StandardScaler(), probe) if standardise else probe
    oracle.fit(known.astype(np.float64), labels[train])
    np.testing.assert_allclose(found, oracle.predict_proba(new.astype(np.float64))[:, 1], atol=5e-3)


def tag_ngrams(tagger, *lengths: int) -> TagNgrams:
    return TagNgrams(kind="tag_ngrams", lengths=list(lengths), tagger=str(tagger), sha256=None)


def test_tag_ngrams_are_all_runs_of_the_tags_of_a_sentence():
    tagger = ROOT / "models/tagger/en_ewt_cxprobe"
    texts = ["The more you read, the more you know.", "She's read a bigger book!", "$5 isn't much."]
    expected = []
    for doc in spacy.load(tagger).pipe(texts):
        tags = [token.tag_ for token in doc]
        expected.append(
            Counter(" ".join(tags[start : start + n]) for n in (1, 2) for start in range(len(tags) - n + 1))
        )
    counts = count_features(texts, tag_ngrams(tagger, 1, 2), "toy")
    assert counts.shape[1] == len(set().union(*expected))
    assert rows_of(counts) == [Counter(map(float, own.values())) for own in expected]


def test_sentences_without_anything_to_count_name_the_model_and_the_source():
    long = NgramFeatures(kind="word_ngrams", lengths=[5, 6])
    with pytest.raises(DataError, match=r"long, mined sentences: none of 1 sentences has 5 words in a row.* shorter"):
        count_features(["only three words"], long, "long, mined sentences")
