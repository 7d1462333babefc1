"""Calibration: the probability of a candidate relative to its probability in texts without a right answer."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp


def calibrate(tested: NDArray[np.float64], reference: NDArray[np.float64], *, normalised: bool) -> NDArray[np.float64]:
    """Return the logarithm of P(a | S) / mean over i of P(a | C_i) for both candidates a.

    With one calibration text this is the pointwise mutual information of the candidate and the part of the test that is
    not in that text. With content-free texts and probabilities normalised over the candidates, which are the labels
    then, it is contextual calibration with W the inverse of the diagonal matrix of the mean, and b = 0.

    Args:
        tested: Shape (items, 2): natural-log probabilities in the test S.
        reference: Shape (items, texts, 2): those in the calibration texts C_i.
        normalised: Whether each probability is first divided by the sum of both candidates'.

    Returns:
        Shape (items, 2). Adding a constant to both of an item's numbers in any text changes no comparison of
        the two if they are normalised; adding one to a candidate's numbers everywhere changes none in any case.

    Source:
        Weissweiler et al. 2022, section 4 (the formula); Holtzman et al. 2021 (PMI); Zhao et al. 2021 (contextual).
    """
    if normalised:
        tested, reference = log_softmax(tested, axis=-1), log_softmax(reference, axis=-1)
    mean = logsumexp(reference, axis=1) - np.log(reference.shape[1])  # (items, 2)
    return np.asarray(tested - mean, dtype=np.float64)
