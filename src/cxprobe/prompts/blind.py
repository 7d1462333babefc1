"""Blind models of inference and multiple choice: answers from a half of the item, or from where its words stand."""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.lm.ngrams import EVERY_WORD, places_of
from cxprobe.lm.params import BlindModel, Classifier
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER

FOLDS = 5  # of the rules that learn the most frequent answer; a classifier has its own number
SYMBOLS: Mapping[str, tuple[str, ...]] = {"inference": ("0", "1", "2"), "reasoning": ("A", "B", "C")}
NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|nowhere|neither|nor|cannot|without)\b|n[’']t\b", re.IGNORECASE
)
_LEAST = 1e-6  # the pseudo-probability of an answer that the training never has
_WORD = re.compile(r"\w+(?:[-’']\w+)*")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "most_frequent": ("inference", "reasoning"),
    "first_referent": ("reasoning",),
    "last_referent": ("reasoning",),
}
Answers = NDArray[np.float64]  # (items, symbols): pseudo-probabilities


def answer_blindly(spec: BlindModel, items: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return what a blind model answers to the items of the kind that it is for, each once.

    What learns from right answers learns from other items of the same set, of all constructions: from the folds that do
    not share a premise (a template, a frame) with the item.

    Args:
        spec: Which model. "hypothesis_only" and "premise_only" are logistic regressions on counts of words and pairs of
            words of that half. "word_overlap" has thresholds, learnt in folds, on the share of the hypothesis' words
            that the premise has; "negation" gives the answer that is the most frequent among hypotheses with, or
            without, a negation; "most_frequent" the most frequent answer. "first_referent" and "last_referent" choose
            the option that the text of a multiple-choice item names first, or last.
        items: One row per item: id, kind, set, gold (used for training alone), template, premise, hypothesis, text, a,
            b, cluster_premise and cluster_wording.
        seed: The project's seed, by which folds are drawn.

    Returns:
        One row per item and answer: id, symbol, and log_p, the natural logarithm of a pseudo-probability. Items that
        the model is not for, or for which there is nothing to learn from (one premise, no known template), have no
        rows.

    Source:
        Poliak, Naradowsky, Haldar, Rudinger & Van Durme 2018 for hypothesis-only baselines.
    """
    parts = [pd.DataFrame({"id": [], "symbol": [], "log_p": []}).astype({"id": str, "symbol": str, "log_p": float})]
    for kind in _KINDS.get(spec.kind, ("inference",)):
        for of, own in items[items["kind"] == kind].groupby("set", sort=False):
            symbols = SYMBOLS[kind]
            if spec.kind in _REFERENTS:
                parts.append(_long(own, symbols, _chosen_referents(own, first=spec.kind == "first_referent")))
                continue
            by_template = isinstance(spec, Classifier) and spec.folds_by == "template"
            key = f"{CLUSTER}{'wording' if by_template else 'premise'}"
            known = own[own["template"] != ""] if by_template else own
            known = known.reset_index(drop=True)
            folds = _folds(known[key], spec.folds if isinstance(spec, Classifier) else FOLDS, seed, str(of))
            if folds.max(initial=0) > 0:
                parts.append(_long(known, symbols, _learnt(spec.kind, known, symbols, folds)))
    return pd.concat(parts, ignore_index=True)


def _long(items: pd.DataFrame, symbols: Sequence[str], answers: Answers) -> pd.DataFrame:
    log_p = np.log((answers + _LEAST) / (1 + _LEAST * len(symbols)))
    ids, each = np.repeat(items["id"].to_numpy(), len(symbols)), np.tile(symbols, len(items))
    return pd.DataFrame({"id": ids, "symbol": each, "log_p": log_p.ravel()})


def _folds(groups: "pd.Series[str]", folds: int, seed: int, of: str) -> NDArray[np.int64]:
    """Return the fold of each item, shape (items,), from 0: items of one group are in one fold."""
    names = sorted(set(groups))
    order = generator_for(seed, "folds", of).permutation(len(names))
    fold_of = {names[int(place)]: number % folds for number, place in enumerate(order)}
    return np.array([fold_of[name] for name in groups], dtype=np.int64)


def _learnt(kind: str, items: pd.DataFrame, symbols: Sequence[str], folds: NDArray[np.int64]) -> Answers:
    answers = np.zeros((len(items), len(symbols)))
    for fold in np.unique(folds):
        train, test = items[folds != fold], items[folds == fold]
        found, classes = _LEARNERS[kind](train, test)
        answers[np.ix_(folds == fold, [symbols.index(name) for name in classes])] = found
    return answers


# Each learner returns pseudo-probabilities for the test items, (items, classes), and the classes: answers of training.


def _of_text(column: str) -> Callable[[pd.DataFrame, pd.DataFrame], tuple[Answers, list[str]]]:
    def learn(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Answers, list[str]]:
        if train["gold"].nunique() == 1:
            return _most_frequent(train, test)
        # It takes a second to import, and models that are not blind do without it.
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        words = CountVectorizer(ngram_range=(1, 2), token_pattern=EVERY_WORD)
        model = make_pipeline(words, LogisticRegression(class_weight="balanced", max_iter=1000)).fit(
            train[column], train["gold"]
        )
        return model.predict_proba(test[column]), list(model.classes_)

    return learn


def _word_overlap(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Answers, list[str]]:
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(_overlap(train), train["gold"])
    return model.predict_proba(_overlap(test)), list(model.classes_)


def _negation(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Answers, list[str]]:
    negated, classes = train["hypothesis"].str.contains(NEGATION), sorted(set(train["gold"]))
    every = {is_negated: _shares(train.loc[negated == is_negated, "gold"], classes) for is_negated in (True, False)}
    return np.array([every[bool(NEGATION.search(text))] for text in test["hypothesis"]]), classes


def _most_frequent(train: pd.DataFrame, test: pd.DataFrame) -> tuple[Answers, list[str]]:
    classes = sorted(set(train["gold"]))
    return np.tile(_shares(train["gold"], classes), (len(test), 1)), classes


def _shares(golds: "pd.Series[str]", classes: Sequence[str]) -> Answers:
    """Return the share of each answer, (classes,); all alike where there is nothing to count."""
    counts = np.array([(golds == name).sum() for name in classes], dtype=np.float64)
    return counts / counts.sum() if counts.any() else np.full(len(classes), 1 / len(classes))


def _overlap(items: pd.DataFrame) -> Answers:
    """Return the share of the hypothesis' words that the premise has too, shape (items, 1)."""
    both = zip(items["premise"].map(_words), items["hypothesis"].map(_words), strict=True)
    return np.array([[len(ours & theirs) / max(len(ours), 1)] for theirs, ours in both])


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


_LEARNERS: Mapping[str, Callable[[pd.DataFrame, pd.DataFrame], tuple[Answers, list[str]]]] = {
    "hypothesis_only": _of_text("hypothesis"),
    "premise_only": _of_text("premise"),
    "word_overlap": _word_overlap,
    "negation": _negation,
    "most_frequent": _most_frequent,
}
_REFERENTS = ("first_referent", "last_referent")


def _chosen_referents(items: pd.DataFrame, *, first: bool) -> Answers:
    """Return pseudo-probabilities of the options, (items, 3); A and B have the same where neither is named."""
    rows = items[["text", "a", "b"]].itertuples(index=False, name=None)
    return np.array([_referent(text, a, b, first=first) for text, a, b in rows]).reshape(-1, 3)


def _referent(text: str, a: str, b: str, *, first: bool) -> tuple[float, float, float]:
    places = [places_of(text, option) for option in (a, b)]
    if not any(places):
        return (0.4, 0.4, 0.2)
    if not all(places):
        return (0.6, 0.2, 0.2) if places[0] else (0.2, 0.6, 0.2)
    is_a = min(places[0]) < min(places[1]) if first else max(places[0]) > max(places[1])
    return (0.6, 0.2, 0.2) if is_a else (0.2, 0.6, 0.2)
