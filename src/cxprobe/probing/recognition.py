"""Can the construction be recognised? All probes and controls of one balanced subset."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.params import FitProbes
from cxprobe.probing.controls import bag_of_words, majority
from cxprobe.probing.probes import Regularisation, align, probe_layers


class Predictions(NamedTuple):
    """What was predicted for the test part of a subset.

    Attributes:
        probes: One row a test sentence and layer: the test part's columns, layer, probability (of "positive").
        controls: One row a test sentence and control: the test part's columns, control, probability.
    """

    probes: pd.DataFrame
    controls: pd.DataFrame


def recognise(
    subset: pd.DataFrame,
    ids: Sequence[str],
    vectors: NDArray[np.float32],
    regularisation: Sequence[Regularisation],
    settings: FitProbes,
    *,
    seed: int,
    place: str,
) -> Predictions:
    """Train the probes and the controls on a subset's training part and let them judge its test part.

    Args:
        subset: Columns split, label, id and text, and any others, which are passed on.
        ids: The sentence of each row of ``vectors``.
        vectors: Shape (layers, sentences, dimensions).
        regularisation: One for each layer.
        settings: The parameters of the stage; they also regularise the bag of words.
        seed: The project's seed.
        place: What is probed, for messages.

    Raises:
        DataError: A sentence has no vector.
        ProbeError: A probe did not converge.
    """
    rows = align(subset, ids)
    train, test = (subset[subset["split"] == split] for split in ("train", "test"))
    judged = test.drop(columns=["split", "text"])
    by_layer = probe_layers(
        vectors, rows, regularisation, max_iter=settings.max_iter, seed=seed, jobs=settings.jobs, place=place
    )
    by_control = {
        "majority": majority(rows.train_labels, len(test)),
        "bag_of_words": bag_of_words(
            train["text"].tolist(),
            rows.train_labels,
            test["text"].tolist(),
            Regularisation(settings.C, settings.l1_ratio, standardise=False),
            max_iter=settings.max_iter,
            seed=seed,
            place=place,
        ),
    }
    return Predictions(
        pd.concat([judged.assign(layer=layer, probability=p) for layer, p in enumerate(by_layer)]),
        pd.concat([judged.assign(control=control, probability=p) for control, p in by_control.items()]),
    )
