"""Linear probes: logistic regressions on vectors, one layer at a time, in folds that keep groups together."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from cxprobe.errors import DataError, ProbeError
from cxprobe.files.tables import Vectors

Cut = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Row numbers: those to train on and those held out."""
Progress = Callable[[int], object]
"""Called with the number of finished layers, or trials."""
T = TypeVar("T")


def cut_folds(labels: NDArray[np.bool_], groups: NDArray[np.object_], most: int, seed: int) -> list[Cut]:
    """Divide sentences into folds that have both labels alike; sentences of one group stay in one fold.

    Args:
        labels: Shape (n,), True for positive.
        groups: Shape (n,), such as templates.
        most: The number of folds; where a label has fewer groups there are as many folds as it has groups.
        seed: Of the order in which groups are dealt.

    Returns:
        What trains and what is held out in each fold; no fold if a label has fewer than two groups. A fold whose
        training part would have one label alone is left out.
    """
    folds = min([most, *(len(set(groups[labels == label])) for label in (True, False))])
    if folds < 2:
        return []
    divided = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    cuts = divided.split(np.zeros((len(labels), 1)), labels, groups)
    return [(train, held_out) for train, held_out in cuts if len(held_out) and len(set(labels[train])) == 2]


@dataclass(frozen=True)
class Fitting:
    """How a classifier is fitted, and what the fit is about.

    Attributes:
        C: Inverse strength of the regularisation, above 0.
        standardise: Whether vectors are scaled to variance 1 of the training part. In real models a few dimensions are
            hundreds of times larger than the others, so that without it C regularises hardly any of the rest.
        max_iter: The most iterations of the solver; if it has not converged then, that is an error.
        seed: Of folds and of other draws; the solvers draw nothing.
        place: What is fitted, for messages.
    """

    C: float
    standardise: bool
    max_iter: int
    seed: int
    place: str

    def of(self, part: str) -> "Fitting":
        """Return the same for a part of what is fitted, such as a layer."""
        return replace(self, place=f"{self.place}, {part}")


def fit_probe(train: Any, labels: NDArray[Any], fitting: Fitting, class_weight: str | None = None) -> Pipeline:
    """Train one probe; the last step of what is returned is the logistic regression.

    Vectors are centred, which changes no prediction, since the intercept is not regularised; the solver needs it where
    a dimension's mean is thousands of times the others' spread. On vectors that are not standardised lbfgs stops far
    from the optimum, or not at all; Newton's method reaches it.

    Args:
        train: Shape (n_train, dimensions), an array or a sparse matrix.
        labels: Shape (n_train,): True for positive, or names of two or more labels.
        fitting: How the probe is fitted.
        class_weight: As scikit-learn names it: "balanced" gives all labels the same weight, None all rows.

    Raises:
        ProbeError: The solver did not converge, so the numbers would depend on where it stopped.
    """
    standardise, sparse = fitting.standardise, issparse(train)
    solver, tol = ("lbfgs", 1e-4) if standardise or sparse else ("newton-cholesky", 1e-8)  # one step more
    options = {"C": fitting.C, "max_iter": fitting.max_iter, "class_weight": class_weight}
    probe = LogisticRegression(solver=solver, tol=tol, **options)
    # Counts stay sparse, and have no large means.
    model = make_pipeline(StandardScaler(with_mean=not sparse, with_std=standardise), probe)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            return model.fit(train if sparse else train.astype(np.float64), labels)
        except ConvergenceWarning as warning:
            raise ProbeError(
                f"{fitting.place}: {solver} did not converge in {fitting.max_iter} iterations "
                f"(C = {fitting.C:g}); raise max_iter, or lower C"
                + ("" if standardise else ", or let vectors be standardised")
            ) from warning


def predict_held_out(
    features: Any, labels: NDArray[np.bool_], folds: Iterable[Cut], fitting: Fitting
) -> NDArray[np.float64]:
    """Train one probe for each fold (`fit_probe`) and return its probability of "positive" for what is held out.

    Args:
        features: Shape (n, dimensions), an array or a sparse matrix.
        labels: Shape (n,), True for positive; those of the rows that train.
        folds: What trains and what is held out; of a training part with one label alone, this label is predicted.
        fitting: How they are fitted.

    Returns:
        Shape (n,), in [0, 1], NaN for rows that no fold holds out. Exactly 0.5 is a tie, not a decision.

    Raises:
        ProbeError: See `fit_probe`.
    """
    probabilities = np.full(len(labels), np.nan)
    for train, held_out in folds:
        first, *others = set(labels[train].tolist())
        if others:
            model = fit_probe(features[train], labels[train], fitting)
            probabilities[held_out] = model.predict_proba(features[held_out])[:, 1]
        else:
            probabilities[held_out] = first
    return probabilities


def for_each_layer(vectors: Vectors, work: Callable[[int, Any], T], *, jobs: int, progress: Progress) -> list[T]:
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
    results = []
    for result in Parallel(n_jobs=jobs, return_as="generator")(tasks):
        results.append(result)
        progress(1)
    return results


def cross_validate(
    vectors: Vectors,
    labels: NDArray[np.bool_],
    groups: NDArray[np.object_],
    fitting: Fitting,
    *,
    folds: int,
    jobs: int,
    progress: Progress,
) -> tuple[NDArray[np.float64], list[str]]:
    """Predict every sentence on every layer by a probe that has seen no sentence of its group.

    Args:
        vectors: One matrix a layer, (sentences, dimensions).
        labels: Shape (sentences,), True for positive.
        groups: Shape (sentences,): sentences of one group are in one fold.
        fitting: How they are fitted; the folds follow from its seed.
        folds: The number of folds; fewer where a label has fewer groups.
        jobs: Layers at the same time.
        progress: Called with the number of finished layers, 1 at a time.

    Returns:
        Shape (layers, sentences): the probability of "positive", NaN on layers whose probe did not converge; and why it
        did not, one text for each such layer.

    Raises:
        DataError: The sentences cannot be divided: a label has fewer than two groups, or a fold would train on one
            label alone.
    """
    cuts = cut_folds(labels, groups, folds, fitting.seed)
    if sum(len(test) for _, test in cuts) < len(labels):
        positive, negative = (len(set(groups[labels == label])) for label in (True, False))
        raise DataError(
            f"{len(labels)} sentences cannot be divided into {folds} folds that all have both labels: the positive "
            f"ones have {positive} groups, the negative ones {negative}; each label needs at least two groups, so give "
            "more sentences, or groups that both labels have"
        )

    def predict(layer: int, matrix: Any) -> tuple[NDArray[np.float64], str]:
        try:
            return predict_held_out(matrix, labels, cuts, fitting.of(f"layer {layer}")), ""
        except ProbeError as fault:
            return np.full(len(labels), np.nan), str(fault)

    predicted, faults = zip(*for_each_layer(vectors, predict, jobs=jobs, progress=progress), strict=True)
    return np.stack(predicted), [*filter(None, faults)]
