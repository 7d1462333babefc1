"""Probes of minimal pairs: is it linear in a model's vectors which text of a pair is the right one?"""

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from cxprobe.errors import DataError
from cxprobe.files.arrays import Features
from cxprobe.files.code import computing_code
from cxprobe.files.tables import keep_table, kept_table
from cxprobe.probing import Fitting, Regularisation, cross_validate, kept_folder
from cxprobe.tasks.pairs.sources import FRAME

WORDS = -1  # instead of a layer: the probe that is trained on counts of words
_WORD = r"[^\W_]+|[^\w\s]"


def whole_texts(name: str, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return a construction's pairs with real words, whose good and bad now begin with the context.

    Raises:
        DataError: They are of one frame, so that no probe can be trained on others.
    """
    real = pairs[pairs["words"] == "real"]
    if real[FRAME].nunique() < 2:
        raise DataError(
            f"pairs.probe.constructions: the {len(real)} pairs of {name} are of one frame, and a probe is trained on "
            "other frames than those it predicts; raise pairs.make.pairs_per_condition, or take it out"
        )
    return real.assign(good=real["context"] + real["good"], bad=real["context"] + real["bad"])


def probe_pairs(
    pairs: pd.DataFrame,
    features: Features,
    regularisation: Regularisation,
    fitting: Fitting,
    *,
    folds: int,
    jobs: int,
    kept: Path,
) -> pd.DataFrame:
    """Predict of each pair, on each layer, which text is the right one; what is kept of an earlier run is read.

    A probe is a logistic regression on the difference of the two texts' vectors, taken in both directions, so that it
    prefers neither the first nor the second. It is trained on some frames and predicts the pairs of others. The same
    probe on counts of words shows how far the words themselves, in whatever order, give the right text away.

    Args:
        pairs: Columns id, good and bad (the whole texts, see `whole_texts`), and cluster_frame.
        features: The vectors of at least these texts; its ids are the texts.
        regularisation: How the probes are regularised.
        fitting: How they are fitted; the folds follow from its seed.
        folds: The number of folds; fewer where there are fewer frames.
        jobs: Layers at the same time.
        kept: The folder in which predictions are kept for later runs.

    Returns:
        One row a layer and pair: id, layer (`WORDS` for the counts), and probability, with which the right text is
        taken for the right one, in [0, 1].

    Raises:
        DataError: There are fewer than two frames (see `whole_texts`).
        ProbeError: A probe did not converge.
    """
    row_of = {text: row for row, text in enumerate(features.ids)}
    good, bad = (np.array([row_of[text] for text in pairs[side]]) for side in ("good", "bad"))  # (pairs,)
    shown, how = pairs[["id", "good", "bad", FRAME]], (astuple(regularisation), fitting.max_iter, fitting.seed, folds)
    path = (
        kept_folder(kept, shown, features.vectors, np.append(good, bad), computing_code(__name__), *how) / "pairs.table"
    )
    if (known := kept_table(path)) is not None:
        return known
    counts = CountVectorizer(token_pattern=_WORD).fit([*pairs["good"], *pairs["bad"]])
    words = (counts.transform(pairs["good"]) - counts.transform(pairs["bad"])).toarray().astype(np.float32)
    differences = [words, *(matrix[good] - matrix[bad] for matrix in features.vectors)]  # each (pairs, dimensions)
    both_ways: list[NDArray[np.float32]] = [np.concatenate([matrix, -matrix]) for matrix in differences]
    probabilities = cross_validate(
        both_ways,
        np.repeat([True, False], len(pairs)),  # (2 pairs,)
        np.tile(pairs[FRAME].to_numpy(dtype=object), 2),
        regularisation,
        fitting,
        folds=folds,
        jobs=jobs,
    )[:, : len(pairs)]  # (1 + layers, pairs)
    layers = np.repeat(np.arange(len(probabilities)) + WORDS, len(pairs))
    ids = np.tile(pairs["id"].to_numpy(dtype=object), len(probabilities))
    table = pd.DataFrame({"id": ids, "layer": layers, "probability": probabilities.ravel()})
    keep_table(table, path)
    return table
