"""The words of a text, with their places, as blind models read them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EVERY_WORD = r"(?u)\b\w+\b"  # for scikit-learn, whose own pattern ignores words of one letter
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Word(NamedTuple):
    """A word: what is written, its first character, and the one after its last."""

    text: str
    start: int
    stop: int


def words_of(text: str) -> list[Word]:
    """Return the words of a text, in their order.

    A word is a run of letters and digits, which apostrophes and hyphens may join: "can't", "well-known". Punctuation is
    none.
    """
    return [Word(match[0], *match.span()) for match in _WORD.finditer(text)]


def spans_of(words: Sequence[Word]) -> NDArray[np.int64]:
    """Return the characters of words, shape (words, 2): the first, and the one after the last."""
    return np.array([(word.start, word.stop) for word in words], dtype=np.int64).reshape(-1, 2)


def places_of(text: str, expression: str) -> list[int]:
    """Return where a word, or several words with spaces between them, begin in a text, in lower or upper case."""
    return [match.start() for match in re.finditer(rf"(?<!\w){re.escape(expression)}(?!\w)", text, re.IGNORECASE)]
