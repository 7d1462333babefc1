"""A probe on each layer's vectors, with its intervals and controls."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from tqdm.auto import tqdm

from cxprobe.errors import DataError
from cxprobe.probing import Fitting, Regularisation, cross_validate
from cxprobe.seeding import generator_for
from cxprobe.stats import Estimate, credit, estimate_rate

_MOST_ITERATIONS = 1000


def probe(
    features: ArrayLike,
    labels: Sequence[Hashable],
    groups: Sequence[Hashable] | None = None,
    *,
    folds: int = 5,
    C: float = 1.0,
    standardise: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """Return how well a linear probe tells two labels apart on each layer, by cross-validation.

    Each layer gets a logistic regression. Every sentence is predicted by a probe that was trained on other folds. Two
    controls stand beside the accuracy: that of the same probes where labels were permuted over the groups, which is
    what a probe reaches by chance or by memory; and the share of the more frequent label, which is what no knowledge
    reaches. With labels that depend on words, lengths or positions, a high accuracy says nothing about the
    construction: match the two labels in these first.

    Args:
        features: Shape (layers, sentences, dimensions), as `LanguageModel.features` returns it, or (sentences,
            dimensions) for one layer.
        labels: One of two values for each sentence.
        groups: What sentences share, such as the frame or template that they were made from: sentences of one group
            are in one fold, and intervals take groups into account. None where every sentence stands for itself.
        folds: The number of folds; fewer where a label has fewer groups.
        C: Inverse strength of the regularisation (L2).
        standardise: Whether vectors are scaled to mean 0 and variance 1 of the sentences that train.
        seed: Of the folds and of the permuted labels.
        jobs: Layers at the same time.

    Returns:
        One row a layer: layer, accuracy, low and high (95 % interval), n (sentences), permuted, permuted_low,
        permuted_high, and majority, all but layer and n in [0, 1].

    Raises:
        DataError: The shapes do not fit, a number is not finite, there are not two labels, or a label has fewer than
            two groups.
        ProbeError: A probe did not converge; set ``standardise=True``, or lower ``C``.

    Source:
        Weissweiler et al. 2022, §3 (probes by layer); Hewitt & Liang 2019 (controls).

    Example:
        >>> import cxprobe
        >>> table = cxprobe.sentences("comparative-correlative", per_label=1)
        >>> features = cxprobe.load("mini-mlm").features(table["text"])
        >>> found = cxprobe.probe(features, table["label"], groups=table["cluster_template"])
        >>> found["layer"].tolist()
        [0, 1, 2, 3, 4, 5, 6]
    """
    vectors = _vectors(features)
    positive = _binary(labels, vectors.shape[1])
    names = _groups(groups, vectors.shape[1])
    regularisation, fitting = Regularisation(C, 0.0, standardise), Fitting(_MOST_ITERATIONS, seed, "probe")
    permuted = _permuted(positive, names, seed)
    rows = []
    with tqdm(total=2 * len(vectors), unit=" layers", delay=2, leave=False) as bar:
        found, control = (
            cross_validate(
                list(vectors), own, names, regularisation, fitting, folds=folds, jobs=jobs, progress=bar.update
            )
            for own in (positive, permuted)
        )
    for layer, (real, chance) in enumerate(zip(found, control, strict=True)):
        accuracy, by_chance = _rate(real, positive, names), _rate(chance, permuted, names)
        rows.append(
            {
                "layer": layer,
                "accuracy": accuracy.value,
                "low": accuracy.low,
                "high": accuracy.high,
                "n": accuracy.n,
                "permuted": by_chance.value,
                "permuted_low": by_chance.low,
                "permuted_high": by_chance.high,
                "majority": max(positive.mean(), 1 - positive.mean()),
            }
        )
    return pd.DataFrame(rows)


def _vectors(features: ArrayLike) -> NDArray[np.float64]:
    vectors = np.asarray(features)
    if vectors.ndim == 2:
        vectors = vectors[None]
    if vectors.ndim != 3:
        raise DataError(f"features has shape {vectors.shape}; it must be (layers, sentences, dimensions)")
    if not np.isfinite(vectors).all():
        raise DataError("features has numbers that are not finite; compute them again in float32")
    return vectors


def _binary(labels: Sequence[Hashable], n: int) -> NDArray[np.bool_]:
    """Return which sentences have the label that comes last in the alphabet, shape (n,)."""
    own = list(labels)
    values = sorted({str(label) for label in own})
    if len(own) != n:
        raise DataError(f"there are {len(own)} labels and {n} sentences; give one label for each sentence")
    if len(values) != 2:
        raise DataError(f"labels has {len(values)} values ({', '.join(values[:5])}); a probe tells two apart")
    return np.array([str(label) == values[1] for label in own], dtype=bool)


def _groups(groups: Sequence[Hashable] | None, n: int) -> NDArray[np.object_]:
    names = [f"sentence {place}" for place in range(n)] if groups is None else [str(group) for group in groups]
    if len(names) != n:
        raise DataError(f"there are {len(names)} groups and {n} sentences; give one group for each sentence")
    return np.array(names, dtype=object)


def _permuted(labels: NDArray[np.bool_], groups: NDArray[np.object_], seed: int) -> NDArray[np.bool_]:
    """Return labels that were permuted: among groups where each has one label, else within each group."""
    generator = generator_for(seed, "permuted labels")
    distinct, codes = np.unique(groups.astype(str), return_inverse=True)
    positive, size = np.bincount(codes, labels, len(distinct)), np.bincount(codes)
    if ((positive == 0) | (positive == size)).all():
        of_group = generator.permutation(positive > 0)
        return np.asarray(of_group[codes])
    permuted = labels.copy()
    for code in range(len(distinct)):
        inside = np.flatnonzero(codes == code)
        permuted[inside] = generator.permutation(labels[inside])
    return permuted


def _rate(probabilities: NDArray[np.float64], labels: NDArray[np.bool_], groups: NDArray[np.object_]) -> Estimate:
    return estimate_rate(credit(probabilities, labels), groups[:, None])
