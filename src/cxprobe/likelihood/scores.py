"""From the tokens' log-probabilities to the score of a text, and from two scores to a decision.

Scores by name, all in natural logarithms and of scored tokens only: ``sum``; ``per_token`` and ``per_character``, the
sum over the number of tokens or of characters that are no blanks; ``given_context``, the sum over a part of the text;
``pmi``, that less the sum of the part standing alone. Which tokens condition which is the scheme's affair.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.records import Decisions, TokenScores

Score = Callable[[TokenScores], float]


def total(scores: TokenScores) -> float:
    """Return the sum over the scored tokens."""
    return float(np.sum(scores.log_probs[_scored(scores)]))


def per_token(scores: TokenScores) -> float:
    """Return the sum over the scored tokens, divided by their number."""
    return total(scores) / int(_scored(scores).sum())


def per_character(scores: TokenScores) -> float:
    """Return the sum over the scored tokens, divided by the number of characters in them that are no blanks."""
    covered = np.zeros(len(scores.text), dtype=bool)  # a character may be in several tokens, byte by byte
    for start, stop in scores.spans[_scored(scores)]:
        covered[start:stop] = True
    letters = np.array([not character.isspace() for character in scores.text])
    return total(scores) / int((covered & letters).sum())


def given_context(scores: TokenScores, start: int) -> float:
    """Return the sum over the tokens whose last character is at ``start`` or after it.

    Raises:
        DataError: One of them was not scored, or there is none.
    """
    part = scores.spans[:, 1] > start
    if not part.any() or np.isnan(scores.log_probs[part]).any():
        raise DataError(
            f"{scores.text!r}: not every token from character {start} on has a score; a causal model "
            "has none for the first token of a text unless something stands before it: take bos: add"
        )
    return float(np.sum(scores.log_probs[part]))


def pmi(scores: TokenScores, start: int, alone: TokenScores) -> float:
    """Return by how much its context raises the log-probability of the part of a text from ``start`` on.

    Args:
        scores: The whole text.
        start: Where the part begins.
        alone: The part as a text of its own.

    Raises:
        DataError: A token was not scored (bos: none leaves the first of each text unscored), or the texts differ.
    """
    if scores.text[start:] != alone.text:
        raise DataError(f"{scores.text!r} from character {start} on is not {alone.text!r}")
    return given_context(scores, start) - given_context(alone, 0)


SCORES: dict[str, Score] = {"sum": total, "per_token": per_token, "per_character": per_character}
"""The scores of a whole text by their names."""
CONTEXT_SCORES = ("given_context", "pmi")
"""The names of those of what follows a context; a pair without one has none."""


def decide(ids: Sequence[str], better: Sequence[float], worse: Sequence[float]) -> Decisions:
    """Compare two scores of each pair, strictly: no tolerance makes a tie, and no order of the two breaks one.

    Args:
        ids: Names the pairs.
        better: The score of each pair's right member.
        worse: The score of its wrong member.

    Raises:
        DataError: There is no pair, or a score is not finite.
    """
    pair = np.array([better, worse], dtype=np.float64)  # (2, pairs)
    if pair.shape != (2, len(ids)) or not len(ids):
        raise DataError(f"decisions need pairs with two scores each; got {len(ids)} ids, scores {pair.shape}")
    for position in np.flatnonzero(~np.isfinite(pair).all(axis=0)).tolist():
        raise DataError(f"pair {ids[position]}: a score is not finite ({pair[0, position]}, {pair[1, position]})")
    margins = pair[0] - pair[1]
    return Decisions(margins, (np.sign(margins) + 1) / 2, float(np.mean(margins == 0)))


def _scored(scores: TokenScores) -> NDArray[np.bool_]:
    scored = ~np.isnan(scores.log_probs)
    if not scored.any():
        raise DataError(f"{scores.text!r} has no scored token")
    return scored
