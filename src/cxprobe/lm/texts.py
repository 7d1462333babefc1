"""Texts that a model scores: minimal pairs, answers, and the scores of their tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scheme = Literal["causal", "pll", "pll_word_l2r"]
Bos = Literal["as_tokenizer", "add", "none"]


@dataclass(frozen=True, eq=False)
class TokenScores:
    """How probable a model finds each token of a text; special tokens are none of the text's.

    Attributes:
        text: The text.
        scheme: How the tokens were scored: "causal", given what stands before; "pll", given all others; or
            "pll_word_l2r", given all others but those after it in its own word.
        ids: Shape (tokens,): the tokens in the model's vocabulary.
        spans: Shape (tokens, 2): the first character of each token and the one after its last.
        words: Shape (tokens,): the number of the word that a token belongs to.
        log_probs: Shape (tokens,): natural logarithms, at most 0; NaN for a token without a score, and for no other.
    """

    text: str
    scheme: Scheme
    ids: NDArray[np.int32]
    spans: NDArray[np.int64]
    words: NDArray[np.int64]
    log_probs: NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two texts that differ minimally, the right one and the wrong one, with what they share in front.

    A text is the context directly followed by the continuation, which therefore begins with its own space where there
    is a context. Pairs with one context can share its computation.

    Attributes:
        id: Names the pair by its groups and texts, so the same pair keeps its id in every run.
        item: Names what the pair is made of; the members of an item ask about the same thing in several ways.
        context: What comes first; "" for nothing.
        good: How the right text goes on.
        bad: How the wrong text goes on.
        groups: What the pair is reported under: "variant" -> "A".
        clusters: What it shares with other pairs, for intervals: "frame" -> which.
    """

    id: str
    item: str
    context: str
    good: str
    bad: str
    groups: Mapping[str, str]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """A text that goes on with one of several answers.

    Attributes:
        id: Names the question.
        context: What stands before the answer.
        answers: Each answer's symbol -> how the text goes on with it; it begins with its own space.
        anywhere: What may stand before these answers where nothing is known of the question, so that answers which are
            frequent as such can be told from those that fit.
    """

    id: str
    context: str
    answers: Mapping[str, str]
    anywhere: str
