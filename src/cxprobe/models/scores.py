"""From the log-probabilities of tokens to scores of texts and of pairs, by name.

All scores are in natural logarithms and of scored tokens only. Of a whole text: ``sum``; ``per_token`` and
``per_character``, the sum divided by the number of tokens, or of characters that are not spaces. Of the part of a text
that follows a context: ``given_context``, the sum over that part. Where a token has letters on both sides of the end of
a context, the part begins with this token in both texts of a pair, so that equal parts are compared. What each token is
conditioned on depends on the scheme under which the model was asked.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError

SCORES = ("sum", "per_token", "per_character")
"""The names of the scores of a whole text, or of a part of one."""
GIVEN_CONTEXT = "given_context"
"""The name of the score of what follows a context; a pair without a context has none."""


def score_pairs(pairs: pd.DataFrame, tokens: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Score both members of each pair under every scheme.

    Args:
        pairs: Columns id, context, good and bad; a member is the context directly followed by its continuation.
        tokens: The scored texts, see `cxprobe.models.texts.token_table`.
        names: The scores by name.

    Returns:
        One row a pair, scheme and score: id, scheme, score, good, bad (nats; a mean of nats where the score says so)
        and margin, good less bad. "given_context" has no row for a pair without a context.

    Raises:
        DataError: A text or a token that a score needs was not scored, or a score is not finite; the message names the
            pair and the score.
    """
    if tokens.empty:
        raise DataError("no text has scores; run the measuring stage again")
    contexts = pairs["context"]
    tables = []
    for scheme, of_scheme in tokens.groupby("scheme", sort=False):
        texts = ScoredTexts(of_scheme)
        whole = texts.whole()
        scores = {}
        starts = _equal_starts(texts, contexts, pairs["good"], pairs["bad"])
        for member, start in zip(("good", "bad"), starts, strict=True):
            ends = pairs[member]
            of_texts = whole.reindex(contexts + ends).set_index(pairs.index)
            scores[member] = of_texts.assign(given_context=texts.sums_from(contexts + ends, start))
        for name in names:
            good, bad = scores["good"][name], scores["bad"][name]
            table = pairs[["id"]].assign(scheme=scheme, score=name, good=good, bad=bad)
            tables.append(table[contexts != ""] if name == GIVEN_CONTEXT else table)
    table = pd.concat(tables, ignore_index=True)
    table["margin"] = table["good"] - table["bad"]
    for id_, _, name, *values, _ in table[~np.isfinite(table["margin"])].itertuples(index=False, name=None):
        raise no_score(f"pair {id_}, {name}", values, "leave the pair out")
    return table


def _equal_starts(texts: "ScoredTexts", contexts: "pd.Series[str]", *ends: "pd.Series[str]") -> list[NDArray[np.int64]]:
    """Return where the parts of the two texts of each pair begin: at their ends, or at a token that goes across."""
    wholes = [contexts + end for end in ends]
    starts = np.array([whole.str.len() - end.str.lstrip().str.len() for whole, end in zip(wholes, ends, strict=True)])
    while True:
        found = np.array([texts.begun_before(whole, start) for whole, start in zip(wholes, starts, strict=True)])
        is_across = (found < starts).any(axis=0)  # (pairs,)
        if not is_across.any():
            return [*starts]
        starts = np.where(is_across, found.min(axis=0), starts)


def no_score(place: str, values: Sequence[float], remedy: str) -> DataError:
    """Return the error that a score is no finite number.

    Args:
        place: Which score of what.
        values: The score, or those that are compared: NaN where a token was not scored.
        remedy: What else can be done, such as to leave the score out.
    """
    what = (
        "not every token has a score: run the measuring stage again; a causal model has none for the first token of a "
        f"text unless something precedes it: take bos: add, or {remedy}"
        if np.isnan(values).any()
        else f"a score is not finite ({', '.join(map(str, values))}); score it again, with dtype: float32 if the model "
        "ran in another precision"
    )
    return DataError(f"{place}: {what}")


