"""Logistic regression on frozen vectors: one probe per layer."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cxprobe.errors import DataError, ProbeError
from cxprobe.records import SPLITS


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
        train: Shape (n_train,), row numbers.
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
        subset: Columns split, label and id.
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
    train: NDArray[np.float32],
    labels: NDArray[np.bool_],
    test: NDArray[np.float32],
    regularisation: Regularisation,
    fitting: Fitting,
) -> NDArray[np.float64]:
    """Train one probe and return its probability of "positive" for each test sentence.

    Args:
        train: Shape (n_train, dimensions); sparse matrices are taken as well.
        labels: Shape (n_train,), True for positive.
        test: Shape (n_test, dimensions).
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
    model = make_pipeline(StandardScaler(), probe) if regularisation.standardise else probe
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


def probe_layers(
    vectors: NDArray[np.float32],
    rows: ProbeRows,
    regularisation: Sequence[Regularisation],
    fitting: Fitting,
    *,
    jobs: int,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Train a probe on each layer; layers run in parallel, and the result does not depend on the number of jobs.

    Args:
        vectors: Shape (layers, sentences, dimensions), usually memory-mapped: each process reads its layer's rows.
        rows: The rows that train and test.
        regularisation: One for each layer.
        fitting: How the probes are fitted.
        jobs: Layers at the same time.
        progress: Called with the number of finished probes.

    Returns:
        Shape (layers, n_test): the probability of "positive".

    Raises:
        ProbeError: A probe did not converge; the message names its layer.

    Source:
        Weissweiler et al. 2022, §3 (probing classifiers).
    """
    tasks = (
        delayed(_probe_layer)(vectors, layer, rows, regularisation[layer], fitting.of(f"layer {layer}"))
        for layer in range(len(vectors))
    )
    probabilities = []
    for found in Parallel(n_jobs=jobs, return_as="generator")(tasks):
        probabilities.append(found)
        if progress is not None:
            progress(1)
    return np.stack(probabilities)


def _probe_layer(
    vectors: NDArray[np.float32], layer: int, rows: ProbeRows, regularisation: Regularisation, fitting: Fitting
) -> NDArray[np.float64]:
    train, test = vectors[layer, rows.train], vectors[layer, rows.test]
    return fit_and_predict(train, rows.train_labels, test, regularisation, fitting)
