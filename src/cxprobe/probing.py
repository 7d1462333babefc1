"""Folds of a subset's training part, for choices that must not see the test part."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cxprobe.constructions.sentences import LABELS, SPLITS
from cxprobe.errors import DataError, ProbeError
from cxprobe.files.arrays import Vectors
from cxprobe.stats import CLUSTER

TEMPLATE = f"{CLUSTER}template"
Cut = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Row numbers within the training part: those to train on and those held out."""


def first_draw(subset: pd.DataFrame) -> pd.DataFrame:
    """Return the training part of a subset as it is drawn first: the rows of ``split`` "train" and ``draw`` 0."""
    return subset[(subset["split"] == "train") & (subset["draw"] == 0)]


def templates_by_label(subset: pd.DataFrame) -> dict[str, int]:
    """Return how many templates the sentences of each label have in the first training draw.

    Args:
        subset: Columns split, draw, label, cluster_template.
    """
    templates = first_draw(subset).groupby("label")[TEMPLATE].nunique()
    return {label: int(templates.get(label, 0)) for label in LABELS}


def has_folds(subset: pd.DataFrame) -> bool:
    """Return whether the first training draw can be divided at all: each label needs two templates.

    Args:
        subset: Columns split, draw, label, cluster_template.
    """
    return min(templates_by_label(subset).values()) > 1


def cut_folds(labels: NDArray[np.bool_], templates: NDArray[np.object_], most: int, seed: int) -> list[Cut]:
    """Divide sentences into folds that have both labels alike; sentences of one template stay in one fold.

    Args:
        labels: Shape (n,), True for positive.
        templates: Shape (n,).
        most: The number of folds; where a label has fewer templates there are as many folds as it has templates.
        seed: Of the order in which templates are dealt.

    Returns:
        What trains and what is held out in each fold; no fold if a label has fewer than two templates. A fold whose
        training part would have one label alone is left out.
    """
    folds = min([most, *(len(set(templates[labels == label])) for label in (True, False))])
    if folds < 2:
        return []
    divided = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    cuts = divided.split(np.zeros((len(labels), 1)), labels, templates)
    return [(train, held_out) for train, held_out in cuts if len(held_out) and len(set(labels[train])) == len(LABELS)]


T = TypeVar("T")


@dataclass(frozen=True)
class Regularisation:
    """How a logistic regression is regularised.

    Attributes:
        C: Inverse strength, above 0.
        l1_ratio: Share of the L1 penalty, in [0, 1]; above 0 the solver is saga instead of lbfgs.
        standardise: Whether vectors are scaled to mean 0 and variance 1 of the training part.
    """

    C: float
    l1_ratio: float
    standardise: bool


@dataclass(frozen=True)
class Fitting:
    """How a classifier is fitted, and what the fit is about.

    Attributes:
        max_iter: The most iterations of the solver; if it has not converged then, that is an error.
        seed: Seed of the solver saga, which draws samples; lbfgs draws nothing.
        place: What is fitted, for messages.
    """

    max_iter: int
    seed: int
    place: str

    def of(self, part: str) -> "Fitting":
        """Return the same for a part of what is fitted, such as a layer."""
        return replace(self, place=f"{self.place}, {part}")


@dataclass(frozen=True)
class ProbeRows:
    """Which rows of the features train a probe and which test it.

    Attributes:
        train: Shape (n_train,), row numbers; of one training draw.
        train_labels: Shape (n_train,), True for positive.
        test: Shape (n_test,), row numbers.

    The order within each part is that of the subset's rows.
    """

    train: NDArray[np.int64]
    train_labels: NDArray[np.bool_]
    test: NDArray[np.int64]


def align(subset: pd.DataFrame, ids: Sequence[str]) -> ProbeRows:
    """Find the rows of a subset's sentences among the features, by id and never by position.

    Args:
        subset: Columns split, label and id; of the training part, one draw.
        ids: The sentence of each row of the features.

    Raises:
        DataError: A sentence of the subset has no features.
    """
    row_of = {id_: row for row, id_ in enumerate(ids)}
    absent = [id_ for id_ in subset["id"] if id_ not in row_of]
    if absent:
        raise DataError(f"{len(absent)} sentences have no features, {absent[0]} among them; run extract_features again")
    parts = {split: subset[subset["split"] == split] for split in SPLITS}
    rows = {split: np.array([row_of[id_] for id_ in part["id"]], dtype=np.int64) for split, part in parts.items()}
    return ProbeRows(rows["train"], (parts["train"]["label"] == "positive").to_numpy(dtype=bool), rows["test"])


