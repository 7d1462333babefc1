"""Sentences -> token ids, many at a time."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

_PORTION = 2000  # records tokenised at one time


def encode_records(tokenizer: Tokenizer, records: Iterable[Sequence[str]]) -> Iterator[list[list[int]]]:
    """Yield the token ids of each record's sentences, without special tokens.

    Args:
        tokenizer: The tokenizer itself, not Hugging Face's shell around it.
        records: The sentences of each record, in order.
    """
    waiting = iter(records)
    while portion := list(islice(waiting, _PORTION)):
        sentences = [sentence for record in portion for sentence in record]
        encoded = iter(tokenizer.encode_batch_fast(sentences, add_special_tokens=False))
        for record in portion:
            yield [next(encoded).ids for _ in record]


def count_pieces(records: Iterable[Sequence[list[int]]], size: int) -> NDArray[np.int64]:
    """Return how often each id occurs.

    Args:
        records: The token ids of each record's sentences.
        size: How many ids there are.

    Returns:
        Shape (size,).
    """
    counts = np.zeros(size, dtype=np.int64)
    for record in records:
        for ids in record:
            np.add.at(counts, ids, 1)
    return counts
