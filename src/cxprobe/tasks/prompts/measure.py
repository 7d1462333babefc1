"""The answers of baselines, and those that a file has in the place of a model."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.files.tables import write_table
from cxprobe.models.files import answers_in
from cxprobe.models.ngrams import baseline_facts, counted_texts, ngram_counter, places_of, words_of
from cxprobe.models.params import AnswersFile, BaselineSpec, Classifier, Member, NgramFeatures, TagNgrams
from cxprobe.run.record import write_model_facts
from cxprobe.run.stage import Stage
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.prompts.params import PAPER, RELATIONS, PromptsStage

FOLDS = 5  # of the rules that learn the most frequent answer; a classifier has its own number
SYMBOLS: Mapping[str, Sequence[str]] = {"inference": [*map(str, range(len(RELATIONS)))], "reasoning": [*PAPER]}
NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|nowhere|neither|nor|cannot|without)\b|n[’']t\b", re.IGNORECASE
)
_LEAST = 1e-6  # the pseudo-probability of an answer that the training never has


def baseline_answers(spec: BaselineSpec, items: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the answers of a baseline to the items of the kind that it is for, each once.

    A baseline that learns from right answers learns from other items of the same set, of all constructions: from the
    folds that do not share a premise (a template, a frame) with the item.

    Args:
        spec: Which model. "hypothesis_only" and "premise_only" are logistic regressions on n-grams of that half,
            of words or of tags. "word_overlap" has thresholds, learnt in folds, on the share of the hypothesis' words
            that the premise has; "negation" gives the answer that is the most frequent among hypotheses with, or
            without, a negation; "most_frequent" the most frequent answer. "first_referent" and "last_referent" choose
            the option that the text of a multiple-choice item names first, or last; "unmentioned_referent" the one that
            it does not name, and that nothing follows if it names neither. "facts_only" is a logistic regression on
            words and pairs of words of the text without the construction.
        items: One row per item: id, kind, set, gold (used for training alone), template, premise, hypothesis, text, a,
            b, facts, cluster_premise and cluster_wording.
        seed: The project's seed, by which folds are drawn.

    Returns:
        One row per item and answer: id, symbol, and log_p, the natural logarithm of a pseudo-probability. Items that
        the model is not for, or for which there is nothing to learn from (one premise, no known template or facts),
        have no rows.

    Raises:
        ModelError: There is no such tagger, or it is another one than params say.

    Source:
        Poliak, Naradowsky, Haldar, Rudinger & Van Durme 2018 for hypothesis-only baselines.
    """
    parts = [pd.DataFrame({"id": [], "symbol": [], "log_p": []}).astype({"id": str, "symbol": str, "log_p": float})]
    for kind in _KINDS.get(spec.kind, ("inference",)):
        symbols = SYMBOLS[kind]
        for of, asked in items[items["kind"] == kind].groupby("set", sort=False):
            if spec.kind.endswith("_referent"):
                rows = asked[["text", "a", "b"]].itertuples(index=False, name=None)
                answers = np.array([_referent(spec.kind, text, a, b) for text, a, b in rows])
            else:
                asked, answers = _learn_in_folds(spec, asked, symbols, seed, str(of))
            log_p = np.log((answers + _LEAST) / (1 + _LEAST * len(symbols)))  # (items, symbols)
            ids = np.repeat(asked["id"].to_numpy(), len(symbols))
            parts.append(pd.DataFrame({"id": ids, "symbol": np.tile(symbols, len(asked)), "log_p": log_p.ravel()}))
    return pd.concat(parts, ignore_index=True)


