"""Masked inputs: what a masked model is asked, each distinct input once, and its answers.

A batch holds inputs of one length, so nothing is padded and no attention mask is needed; a masked copy that several
texts share is computed once; the head is applied at the masks only.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.measure.likelihood.counting import Progress
from cxprobe.measure.likelihood.logits import log_probabilities, logits_at
from cxprobe.measure.likelihood.tokens import Encoded, encode, refuse_too_long
from cxprobe.models import MaskedLM
from cxprobe.storage import AnswerStore, key_of


class MaskedInputs:
    """Masked inputs, each distinct one kept once, and the tokens whose probability is asked for at their first mask."""

    def __init__(self, mask: int) -> None:
        """Begin without any.

        Args:
            mask: The id of the mask token.
        """
        self._mask = mask
        self._numbers: dict[bytes, int] = {}
        self._first_mask: list[int] = []
        self._asked: list[int] = []
        self._targets: list[int] = []

    def ask(self, ids: NDArray[np.int32], masked: NDArray[np.int64], target: int) -> int:
        """Ask how probable a token is at the first of the masked positions; return the number of the input."""
        copy = ids.copy()
        copy[masked] = self._mask
        number = self._numbers.setdefault(copy.tobytes(), len(self._numbers))
        if number == len(self._first_mask):
            self._first_mask.append(int(masked[0]))
        self._asked.append(number)
        self._targets.append(target)
        return number

    def answer(
        self, model: MaskedLM, token_budget: int, store: AnswerStore | None, report: Progress
    ) -> NDArray[np.float64]:
        """Return the natural logarithm of each probability, in the order of asking.

        Args:
            model: The model.
            token_budget: The most tokens in a batch.
            store: Where earlier answers are looked up and new ones kept.
            report: Is told how many of those asked have been answered.
        """
        numbers = np.full(len(self._asked), np.nan)
        keys = [] if store is None else self._keys()
        known = {} if store is None else store.find(keys)
        for place, key in enumerate(keys):
            if key in known:
                numbers[place] = known[key][0]
        missing = np.flatnonzero(np.isnan(numbers))
        report(len(numbers) - len(missing))
        model.model.eval()
        for places, found in self._compute(model, missing, token_budget):
            numbers[places] = found
            if store is not None:
                store.add({keys[place]: numbers[place : place + 1] for place in places.tolist()})
            report(len(places))
        return numbers

    def _keys(self) -> list[bytes]:
        """Return the key of each question: the input, where its first mask is, and the token asked for there."""
        inputs = [np.frombuffer(key, dtype=np.int32) for key in self._numbers]
        return [
            key_of(inputs[number], np.array([self._first_mask[number], target], dtype=np.int32))
            for number, target in zip(self._asked, self._targets, strict=True)
        ]

    def _compute(
        self, model: MaskedLM, missing: NDArray[np.int64], token_budget: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Yield for each batch the places of its questions and their answers.

        Args:
            model: The model.
            missing: Shape (n,): the places of the questions to answer, in the order of asking.
            token_budget: The most tokens in a batch.
        """
        asked, targets = np.array(self._asked, dtype=np.int64)[missing], np.array(self._targets, dtype=np.int64)
        order = np.argsort(asked, kind="stable")
        every = list(self._numbers)
        needed = np.unique(asked)
        inputs = [np.frombuffer(every[number], dtype=np.int32) for number in needed]
        for batch in equal_length_batches([len(one) for one in inputs], token_budget):
            input_ids = torch.from_numpy(np.stack([inputs[place] for place in batch])).long()  # (batch, length)
            masks = torch.tensor([self._first_mask[number] for number in needed[batch]])  # (batch,)
            with torch.inference_mode():
                logits, _ = logits_at(model.model, input_ids, torch.arange(len(batch)), masks)  # (batch, vocabulary)
                low, high = (np.searchsorted(asked, needed[batch], side, order) for side in ("left", "right"))
                places = missing[np.concatenate([order[a:b] for a, b in zip(low, high, strict=True)])]  # (m,)
                rows = np.repeat(np.arange(len(batch)), high - low)  # (m,)
                found = log_probabilities(logits, torch.from_numpy(rows), torch.from_numpy(targets[places]))
            yield places, found


def equal_length_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group inputs of one length, the longest first, so that no batch is larger than the budget.

    Args:
        lengths: Tokens of each input.
        budget: The most tokens in a batch; a longer input makes a batch of its own.

    Returns:
        Positions in ``lengths``; each occurs exactly once.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()
    batches = []
    for length, group in groupby(order, key=lambda position: lengths[position]):
        positions, rows = list(group), max(1, budget // length)
        batches += [positions[start : start + rows] for start in range(0, len(positions), rows)]
    return batches


def encode_inputs(model: MaskedLM, texts: Sequence[str]) -> list[Encoded]:
    """Tokenise whole texts with the special tokens of the model.

    Raises:
        DataError: A text has no token, or more than the model takes.
    """
    encoded = encode(model.tokenizer, texts, special_tokens=True)
    for one in encoded:
        refuse_too_long(one.text, len(one.ids), model.max_tokens)
    return encoded


def refuse_not_finite(numbers: NDArray[np.float64], texts: Sequence[str]) -> None:
    """Refuse numbers that are NaN or infinite.

    Args:
        numbers: Shape (n,).
        texts: The text that each of them belongs to.

    Raises:
        DataError: With the text of the first such number.
    """
    for position in np.flatnonzero(~np.isfinite(numbers)).tolist():
        raise DataError(f"{texts[position]!r}: the model gave a number that is not finite; try dtype: float32")
