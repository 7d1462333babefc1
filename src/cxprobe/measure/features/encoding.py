"""From sentences to the tensors of a batch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from cxprobe.errors import DataError
from cxprobe.models import Encoder


class Tokens(NamedTuple):
    """A tokenised sentence.

    Attributes:
        id: Names the sentence.
        ids: The token ids, special tokens included.
        counted: Which of them count in the mean.
    """

    id: str
    ids: list[int]
    counted: list[bool]


class Batch(NamedTuple):
    """One batch as the model takes it.

    Attributes:
        number: The batch's place in the plan.
        input_ids: Shape (sentences, tokens).
        attention_mask: Shape (sentences, tokens), or None if there is no padding: models are faster without one.
        counted: Shape (sentences, tokens), True for the tokens in the mean.
    """

    number: int
    input_ids: Tensor
    attention_mask: Tensor | None
    counted: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device."""
        mask = None if self.attention_mask is None else self.attention_mask.to(device)
        return Batch(self.number, self.input_ids.to(device), mask, self.counted.to(device))


def tokenise(encoder: Encoder, ids: Sequence[str], texts: Sequence[str], *, special_tokens: bool) -> list[Tokens]:
    """Tokenise sentences, and mark the tokens that count in the mean.

    Args:
        encoder: The model whose tokenizer is used.
        ids: Names of the sentences.
        texts: The sentences.
        special_tokens: Whether [CLS], [SEP] and the like count.

    Raises:
        DataError: A sentence is longer than the model's longest input (nothing is ever truncated), or no token counts.
    """
    encoded = encoder.tokenizer(list(texts), return_special_tokens_mask=True, verbose=False)
    tokens = [
        Tokens(id_, row, [special_tokens or not special for special in specials])
        for id_, row, specials in zip(ids, encoded["input_ids"], encoded["special_tokens_mask"], strict=True)
    ]
    for sentence in tokens:
        if len(sentence.ids) > encoder.max_tokens:
            raise DataError(
                f"sentence {sentence.id} has {len(sentence.ids)} tokens, the model takes {encoder.max_tokens}; "
                "leave it out, or take a model with longer inputs"
            )
        if not any(sentence.counted):
            raise DataError(f"sentence {sentence.id} has no token that counts in the mean; is its text empty?")
    return tokens


def collate(number: int, rows: Sequence[Tokens], pad: int) -> Batch:
    """Pad sentences on the right to a batch.

    Args:
        number: The batch's place in the plan.
        rows: Its sentences.
        pad: The id of the padding token.
    """
    shape = len(rows), max(len(row.ids) for row in rows)
    input_ids = np.full(shape, pad)
    attended, counted = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    for place, row in enumerate(rows):
        input_ids[place, : len(row.ids)] = row.ids
        attended[place, : len(row.ids)] = 1
        counted[place, : len(row.ids)] = row.counted
    mask = None if attended.all() else torch.from_numpy(attended)
    return Batch(number, torch.from_numpy(input_ids), mask, torch.from_numpy(counted))
