from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import ROOT
from cxprobe.errors import ProbeError
from cxprobe.files.tables import Features
from cxprobe.models.params import NgramFeatures, Rule, TagNgrams
from cxprobe.probing import Fitting, predict_held_out
from cxprobe.stats import credit
from cxprobe.tasks.recognition.measure import control_labels, count_features, positions_of, recognise, tune_subset
from cxprobe.tasks.recognition.params import Controls, Probe, SearchRange, Tune

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


NOTHING = Controls(folds=None, control_task=False)
ALL = Controls(folds=3, control_task=True)
SETTINGS = Probe(C=1.0, standardise=False, max_iter=1000, controls=NOTHING)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=60), st.integers(0, 5))
def test_a_word_has_one_control_label_and_labels_are_balanced(words, seed):
    labels = control_labels(np.array(words, dtype=object), seed)
    label_of = dict(zip(words, labels.tolist(), strict=True))
    assert [label_of[word] for word in words] == labels.tolist()
    assert abs(2 * int(labels.sum()) - len(words)) <= max(Counter(words).values())


class Source(NamedTuple):
    rows: pd.DataFrame
    features: Features


@pytest.fixture
def source():
    """Sentences of two features, whose labels the second layer tells and the first does not."""
    rng, numbers = np.random.default_rng(0), np.arange(120)
    labels = np.tile(["positive", "negative"], 60)
    rows = pd.DataFrame({"split": np.repeat(["train", "test"], 60), "value": 7, "label": labels})
    rows = rows.assign(id=[f"s{number}" for number in numbers], cluster_template=numbers)
    rows = rows.assign(text=[f"number {number} ends in {'abcdefghij'[number % 10]}." for number in numbers])
    order = rng.permutation(120)
    signal = (labels == "positive")[order][:, None] + rng.normal(scale=0.2, size=(120, 4))
    vectors = np.stack([rng.normal(size=(120, 4)), signal]).astype(np.float32)
    both = pd.concat([rows.assign(feature=feature) for feature in ("length", "distance")])
    return Source(both, Features(rows["text"].to_numpy()[order].tolist(), vectors))


def subset_of(source):
    return source.rows[source.rows["feature"] == "length"]


def once(source, settings=SETTINGS):
    """Return predictions and the number of probes that were counted."""
    counted: list[int] = []
    fittings = [Fitting(1.0, False, settings.max_iter, 0, "toy")] * 2
    found = recognise(subset_of(source), source.features, fittings, settings, 1, counted.append)
    return found, sum(counted)


def test_every_test_sentence_is_judged_by_every_layer(source):
    (tested, _), counted = once(source)
    assert {*tested} == {"value", "label", "id", "feature", "cluster_template", "layer", "probability"}
    assert tested.groupby("layer")["id"].agg(set).tolist() == [{f"s{number}" for number in range(60, 120)}] * 2
    right = credit(tested["probability"].to_numpy(), (tested["label"] == "positive").to_numpy())
    accuracy = pd.Series(right).groupby(tested["layer"].to_numpy()).mean()
    assert accuracy[1] > 0.95 > 0.8 > accuracy[0]
    assert counted == 2


def with_all(source, **changes):
    return once(source, SETTINGS.model_copy(update={"controls": ALL.model_copy(update=changes)}))[0]


def test_the_probes_do_not_depend_on_what_is_computed_beside_them_and_absent_tables_have_columns(source):
    alone, _ = once(source)
    beside = with_all(source)
    pd.testing.assert_frame_equal(alone.probes, beside.probes)
    assert alone.folds.empty
    assert set(alone.folds) == set(beside.folds)


def test_each_training_sentence_is_held_out_once_with_its_label_and_with_that_of_its_word(source):
    folds = with_all(source).folds
    assert folds.groupby(["task", "layer"])["id"].agg(set).tolist() == [{f"s{n}" for n in range(60)}] * 4
    assert sorted(folds["fold"].unique()) == [0, 1, 2]
    labels = {f"s{number}": "positive" if number % 2 == 0 else "negative" for number in range(60)}
    real, control = (folds[folds["task"] == task] for task in ("real", "control"))
    assert (real["label"] == real["id"].map(labels)).all()
    assert control.groupby("cluster_word")["label"].nunique().eq(1).all()
    assert control["label"].value_counts().to_dict() == {"positive": 60, "negative": 60}
    assert folds["known"].all()  # each of the ten words ends six sentences
    assert set(folds["cluster_word"]) == set("abcdefghij")


def test_a_held_out_sentence_is_predicted_by_the_other_folds_alone(source):
    folds = with_all(source).folds.query("task == 'real' and layer == 1")
    rows = folds.set_index("id")
    texts = subset_of(source).set_index("id")["text"][rows.index]
    vectors = pd.DataFrame(source.features.vectors[1], index=source.features.ids).loc[texts].set_index(rows.index)
    held = rows["fold"] == 2
    probe = LogisticRegression().fit(vectors[~held].to_numpy(), rows.loc[~held, "label"] == "positive")
    expected = probe.predict_proba(vectors[held].to_numpy())[:, 1]
    np.testing.assert_allclose(rows.loc[held, "probability"], expected, atol=1e-3)


RNG = np.random.default_rng(0)
TRAIN = pd.DataFrame({"label": np.repeat(["positive", "negative"], 60), "text": [f"text {n}" for n in range(120)]})
TRAIN["cluster_template"] = [f"template {number // 4}" for number in range(120)]
NOISE = RNG.normal(size=(120, 30))
VECTORS = np.stack([NOISE, NOISE + 0.4 * (TRAIN["label"] == "positive").to_numpy()[:, None]]).astype(np.float32)


def tune(max_iter=1000, progress=lambda _: None, trials=6, standardise=(False, True), low=1e-4, high=1e2):
    how = Tune(trials=trials, folds=3, C=SearchRange(low=low, high=high), standardise=[*standardise])
    fitting = Fitting(1.0, False, max_iter, 1, "toy")
    return tune_subset(TRAIN, Features([*TRAIN["text"]], VECTORS), how, fitting, 1, progress)


def test_each_layer_is_searched_in_the_space_by_accuracy_on_held_out_sentences():
    counted: list[int] = []
    trials = tune(progress=counted.append)
    noise, signal = trials.groupby("layer")["accuracy"].max()
    assert signal > 0.75 > noise
    assert trials.groupby("layer")["number"].agg(list).tolist() == [[*range(6)]] * 2
    assert trials["C"].between(1e-4, 1e2).all()
    assert set(trials["standardise"]) == {False, True}
    assert counted == [6, 6]


def test_settings_that_do_not_converge_have_no_accuracy_and_if_none_does_that_is_an_error():
    accuracies = tune(15, trials=8, standardise=[False], low=1e-8, high=1e8)["accuracy"]
    assert 0 < accuracies.isna().sum() < len(accuracies) == 16
    with pytest.raises(ProbeError, match="toy, layer 0: none of 2 settings converged"):
        tune(1, trials=2, standardise=[False], low=1e4, high=1e5)
