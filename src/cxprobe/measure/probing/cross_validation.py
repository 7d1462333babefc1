"""Probes without a test part: each sentence is predicted by a probe that was trained on other folds."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.measure.probing.folds import Cut, cut_folds
from cxprobe.measure.probing.probes import Fitting, Regularisation, fit_and_predict, for_each_layer
from cxprobe.storage import Vectors


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
