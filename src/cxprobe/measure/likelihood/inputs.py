"""Masked inputs: what a masked model is asked, each distinct input once, in batches.

A batch holds inputs of one length, so nothing is padded and no attention mask is needed; a masked copy that several
texts share is computed once; the head is applied at the masks only.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.measure.likelihood.answers import Batch, Found
from cxprobe.measure.likelihood.logits import log_probabilities, logits_at
from cxprobe.measure.likelihood.tokens import Encoded, encode, refuse_too_long
from cxprobe.models import MaskedLM
from cxprobe.storage import key_of


class MaskedInputs:
    """Masked inputs, each distinct one kept once, and the tokens whose probability is asked for at their first mask.

    Attributes:
        keys: Of each question, in the order of asking: the input, where its first mask is, and the token asked for.
        places: The key of each distinct question -> where it was asked first.
    """

    def __init__(self, model: MaskedLM, token_budget: int) -> None:
        """Begin without any.

        Args:
            model: The model.
            token_budget: The most tokens in a batch.
        """
        self.keys: list[bytes] = []
        self.places: dict[bytes, int] = {}
        self._model = model
        self._token_budget = token_budget
        self._numbers: dict[bytes, int] = {}
        self._first_mask: list[int] = []
        self._asked: list[int] = []
        self._targets: list[int] = []

    def ask(self, ids: NDArray[np.int32], masked: NDArray[np.int64], target: int) -> int:
        """Ask how probable a token is at the first of the masked positions; return the number of the input."""
        copy = ids.copy()
        copy[masked] = self._model.tokenizer.mask_token_id
        number = self._numbers.setdefault(copy.tobytes(), len(self._numbers))
        if number == len(self._first_mask):
            self._first_mask.append(int(masked[0]))
        self._asked.append(number)
        self._targets.append(target)
        key = key_of(copy, np.array([self._first_mask[number], target], dtype=np.int32))
        self.places.setdefault(key, len(self.keys))
        self.keys.append(key)
        return number

    def batches(self, own: Sequence[bytes]) -> list[Batch]:
        """Return the batches of some of the questions, each of which is in one of them.

        Args:
            own: Keys of at least one question; each once.
        """
        places = np.array([self.places[key] for key in own])  # (questions,)
        asked_of = np.array(self._asked)[places]
        order = np.argsort(asked_of, kind="stable")
        places = places[order]
        # The inputs of these questions, and which of the questions are about each.
        needed, starts = np.unique(asked_of[order], return_index=True)
        about = np.split(places, starts[1:])
        every = list(self._numbers)
        inputs = [np.frombuffer(every[number], dtype=np.int32) for number in needed]
        found = []
        for rows in equal_length_batches([len(one) for one in inputs], self._token_budget):
            asked = np.concatenate([about[row] for row in rows])
            counts = [len(about[row]) for row in rows]
            compute = partial(self._compute, [inputs[row] for row in rows], needed[rows], asked, counts)
            found.append(Batch([self.keys[place] for place in asked], compute))
        return found

    def _compute(
        self,
        inputs: Sequence[NDArray[np.int32]],
        numbers: NDArray[np.int64],
        asked: NDArray[np.int64],
        counts: Sequence[int],
        _wanted: Collection[bytes],
    ) -> Iterator[Found]:
        """Yield the answers to the questions of a batch.

        Args:
            inputs: Of the batch, all of one length.
            numbers: Shape (inputs,): their numbers.
            asked: Shape (questions,): the places of the questions, in the order of the inputs.
            counts: How many questions are about each input.
        """
        model = self._model.model.eval()
        input_ids = torch.from_numpy(np.stack(inputs)).long()  # (inputs, length)
        masks = torch.tensor([self._first_mask[number] for number in numbers])  # (inputs,)
        targets = torch.tensor([self._targets[place] for place in asked])  # (questions,)
        rows = torch.from_numpy(np.repeat(np.arange(len(inputs)), counts))  # (questions,)
        with torch.inference_mode():
            logits, _ = logits_at(model, input_ids, torch.arange(len(inputs)), masks)  # (inputs, vocabulary)
            found = log_probabilities(logits, rows, targets)
        yield {self.keys[place]: found[number : number + 1] for number, place in enumerate(asked.tolist())}


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


def numbers_of(keys: Sequence[bytes], found: Found) -> NDArray[np.float64]:
    """Return the answers, of one number each, in the order of their keys: shape (keys,)."""
    return np.array([found[key][0] for key in keys], dtype=np.float64)


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
