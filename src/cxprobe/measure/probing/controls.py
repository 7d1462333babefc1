"""What a probe is compared with: no knowledge at all, labels that only memory can give, and the length of a code."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from cxprobe.measure.probing.probes import Fitting, Regularisation, fit_and_predict
from cxprobe.seeding import generator_for

SMALLEST_PORTION = 8  # sentences; fewer train nothing
_WORD = re.compile(r"[^\W\d_]+")


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


def last_words(texts: Sequence[str]) -> NDArray[np.object_]:
    """Return each sentence's last word in lower case, shape (n,): the type that its control label belongs to.

    A word consists of letters; a sentence without one has the empty word. Where sentences are drawn from grammars, last
    words recur in both labels; where they are from a corpus, few do.
    """
    return np.array([(_WORD.findall(text.lower()) or [""])[-1] for text in texts], dtype=object)


def control_labels(words: NDArray[np.object_], seed: int) -> NDArray[np.bool_]:
    """Return a random label for each sentence, the same for all that have the same word.

    The labels of words are balanced over the sentences: words go to the label that has fewer sentences so far, the
    frequent ones first, and equally frequent ones in random order. So a classifier can only learn them by heart.

    Args:
        words: Shape (n,).
        seed: Of the labels; the same words get the same labels whatever the order of the sentences is.

    Returns:
        Shape (n,), True for positive.

    Source:
        Hewitt & Liang 2019, §2 (control tasks).
    """
    generator, counts = generator_for(seed, "control labels"), Counter(words.tolist())
    shuffled = generator.permutation(np.array(sorted(counts), dtype=object)).tolist()
    sizes, label_of = [0, 0], {}
    for word in sorted(shuffled, key=counts.__getitem__, reverse=True):
        label = int(generator.integers(2)) if sizes[0] == sizes[1] else int(sizes[1] < sizes[0])
        label_of[word] = bool(label)
        sizes[label] += counts[word]
    return np.array([label_of[word] for word in words], dtype=bool)


def portion_numbers(n: int, seed: int) -> NDArray[np.int64]:
    """Deal training sentences into portions of an online code in random order, each as large as all before it.

    Args:
        n: The number of sentences.
        seed: Of the order.

    Returns:
        Shape (n,): the number of each sentence's portion, from 0. The first has at least `SMALLEST_PORTION` sentences,
        or all.
    """
    ends = [n]
    while ends[0] // 2 >= SMALLEST_PORTION:
        ends.insert(0, ends[0] // 2)
    numbers = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    return numbers[generator_for(seed, "online code").permutation(n)].astype(np.int64)


def code_online(
    vectors: Any,
    labels: NDArray[np.bool_],
    portions: NDArray[np.int64],
    regularisation: Regularisation,
    fitting: Fitting,
) -> NDArray[np.float64]:
    """Predict every training sentence by a probe that is trained on all portions before that of the sentence.

    Args:
        vectors: Shape (n, dimensions), an array or a sparse matrix.
        labels: Shape (n,), True for positive.
        portions: Shape (n,), see `portion_numbers`.
        regularisation: How the probes are regularised.
        fitting: How the probes are fitted.

    Returns:
        Shape (n,): the probability of "positive"; 0.5 where the portions before have nothing, or one label alone.

    Raises:
        ProbeError: A probe did not converge.

    Source:
        Voita & Titov 2020, §2.3 (online code).
    """
    probabilities = np.full(len(labels), 0.5)
    for portion in range(1, int(portions.max(initial=0)) + 1):
        known, own = portions < portion, portions == portion
        if len(set(labels[known])) > 1:
            place = fitting.of(f"portion {portion} of the code")
            probabilities[own] = fit_and_predict(vectors[known], labels[known], vectors[own], regularisation, place)
    return probabilities