class ScoredTexts:
    """The texts that were scored under one scheme, all tokens one after the other, so that all are summed at once.

    Each sum is exactly the number that `np.sum` gives for the tokens of one text.

    Args:
        tokens: The scored texts, see `cxprobe.models.texts.token_table`; of those that are there twice the last one
            counts.
    """

    def __init__(self, tokens: pd.DataFrame) -> None:
        texts = tokens.drop_duplicates("text", keep="last")
        self._texts = pd.Index(texts["text"])
        self._log_probs = np.concatenate(texts["log_probs"].tolist()).astype(np.float64)  # (tokens,)
        self._starts = np.concatenate(texts["starts"].tolist()).astype(np.int64)  # (tokens,)
        self._stops = np.concatenate(texts["stops"].tolist()).astype(np.int64)  # (tokens,)
        self._lengths = texts["log_probs"].map(len).to_numpy()  # (texts,)

    def whole(self) -> pd.DataFrame:
        """Return the scores of each text by their names, over its scored tokens, whose number is in the column tokens.

        Returns:
            One row a text, which is the index; NaN for a text without a scored token.
        """
        texts = np.arange(len(self._texts))
        scored = ~np.isnan(self._log_probs)
        counts = np.bincount(np.repeat(texts, self._lengths)[scored], minlength=len(texts))
        lengths = self._texts.str.len().to_numpy()
        first = np.repeat(np.cumsum(lengths) - lengths, self._lengths)[scored]  # where each token's text begins
        begun = np.bincount(first + self._starts[scored], minlength=lengths.sum() + 1)  # (characters + 1,)
        ended = np.bincount(first + self._stops[scored], minlength=lengths.sum() + 1)
        covered = np.cumsum(begun - ended)[:-1] > 0  # (characters,); one may be in several tokens, byte by byte
        is_letter = np.array([not character.isspace() for character in "".join(self._texts)], dtype=bool)
        letters = np.bincount(np.repeat(texts, lengths)[covered & is_letter], minlength=len(texts))
        sums = pd.Series(_sums_of_runs(self._log_probs[scored], counts), self._texts)
        scores = {"sum": sums, "per_token": sums / counts, "per_character": sums / letters}
        return pd.DataFrame(scores).assign(tokens=counts)

    def _tokens_of(self, whole: "pd.Series[str]") -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the position in ``whole`` of the text of each token, and the number of the token."""
        texts = self._texts.get_indexer(whole)  # (texts,), -1 for a text that was not scored
        lengths = np.append(self._lengths, 0)[texts]
        owners = np.repeat(np.arange(len(texts)), lengths)  # (tokens of these texts,)
        firsts = np.append(np.cumsum(self._lengths) - self._lengths, 0)[texts]
        return owners, np.arange(len(owners)) - (np.cumsum(lengths) - lengths - firsts)[owners]

    def begun_before(self, whole: "pd.Series[str]", starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first character of the token that has letters on both sides of a character; else that character.

        Args:
            whole: The texts.
            starts: Shape (texts,): the characters.
        """
        owners, tokens = self._tokens_of(whole)
        edges = np.array([len(text[:start].rstrip()) for text, start in zip(whole, starts, strict=True)])  # (texts,)
        is_across = (self._starts[tokens] < edges[owners]) & (self._stops[tokens] > starts[owners])
        found = starts.copy()
        np.minimum.at(found, owners[is_across], self._starts[tokens[is_across]])
        return found

    def sums_from(self, whole: "pd.Series[str]", starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum over the tokens of each text from a character on, to which a token's last one belongs.

        Args:
            whole: The texts.
            starts: Shape (texts,): the characters, no spaces.

        Returns:
            Shape (texts,); NaN where the text, or a token of the part, was not scored.
        """
        owners, tokens = self._tokens_of(whole)
        inside = self._stops[tokens] > starts[owners]
        counts = np.bincount(owners[inside], minlength=len(whole))
        return _sums_of_runs(self._log_probs[tokens[inside]], counts)


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
