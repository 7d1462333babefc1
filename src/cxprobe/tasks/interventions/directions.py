"""Directions in a model's vectors along which two labels differ, and what is exchanged or erased along them.

All are functions of arrays. A vector b of the base sentence becomes ``b + ((s - b) . read) write``, where s is the
vector of the source sentence. For a direction both are the same unit vector; an erasure takes the mean of the base
vectors for s, so that on sentences of another kind it takes out what differs among these, and does not move them all.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf

Matrix = NDArray[np.float64]


class Exchange(NamedTuple):
    """How a base vector is changed.

    Attributes:
        read: Shape (dimensions,).
        write: Shape (dimensions,).
        erases: Whether the mean of the base vectors takes the place of the source's vector.
    """

    read: Matrix
    write: Matrix
    erases: bool = False

    def apply(self, base: Matrix, source: Matrix) -> Matrix:
        """Return the changed vectors, all of shape (n, dimensions)."""
        toward = base.mean(axis=0) if self.erases else source
        changed: Matrix = base + ((toward - base) @ self.read)[:, None] * self.write
        return changed


def along(direction: Matrix) -> Exchange:
    """Return the exchange along a direction of any length; nothing is exchanged along 0."""
    unit = direction / max(float(np.linalg.norm(direction)), np.finfo(np.float64).tiny)
    return Exchange(unit, unit)


def difference_of_means(vectors: Matrix, labels: NDArray[np.bool_]) -> Exchange:
    """Return the exchange along the difference of the two labels' means.

    Args:
        vectors: Shape (n, dimensions).
        labels: Shape (n,).
    """
    return along(vectors[labels].mean(axis=0) - vectors[~labels].mean(axis=0))


def erase_label(vectors: Matrix, labels: NDArray[np.bool_]) -> Exchange:
    """Return the smallest change of vectors after which no linear probe finds the label: LEACE.

    With the covariance d of vectors and label and the covariance matrix C of the vectors, x becomes
    ``x - d (w . (x - mean)) / (w . d)`` with ``w = C^-1 d``. Then vectors and label have no covariance. C is shrunk
    (Ledoit & Wolf 2004), since there are often fewer vectors than dimensions; the covariance is 0 with any w.

    Args:
        vectors: Shape (n, dimensions).
        labels: Shape (n,).

    Source:
        Belrose et al. 2023, Theorem 4.3, for one label.
    """
    centred = vectors - vectors.mean(axis=0)
    covariance = centred.T @ (labels - labels.mean()) / len(labels)  # (dimensions,)
    shrunk = ledoit_wolf(vectors)[0]
    shrunk += np.eye(len(shrunk)) * max(1e-9 * np.trace(shrunk) / len(shrunk), 1e-30)  # vectors may repeat one another
    whitened = np.linalg.solve(shrunk, covariance)  # (dimensions,)
    return Exchange(whitened / max(float(whitened @ covariance), np.finfo(np.float64).tiny), covariance, erases=True)
