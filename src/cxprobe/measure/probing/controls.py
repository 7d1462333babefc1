"""What a probe is compared with: classifiers that know nothing of the model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer

from cxprobe.measure.probing.probes import Fitting, Regularisation, fit_and_predict


def majority(labels: NDArray[np.bool_], n_test: int) -> NDArray[np.float64]:
    """Return the share of positives in training as the probability of every test sentence; 0.5 if it is balanced.

    Args:
        labels: Shape (n_train,), True for positive.
        n_test: How many sentences are tested.

    Returns:
        Shape (n_test,).
    """
    dummy = DummyClassifier(strategy="prior").fit(np.zeros((len(labels), 1)), labels)
    probabilities: NDArray[np.float64] = dummy.predict_proba(np.zeros((n_test, 1)))[:, -1]
    return probabilities


def bag_of_words(
    train: Sequence[str],
    labels: NDArray[np.bool_],
    test: Sequence[str],
    regularisation: Regularisation,
    fitting: Fitting,
) -> NDArray[np.float64]:
    """Train the probes' own classifier on lower-cased word counts: what can be recognised without the word order.

    Args:
        train: The training sentences.
        labels: Shape (n_train,), True for positive.
        test: The test sentences.
        regularisation: As the probes'; counts are never standardised.
        fitting: How the classifier is fitted.

    Returns:
        Shape (n_test,): the probability of "positive".

    Raises:
        ProbeError: The solver did not converge.
    """
    every_word = r"(?u)\b\w+\b"  # scikit-learn's own pattern ignores words of one letter
    counter = CountVectorizer(token_pattern=every_word, dtype=np.float32)
    counts = counter.fit_transform(train)
    return fit_and_predict(counts, labels, counter.transform(test), regularisation, fitting.of("bag of words"))