def _learn_in_folds(
    spec: BaselineSpec, items: pd.DataFrame, symbols: Sequence[str], seed: int, of: str
) -> tuple[pd.DataFrame, NDArray[np.float64]]:
    """Return the items of a set that can be answered, and the pseudo-probabilities of their answers, learnt in folds.

    Items of one group, such as a premise, are in one fold. What is learnt of one option of multiple choice by its facts
    holds for the other, since each item is read both ways. A logistic regression learns from counts of n-grams, and a
    tree from a number.

    Raises:
        ProbeError: The solver did not converge.
    """
    # They take a second to import, and models that are no baselines do without them.
    from sklearn.dummy import DummyClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    from cxprobe.probing import Fitting, fit_probe

    groups, folds, weights = f"{CLUSTER}premise", FOLDS, None
    counts: NgramFeatures | TagNgrams | None = None
    if isinstance(spec, Classifier):
        folds, counts, weights = spec.folds, spec.counts, "balanced"
        if spec.folds_by == "template":
            groups = f"{CLUSTER}wording"
            items = items[items["template"] != ""]
        both = items.assign(read=counted_texts(counts, items[spec.kind.removesuffix("_only")].tolist()))
    elif spec.kind == "facts_only":
        items, counts = items[items["facts"] != ""], FACTS
        exchanged = items.assign(read=_with_letters(items, "BA"), gold=items["gold"].replace({"A": "B", "B": "A"}))
        both = pd.concat([items.assign(read=_with_letters(items, "AB")), exchanged])
    else:
        read, texts = _READ[spec.kind], items[["premise", "hypothesis"]].itertuples(index=False, name=None)
        both = items.assign(read=pd.Series([[read(*of_item)] for of_item in texts], items.index, dtype=object))
    names = sorted(set(items[groups]))
    order = generator_for(seed, "folds", of).permutation(len(names))
    fold_of = {names[index]: number % folds for number, index in enumerate(order)}
    if len(set(fold_of.values())) < 2:
        return items[:0], np.zeros((0, len(symbols)))
    fold, rates = both[groups].map(fold_of).to_numpy(), pd.DataFrame(0.0, range(len(both)), [*symbols])
    for number in set(fold):
        train, test = both[fold != number], both[fold == number]
        seen, golds = train["read"].tolist(), train["gold"].to_numpy()
        learner: Any
        if len(set(golds)) == 1:
            learner = DummyClassifier().fit(seen, golds)
        elif counts is None:
            learner = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(seen, golds)
        else:
            counter, fitting = ngram_counter(counts), Fitting(1.0, False, 1000, 0, spec.kind)
            learner = make_pipeline(counter, *fit_probe(counter.fit_transform(seen), golds, fitting, weights))
        rates.loc[fold == number, [*learner.classes_]] = learner.predict_proba(test["read"].tolist())
    learnt = rates.to_numpy()
    if len(both) > len(items):  # of the items as they are, and with A and B exchanged
        learnt = (learnt[: len(items)] + learnt[len(items) :, [1, 0, 2]]) / 2
    return items, learnt


def _referent(kind: str, text: str, a: str, b: str) -> tuple[float, float, float]:
    """Return pseudo-probabilities of the options; A and B have the same where the rule does not choose between them."""
    in_a, in_b = places_of(text, a), places_of(text, b)
    if kind == "unmentioned_referent":
        is_a, is_b = not in_a, not in_b
        if is_a and is_b:
            return (0.2, 0.2, 0.6)
    else:  # what is not named is behind all that is
        choose, behind = (min, len(text)) if kind == "first_referent" else (max, -1)
        of_a, of_b = choose(in_a, default=behind), choose(in_b, default=behind)
        is_a = of_a != of_b and choose(of_a, of_b) == of_a
        is_b = of_a != of_b and not is_a
    if is_a == is_b:
        return (0.4, 0.4, 0.2)
    return (0.6, 0.2, 0.2) if is_a else (0.2, 0.6, 0.2)


def _overlap(premise: str, hypothesis: str) -> float:
    """Return the share of the hypothesis' words that the premise has."""
    known, said = ({word.text.lower() for word in words_of(text)} for text in (premise, hypothesis))
    return len(said & known) / max(len(said), 1)


def _with_letters(items: pd.DataFrame, letters: str) -> list[str]:
    """Return the facts of multiple choice, with letters in the places of the options a and b."""
    texts = []
    for facts, *options in items[["facts", "a", "b"]].itertuples(index=False, name=None):
        for option, letter in zip(options, letters, strict=True):
            facts = re.sub(rf"(?<!\w){re.escape(option)}(?!\w)", f"Option{letter}", facts, flags=re.IGNORECASE)
        texts.append(facts)
    return texts


FACTS: NgramFeatures | TagNgrams = NgramFeatures(kind="word_ngrams", lengths=[1, 2])  # what is counted of facts
_READ: Mapping[str, Callable[[str, str], float]] = {  # what a tree reads of a premise and a hypothesis
    "word_overlap": _overlap,
    "negation": lambda _premise, hypothesis: float(bool(NEGATION.search(hypothesis))),
    "most_frequent": lambda _premise, _hypothesis: 0.0,  # nothing, so that it learns how frequent the answers are
}
_KINDS: Mapping[str, Sequence[str]] = {  # the kinds of items that baselines answer; "inference" for others
    "most_frequent": ("inference", "reasoning"),
    **dict.fromkeys(["first_referent", "last_referent", "unmentioned_referent", "facts_only"], ("reasoning",)),
}


def measure(stage: Stage[PromptsStage], member: Member) -> Mapping[str, float]:
    """Write the answers of a baseline to each item, or the replies of a file to what is asked about."""
    section, to = stage.params.prompts, stage.data / member.inside
    if isinstance(member.spec, AnswersFile):
        asked = section.made("questions", stage.use)["item"].drop_duplicates()
        replies, facts = answers_in(member, asked.rename("id").reset_index(drop=True).to_frame())
        write_table(replies, to / "replies.parquet")
        write_model_facts(facts, to)
        return {"items": len(replies), "failed": int(replies["failed"].sum())}
    items = section.made("items", stage.use)  # every item, whether or not it is asked about
    answers = baseline_answers(member.baseline, items, seed=stage.params.seed)
    write_table(answers, to / "answers.parquet")
    write_model_facts(baseline_facts(member.baseline.kind), to)
    return {"items": len(items), "answered": answers["id"].nunique()}
