"""From the log-probabilities of tokens to scores of texts and of pairs, by name.

All scores are in natural logarithms and of scored tokens only. Of a whole text: ``sum``; ``per_token`` and
``per_character``, the sum divided by the number of tokens, or of characters that are not spaces. Of the part of a text
that follows a context: ``given_context``, the sum over that part; and ``pmi``, that less the same sum in another
context, or in none. What each token is conditioned on depends on the scheme under which the model was asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from cxprobe.errors import DataError
from cxprobe.lm.texts import TokenScores, token_scores_of

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


def score_pairs(pairs: pd.DataFrame, tokens: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Score both members of each pair under every scheme.

    Args:
        pairs: Columns id, context, good and bad; a member is the context directly followed by its continuation.
        tokens: The scored texts, see `cxprobe.lm.texts.token_table`: the members; for "pmi" also the continuations
            alone, without the space before them.
        names: The scores by name.

    Returns:
        One row a pair, scheme and score: id, scheme, score, good, bad (nats; a mean of nats where the score says so)
        and margin, good less bad. "given_context" and "pmi" have no row for a pair without a context.

    Raises:
        DataError: A text or a token that a score needs was not scored, or a score is not finite; the message names the
            pair and the score.
    """
    if tokens.empty:
        raise DataError("no text has scores; run the measuring stage again")
    tables = []
    for scheme, texts in tokens.drop_duplicates(["scheme", "text"], keep="last").groupby("scheme", sort=False):
        flat = _FlatTokens(texts)
        good, bad = (flat.scores(pairs["context"], pairs[member]) for member in ("good", "bad"))
        for name in names:
            table = pairs[["id"]].assign(scheme=scheme, score=name, good=good[name], bad=bad[name])
            tables.append(table[pairs["context"] != ""] if name in CONTEXT_SCORES else table)
    table = pd.concat(tables, ignore_index=True)
    table["margin"] = table["good"] - table["bad"]
    for id_, scheme, name, *values, _ in table[~np.isfinite(table["margin"])].itertuples(index=False, name=None):
        scored = {scores.text: scores for scores in token_scores_of(tokens[tokens["scheme"] == scheme])}
        _, context, *ends = pairs.loc[pairs["id"] == id_, ["id", "context", "good", "bad"]].iloc[0]
        for end in ends:
            _check_score(f"pair {id_}", name, context, end, scored)
        raise DataError(
            f"pair {id_}, {name}: a score is not finite ({values[0]}, {values[1]}); score it again, with dtype: "
            "float32 if the model ran in another precision"
        )
    return table


class _FlatTokens:
    """The tokens of all texts under one scheme, one text after the other, so that all scores are computed at once.

    Each score is exactly the number that the function of its name gives for one text.
    """

    def __init__(self, texts: pd.DataFrame) -> None:
        self._texts = pd.Index(texts["text"])
        self._log_probs = np.concatenate(texts["log_probs"].tolist()).astype(np.float64)  # (tokens,)
        self._starts = np.concatenate(texts["starts"].tolist()).astype(np.int64)  # (tokens,)
        self._stops = np.concatenate(texts["stops"].tolist()).astype(np.int64)  # (tokens,)
        self._lengths = texts["log_probs"].map(len).to_numpy()  # (texts,)

    def scores(self, contexts: pd.Series, ends: pd.Series) -> dict[str, NDArray[np.float64]]:
        """Return every score of each context with its end, shape (ends,); NaN where it cannot be computed."""
        alone = ends.str.lstrip()
        whole = self._texts.get_indexer(contexts + ends)  # (ends,), -1 for a text that was not scored
        sums, scored, letters = (np.append(numbers, np.nan)[whole] for numbers in self._of_texts())
        given = self._sums_from(whole, (contexts + ends).str.len() - alone.str.len())
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "sum": sums,
                "per_token": sums / scored,
                "per_character": sums / letters,
                "given_context": given,
                "pmi": given - self._sums_from(self._texts.get_indexer(alone), np.zeros(len(alone))),
            }

    def _of_texts(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Return of each text's scored tokens the sum, the number, and how many characters in them are no spaces."""
        texts = np.arange(len(self._texts))
        scored = ~np.isnan(self._log_probs)
        counts = np.bincount(np.repeat(texts, self._lengths)[scored], minlength=len(texts))
        lengths = self._texts.str.len().to_numpy()
        first = np.repeat(np.cumsum(lengths) - lengths, self._lengths)[scored]  # the place of each token's text
        begun = np.bincount(first + self._starts[scored], minlength=lengths.sum() + 1)  # (characters + 1,)
        ended = np.bincount(first + self._stops[scored], minlength=lengths.sum() + 1)
        covered = np.cumsum(begun - ended)[:-1] > 0  # (characters,); one may be in several tokens, byte by byte
        is_letter = np.array([not character.isspace() for character in "".join(self._texts)], dtype=bool)
        letters = np.bincount(np.repeat(texts, lengths)[covered & is_letter], minlength=len(texts))
        return _sums_of_runs(self._log_probs[scored], counts), counts, letters

    def _sums_from(self, texts: NDArray[np.int64], starts: ArrayLike) -> NDArray[np.float64]:
        """Return for each of some texts the sum over its tokens that end after a character; NaN without a score."""
        lengths = np.append(self._lengths, 0)[texts]
        owners = np.repeat(np.arange(len(texts)), lengths)  # (tokens of these texts,)
        firsts = np.append(np.cumsum(self._lengths) - self._lengths, 0)[texts]
        places = np.arange(len(owners)) - (np.cumsum(lengths) - lengths - firsts)[owners]
        inside = self._stops[places] > np.asarray(starts)[owners]
        return _sums_of_runs(self._log_probs[places[inside]], np.bincount(owners[inside], minlength=len(texts)))


def _sums_of_runs(numbers: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of each run of numbers, NaN for an empty run.

    Runs of one length are added as `np.sum` adds one of them. In another order of additions the last digit could
    differ, and with it whether two texts are tied.
    """
    sums = np.full(len(lengths), np.nan)
    starts = np.cumsum(lengths) - lengths
    for length in np.unique(lengths[lengths > 0]):
        runs = np.flatnonzero(lengths == length)
        sums[runs] = numbers[starts[runs, np.newaxis] + np.arange(length)].sum(axis=1)
    return sums


def _check_score(place: str, name: str, context: str, continuation: str, texts: ScoresOfTexts) -> None:
    """Raise what keeps a text from having a score, if anything does."""
    try:
        part = part_after(context, continuation, texts)
        if name == "given_context":
            given_context(part)
        elif name == "pmi":
            pmi(part, part_after("", continuation.lstrip(), texts))
        else:
            SCORES[name](part.scores)
    except DataError as fault:
        raise DataError(f"{place}, {name}: {fault}; or leave {name} out of pairs.judge.scores") from fault


def _scored(scores: TokenScores) -> NDArray[np.bool_]:
    scored = ~np.isnan(scores.log_probs)
    if not scored.any():
        raise DataError(f"{scores.text!r} has no scored token")
    return scored