def fit_and_predict(
    train: Any,
    labels: NDArray[np.bool_],
    test: Any,
    regularisation: Regularisation,
    fitting: Fitting,
) -> NDArray[np.float64]:
    """Train one probe and return its probability of "positive" for each test sentence.

    Args:
        train: Shape (n_train, dimensions), an array or a sparse matrix.
        labels: Shape (n_train,), True for positive.
        test: Shape (n_test, dimensions), of the same kind.
        regularisation: How the probe is regularised.
        fitting: How the probe is fitted.

    Returns:
        Shape (n_test,), in [0, 1]. Exactly 0.5 is a tie, not a decision.

    Raises:
        ProbeError: The solver did not converge, so the numbers would depend on where it stopped.
    """
    probe = LogisticRegression(
        C=regularisation.C,
        l1_ratio=regularisation.l1_ratio,
        solver="saga" if regularisation.l1_ratio > 0 else "lbfgs",
        max_iter=fitting.max_iter,
        random_state=fitting.seed,
    )
    # Counts stay sparse. The intercept is free and takes up the mean, so what is predicted does not depend on it.
    scaler = StandardScaler(with_mean=not issparse(train))
    model = make_pipeline(scaler, probe) if regularisation.standardise else probe
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(train, labels)
        except ConvergenceWarning as warning:
            raise ProbeError(
                f"{fitting.place}: {probe.solver} did not converge in {fitting.max_iter} iterations "
                f"(C = {regularisation.C:g}, l1_ratio = {regularisation.l1_ratio:g}); raise fit_probes.max_iter, set "
                "standardise: true, or lower C"
            ) from warning
    probabilities: NDArray[np.float64] = model.predict_proba(test)[:, 1].astype(np.float64)
    return probabilities


def for_each_layer(
    vectors: Vectors,
    work: Callable[[int, Any], T],
    *,
    jobs: int,
    progress: Callable[[int], object] | None = None,
) -> list[T]:
    """Do the same work on each layer, in parallel; the result does not depend on the number of jobs.

    Args:
        vectors: One matrix a layer, usually memory-mapped: each process reads the rows that it needs.
        work: Called with the number of a layer and its matrix, (sentences, dimensions), an array or a sparse matrix.
        jobs: Layers at the same time.
        progress: Called with the number of finished layers, 1 at a time.

    Returns:
        What the work returned for each layer, in order.
    """
    tasks = (delayed(work)(layer, matrix) for layer, matrix in enumerate(vectors))
    done = []
    for found in Parallel(n_jobs=jobs, return_as="generator")(tasks):
        done.append(found)
        if progress is not None:
            progress(1)
    return done


def cross_validate(
    vectors: Vectors,
    labels: NDArray[np.bool_],
    groups: NDArray[np.object_],
    regularisation: Regularisation,
    fitting: Fitting,
    *,
    folds: int,
    jobs: int = 1,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Predict every sentence on every layer by a probe that has seen no sentence of its group.

    Args:
        vectors: One matrix a layer, (sentences, dimensions).
        labels: Shape (sentences,), True for positive.
        groups: Shape (sentences,): sentences of one group are in one fold.
        regularisation: How the probes are regularised.
        fitting: How they are fitted; the folds follow from its seed.
        folds: The number of folds; fewer where a label has fewer groups.
        jobs: Layers at the same time.
        progress: Called with the number of finished layers, 1 at a time.

    Returns:
        Shape (layers, sentences): the probability of "positive".

    Raises:
        DataError: The sentences cannot be divided: a label has fewer than two groups, or a fold would train on one
            label alone.
        ProbeError: A probe did not converge.
    """
    cuts = cut_folds(labels, groups, folds, fitting.seed)
    held_out = sum(len(test) for _, test in cuts)
    if held_out < len(labels):
        of_label = {
            name: len(set(groups[labels == value])) for name, value in (("positive", True), ("negative", False))
        }
        raise DataError(
            f"{len(labels)} sentences cannot be divided into {folds} folds that all have both labels: the positive "
            f"ones have {of_label['positive']} groups, the negative ones {of_label['negative']}; each label needs "
            "at least two groups, so give more sentences, or groups that both labels have"
        )
    work = partial(_predict, labels, cuts, regularisation, fitting)
    return np.stack(for_each_layer(vectors, work, jobs=jobs, progress=progress))


def _predict(
    labels: NDArray[np.bool_],
    cuts: list[Cut],
    regularisation: Regularisation,
    fitting: Fitting,
    layer: int,
    vectors: Any,
) -> NDArray[np.float64]:
    """Return the probability of "positive" of each sentence, shape (sentences,); vectors (sentences, dimensions)."""
    probabilities = np.empty(len(labels))
    for train, test in cuts:
        place = fitting.of(f"layer {layer}")
        probabilities[test] = fit_and_predict(vectors[train], labels[train], vectors[test], regularisation, place)
    return probabilities
