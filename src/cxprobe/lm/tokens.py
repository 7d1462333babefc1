"""From texts to tokens that know which characters and which word they stand for."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError

_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


class Encoded(NamedTuple):
    """A tokenised text.

    Attributes:
        text: The text.
        ids: Shape (length,): all ids, special tokens included.
        first: The place in ``ids`` of the text's first token.
        spans: Shape (tokens, 2): the characters of each token of the text.
        words: Shape (tokens,): the word of each token of the text.
    """

    text: str
    ids: NDArray[np.int32]
    first: int
    spans: NDArray[np.int64]
    words: NDArray[np.int64]

    @property
    def own(self) -> NDArray[np.int32]:
        """The ids of the text's own tokens, shape (tokens,)."""
        return self.ids[self.first : self.first + len(self.spans)]


def encode(tokenizer: Any, texts: Sequence[str], *, special_tokens: bool) -> list[Encoded]:
    """Tokenise whole texts.

    A word is a run of letters and digits, or any other single character except white space: the same for every model,
    and what BERT's basic tokenizer makes of a text. A token belongs to the word of its last character; a token that
    covers only white space belongs to the word that follows.

    Args:
        tokenizer: A fast tokenizer.
        texts: Whole texts, since the ids of a text are not those of its parts.
        special_tokens: Whether the tokenizer adds [CLS], [SEP] and the like.

    Raises:
        DataError: A text has no token.
    """
    if not texts:
        return []
    batch = tokenizer(
        list(texts),
        add_special_tokens=special_tokens,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        verbose=False,
    )
    columns = (batch["input_ids"], batch["offset_mapping"], batch["special_tokens_mask"])
    return [_encoded(text, *row) for text, *row in zip(texts, *columns, strict=True)]


def _encoded(text: str, ids: list[int], offsets: list[tuple[int, int]], special: list[int]) -> Encoded:
    own = [place for place, added in enumerate(special) if not added]
    if not own:
        raise DataError(f"{text!r} has no token that could be scored; is it empty?")
    spans = np.array([offsets[place] for place in own], dtype=np.int64)  # (tokens, 2)
    word_ends = [word.end() for word in _WORD.finditer(text)]
    words = np.searchsorted(word_ends, np.maximum(spans[:, 1] - 1, spans[:, 0]), side="right")
    return Encoded(text, np.array(ids, dtype=np.int32), own[0], spans, words)


def refuse_too_long(text: str, tokens: int, max_tokens: int) -> None:
    """Refuse a text that the model has no positions for; no text is ever truncated.

    Raises:
        DataError: It has more tokens than the model takes.
    """
    if tokens > max_tokens:
        raise DataError(
            f"{text!r} has {tokens} tokens, the model takes {max_tokens}; leave it out, or take a model with longer "
            "inputs"
        )
