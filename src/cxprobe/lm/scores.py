"""From the log-probabilities of tokens to scores of texts and of pairs, by name.

All scores are in natural logarithms and of scored tokens only. Of a whole text: ``sum``; ``per_token`` and
``per_character``, the sum divided by the number of tokens, or of characters that are not spaces. Of the part of a text
that follows a context: ``given_context``, the sum over that part; and ``pmi``, that less the same sum in another
context, or in none. What each token is conditioned on depends on the scheme under which the model was asked.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.texts import TokenScores

Score = Callable[[TokenScores], float]
ScoresOfTexts = Mapping[str, TokenScores]  # text -> the scores of its tokens, all under one scheme


def total(scores: TokenScores) -> float:
    """Return the sum over the scored tokens."""
    return float(np.sum(scores.log_probs[_scored(scores)]))


def per_token(scores: TokenScores) -> float:
    """Return the sum over the scored tokens, divided by their number."""
    return total(scores) / int(_scored(scores).sum())


def per_character(scores: TokenScores) -> float:
    """Return the sum over the scored tokens, divided by the number of characters in them that are not spaces."""
    covered = np.zeros(len(scores.text), dtype=bool)  # a character may be in several tokens, byte by byte
    for start, stop in scores.spans[_scored(scores)]:
        covered[start:stop] = True
    letters = np.array([not character.isspace() for character in scores.text])
    return total(scores) / int((covered & letters).sum())


SCORES: dict[str, Score] = {"sum": total, "per_token": per_token, "per_character": per_character}
"""The scores of a whole text by their names."""
CONTEXT_SCORES = ("given_context", "pmi")
"""The names of the scores of what follows a context; a pair without a context has none."""


@dataclass(frozen=True, eq=False)
class Part:
    """The end of a text.

    Attributes:
        scores: The whole text.
        start: The character at which the part begins.
    """

    scores: TokenScores
    start: int

    @property
    def text(self) -> str:
        """The part itself."""
        return self.scores.text[self.start :]

    @property
    def tokens(self) -> NDArray[np.bool_]:
        """Which tokens belong to the part, shape (tokens,): those whose last character is in it."""
        return np.asarray(self.scores.spans[:, 1] > self.start)


def part_after(context: str, continuation: str, texts: ScoresOfTexts) -> Part:
    """Return a continuation as the part of the text that it makes with its context.

    The part begins at the first character that is not a space. The space before it belongs to its first token, or to
    none.

    Args:
        context: What comes first; "" for nothing.
        continuation: How the text continues.
        texts: The scored texts.

    Raises:
        DataError: The text was not scored.
    """
    text = context + continuation
    if text not in texts:
        raise DataError(
            f"{text!r} has no scores; either it was not scored, so run the measuring stage again; or it is a single "
            "token with nothing before it, which a causal model cannot score, so take bos: add"
        )
    return Part(texts[text], len(text) - len(continuation.lstrip()))


def given_context(part: Part) -> float:
    """Return the sum over the tokens of a part.

    Raises:
        DataError: One of them was not scored, or there is none.
    """
    if not part.tokens.any() or np.isnan(part.scores.log_probs[part.tokens]).any():
        raise DataError(
            f"{part.scores.text!r}: not every token from character {part.start} on has a score; a causal model "
            "has none for the first token of a text unless something precedes it: take bos: add"
        )
    return float(np.sum(part.scores.log_probs[part.tokens]))


def pmi(part: Part, elsewhere: Part) -> float:
    """Return by how much its context raises the log-probability of a part.

    Args:
        part: The part after its context.
        elsewhere: The same part as a text of its own, or after a context that says nothing about it.

    Raises:
        DataError: A token was not scored (bos: none leaves the first of each text unscored), or the parts differ.
    """
    if part.text != elsewhere.text:
        raise DataError(f"{part.text!r} and {elsewhere.text!r} are not the same part of two texts")
    return given_context(part) - given_context(elsewhere)


def score_part(name: str, part: Part, elsewhere: Part | None = None) -> float:
    """Return the score of a part, such as an answer, given what precedes it.

    Args:
        name: "sum", "per_token" or "per_character", over the tokens or characters of the part; or "pmi".
        part: The part after its context.
        elsewhere: See `pmi`, which alone needs it.

    Raises:
        DataError: A token of the part was not scored, the score is unknown, or see `pmi`.
    """
    match name:
        case "sum":
            return given_context(part)
        case "per_token":
            return given_context(part) / int(part.tokens.sum())
        case "per_character":
            return given_context(part) / len("".join(part.text.split()))
        case "pmi" if elsewhere is not None:
            return pmi(part, elsewhere)
    raise DataError(
        f"'{name}' is not a score of a part (allowed: {', '.join(SCORES)}, and pmi if the part is given twice)"
    )


def texts_by_scheme(tokens: Iterable[TokenScores]) -> dict[str, dict[str, TokenScores]]:
    """Return scored texts by the scheme under which the model was asked, and by text."""
    schemes: dict[str, dict[str, TokenScores]] = {}
    for scores in tokens:
        schemes.setdefault(scores.scheme, {})[scores.text] = scores
    return schemes


def score_pairs(pairs: pd.DataFrame, schemes: Mapping[str, ScoresOfTexts], names: Sequence[str]) -> pd.DataFrame:
    """Score both members of each pair under every scheme.

    Args:
        pairs: Columns id, context, good and bad; a member is the context directly followed by its continuation.
        schemes: Scheme -> the scored texts: the members; for "pmi" also the continuations alone, without the space
            before them.
        names: The scores by name.

    Returns:
        One row a pair, scheme and score: id, scheme, score, good, bad (nats; a mean of nats where the score says so)
        and margin, good less bad. "given_context" and "pmi" have no row for a pair without a context.

    Raises:
        DataError: A text or a token that a score needs was not scored, or a score is not finite; the message names the
            pair and the score.
    """
    rows = [
        (id_, scheme, name, *(_score(f"pair {id_}", name, context, end, texts) for end in members))
        for scheme, texts in schemes.items()
        for name in names
        for id_, context, *members in pairs[["id", "context", "good", "bad"]].itertuples(index=False, name=None)
        if context or name not in CONTEXT_SCORES
    ]
    table = pd.DataFrame(rows, columns=["id", "scheme", "score", "good", "bad"])
    table["margin"] = table["good"] - table["bad"]
    for id_, _, name, good, bad, _ in table[~np.isfinite(table["margin"])].itertuples(index=False, name=None):
        raise DataError(
            f"pair {id_}, {name}: a score is not finite ({good}, {bad}); score it again, with dtype: float32 if the "
            "model ran in another precision"
        )
    return table


def _score(place: str, name: str, context: str, continuation: str, texts: ScoresOfTexts) -> float:
    try:
        part = part_after(context, continuation, texts)
        if name == "given_context":
            return given_context(part)
        if name == "pmi":
            return pmi(part, part_after("", continuation.lstrip(), texts))
        return SCORES[name](part.scores)
    except DataError as fault:
        raise DataError(f"{place}, {name}: {fault}; or leave {name} out of judge_pairs.scores") from fault


def _scored(scores: TokenScores) -> NDArray[np.bool_]:
    scored = ~np.isnan(scores.log_probs)
    if not scored.any():
        raise DataError(f"{scores.text!r} has no scored token")
    return scored
