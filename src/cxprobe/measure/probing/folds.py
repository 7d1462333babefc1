"""Folds of a subset's training part, for choices that must not see the test part."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from cxprobe.records import CLUSTER, LABELS

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
