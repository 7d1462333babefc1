"""Tables of scores: of words, of tokens and of sentences."""

import re
from collections.abc import Sequence
from math import log

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.lm.scores import per_character, per_token, total
from cxprobe.lm.texts import TokenScores

_WORD = re.compile(r"\S+")


def surprisal_by_token(scores: Sequence[TokenScores]) -> pd.DataFrame:
    """Return one row a token: sentence, position, word, token, surprisal in bits, log_probability in nats.

    Args:
        scores: One record a sentence.
    """
    tables = []
    for sentence, one in enumerate(scores):
        words, positions = words_of(one)
        tokens = [one.text[start:stop] for start, stop in one.spans]
        columns = {"position": positions, "word": [words[place] for place in positions], "token": tokens}
        tables.append(pd.DataFrame({"sentence": sentence, **columns, **_numbers(one.log_probs)}))
    return pd.concat(tables, ignore_index=True)


def surprisal_by_word(scores: Sequence[TokenScores]) -> pd.DataFrame:
    """Return one row a word: sentence, position, word, tokens, surprisal in bits, log_probability in nats.

    A word with a token that has no score has none either.

    Args:
        scores: One record a sentence.
    """
    tables = []
    for sentence, one in enumerate(scores):
        words, positions = words_of(one)
        tokens = np.bincount(positions, minlength=len(words))  # (words,)
        sums = np.where(tokens > 0, np.bincount(positions, one.log_probs, len(words)), np.nan)  # (words,)
        columns = {"position": np.arange(len(words)), "word": words, "tokens": tokens}
        tables.append(pd.DataFrame({"sentence": sentence, **columns, **_numbers(sums)}))
    return pd.concat(tables, ignore_index=True)


def score_table(scores: Sequence[TokenScores]) -> pd.DataFrame:
    """Return one row a sentence: sentence, sum, per_token, per_character, tokens.

    Args:
        scores: One record a sentence.
    """
    return pd.DataFrame(
        {
            "sentence": [one.text for one in scores],
            "sum": [total(one) for one in scores],
            "per_token": [per_token(one) for one in scores],
            "per_character": [per_character(one) for one in scores],
            "tokens": [int(np.isfinite(one.log_probs).sum()) for one in scores],
        }
    )


def words_of(scores: TokenScores) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of a sentence, and for each token the position of its word, shape (tokens,).

    A token belongs to the word of its last character; one that covers only spaces belongs to the word that follows, or
    at the end of the sentence to the last.
    """
    found = list(_WORD.finditer(scores.text))
    last = np.maximum(scores.spans[:, 1] - 1, scores.spans[:, 0])  # (tokens,)
    positions = np.searchsorted([word.end() for word in found], last, side="right")
    return [word.group() for word in found], np.minimum(positions, len(found) - 1)


def _numbers(log_probabilities: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return natural logarithms as surprisals in bits, and as they are."""
    return {"surprisal": -log_probabilities / log(2), "log_probability": log_probabilities}
