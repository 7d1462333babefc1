"""Probes of minimal pairs: is it linear in a model's vectors which text of a pair is the right one?"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from cxprobe.files.arrays import Features
from cxprobe.probing import Fitting, Regularisation, cross_validate
from cxprobe.stats import CLUSTER

WORDS = -1  # in the place of a layer: the probe that is trained on counts of words
_FRAME = f"{CLUSTER}frame"
_WORD = r"[^\W_]+|[^\w\s]"


def probe_pairs(
    pairs: pd.DataFrame,
    features: Features,
    regularisation: Regularisation,
    fitting: Fitting,
    *,
    folds: int,
    jobs: int,
) -> pd.DataFrame:
    """Predict of each pair, on each layer, which text is the right one.

    A probe is a logistic regression on the difference of the two texts' vectors, taken in both directions, so that it
    prefers neither the first nor the second. It is trained on some frames and predicts the pairs of others. The same
    probe on counts of words shows how far the words themselves, in whatever order, give the right text away.

    Args:
        pairs: Columns id, good_text and bad_text (the whole texts), and cluster_frame.
        features: The vectors of at least these texts; its ids are the texts.
        regularisation: How the probes are regularised.
        fitting: How they are fitted; the folds follow from its seed.
        folds: The number of folds; fewer where there are fewer frames.
        jobs: Layers at the same time.

    Returns:
        One row a layer and pair: id, layer (`WORDS` for the counts), and probability, with which the right text is
        taken for the right one, in [0, 1].

    Raises:
        DataError: There are fewer than two frames.
        ProbeError: A probe did not converge.
    """
    row_of = {text: row for row, text in enumerate(features.ids)}
    good, bad = (np.array([row_of[text] for text in pairs[f"{end}_text"]]) for end in ("good", "bad"))  # (pairs,)
    counts = CountVectorizer(token_pattern=_WORD).fit([*pairs["good_text"], *pairs["bad_text"]])
    words = (counts.transform(pairs["good_text"]) - counts.transform(pairs["bad_text"])).toarray().astype(np.float32)
    probabilities = cross_validate(
        [_both_ways(words), *(_both_ways(matrix[good] - matrix[bad]) for matrix in features.vectors)],
        np.repeat([True, False], len(pairs)),  # (2 pairs,)
        np.tile(pairs[_FRAME].to_numpy(dtype=object), 2),
        regularisation,
        fitting,
        folds=folds,
        jobs=jobs,
    )[:, : len(pairs)]  # (1 + layers, pairs)
    layers = np.repeat(np.arange(len(probabilities)) + WORDS, len(pairs))
    ids = np.tile(pairs["id"].to_numpy(dtype=object), len(probabilities))
    return pd.DataFrame({"id": ids, "layer": layers, "probability": probabilities.ravel()})


def _both_ways(differences: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return right less wrong, then wrong less right: (pairs, dimensions) to (2 pairs, dimensions)."""
    return np.concatenate([differences, -differences])
