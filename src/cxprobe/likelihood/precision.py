"""How far decisions in bfloat16 are from those in float32: the check that lets them be used."""

from dataclasses import dataclass

import numpy as np

from cxprobe.errors import DataError
from cxprobe.records import Decisions


@dataclass(frozen=True)
class Agreement:
    """How two precisions of one model agree on the same pairs.

    Attributes:
        same: The share of pairs with the same outcome, in [0, 1].
        mean_difference: The mean absolute difference of the margins, in nats for a sum of log-probabilities.
        largest_difference: The largest one.
        n: The number of pairs.
    """

    same: float
    mean_difference: float
    largest_difference: float
    n: int


def agreement(decisions: Decisions, reference: Decisions) -> Agreement:
    """Compare the decisions of a model with those of the same model in float32.

    Args:
        decisions: In the precision that is asked for.
        reference: In float32, of the same pairs in the same order.

    Raises:
        DataError: They are not of equally many pairs.
    """
    if len(decisions.margins) != len(reference.margins):
        raise DataError(f"{len(decisions.margins)} decisions cannot be compared with {len(reference.margins)}")
    differences = np.abs(decisions.margins - reference.margins)
    same = float(np.mean(decisions.credits == reference.credits))
    return Agreement(same, float(differences.mean()), float(differences.max()), len(differences))
