"""Masked inputs: what a masked model is asked, each distinct input once, in batches.

A batch holds inputs of one length, so nothing is padded and no attention mask is needed; a masked copy that several
texts share is computed once; the head is applied at the masks only.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.language_models import MaskedLM
from cxprobe.lm.logits import log_probabilities, logits_at
from cxprobe.lm.store import Answers, Batch, Found, key_of
from cxprobe.lm.texts import TokenScores
from cxprobe.lm.tokens import Encoded, encode, refuse_too_long


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


_PORTION = 2048  # texts whose masked copies are in memory at once

MaskedScheme = Literal["pll", "pll_word_l2r"]


def pll_token_scores(
    model: MaskedLM,
    texts: Sequence[str],
    *,
    scheme: MaskedScheme,
    token_budget: int,
    spans: Sequence[tuple[int, int]] | None = None,
) -> list[TokenScores]:
    """Score each token of texts by masking it.

    Under "pll" only the token is masked (Salazar et al. 2020); under "pll_word_l2r" those after it in its own word
    are masked too, so that the end of a word does not reveal its beginning (Kauf & Ivanova 2023). `encode` defines
    words.

    Args:
        model: The model.
        texts: Whole texts.
        scheme: What is masked.
        token_budget: The most tokens in a batch.
        spans: The characters of each text whose tokens are scored, as (first, after the last); None for all.

    Returns:
        One record a text, in their order.

    Raises:
        DataError: Before anything is computed: a text has no token to score, is too long, or contains the model's
            mask token. Afterwards: a number is not finite.
    """
    answers = Answers()
    sections = masked_sections(model, texts, scheme=scheme, token_budget=token_budget, spans=spans)
    return [one for section in sections for one in section.records(answers.to(section))]


def masked_sections(
    model: MaskedLM,
    texts: Sequence[str],
    *,
    scheme: MaskedScheme,
    token_budget: int,
    spans: Sequence[tuple[int, int]] | None = None,
) -> Iterator["MaskedSection"]:
    """Yield what a model is asked to score texts, in portions; arguments and errors are those of `pll_token_scores`."""
    encoded = encode_inputs(model, texts)
    if spans is None:
        spans = [(0, len(text)) for text in texts]
    wanted = [_inside(one, span) for one, span in zip(encoded, spans, strict=True)]
    _refuse_masks(encoded, model.tokenizer.mask_token_id)
    for start in range(0, len(texts), _PORTION):
        portion = slice(start, start + _PORTION)
        yield MaskedSection(model, encoded[portion], wanted[portion], scheme, token_budget)


class MaskedSection:
    """The questions about the tokens of some texts.

    Attributes:
        texts: How many texts there are.
    """

    def __init__(
        self,
        model: MaskedLM,
        encoded: Sequence[Encoded],
        wanted: Sequence[NDArray[np.int64]],
        scheme: MaskedScheme,
        token_budget: int,
    ) -> None:
        """Ask about all tokens.

        Args:
            model: The model.
            encoded: The texts.
            wanted: The tokens of each that are scored.
            scheme: What is masked.
            token_budget: The most tokens in a batch.
        """
        self.texts = len(encoded)
        self._encoded, self._wanted, self._scheme = encoded, wanted, scheme
        self._inputs = MaskedInputs(model, token_budget)
        for one, tokens in zip(encoded, wanted, strict=True):
            _ask_tokens(self._inputs, one, tokens, scheme)

    @property
    def keys(self) -> list[bytes]:
        """The key of each distinct question."""
        return list(self._inputs.places)

    def batches(self, own: Sequence[bytes]) -> list[Batch]:
        """Return the batches of some questions."""
        return self._inputs.batches(own)

    def records(self, found: Found) -> Iterator[TokenScores]:
        """Yield the scores of each text.

        Raises:
            DataError: A number is not finite.
        """
        return _records(self._encoded, self._wanted, self._scheme, numbers_of(self._inputs.keys, found))


def _ask_tokens(inputs: MaskedInputs, one: Encoded, tokens: NDArray[np.int64], scheme: MaskedScheme) -> None:
    """Ask how probable some tokens of a text are."""
    for token in tokens:
        masked = np.array([token])
        if scheme == "pll_word_l2r":
            masked = token + np.flatnonzero(one.words[token:] == one.words[token])
        inputs.ask(one.ids, one.first + masked, int(one.own[token]))


def _records(
    encoded: Sequence[Encoded],
    wanted: Sequence[NDArray[np.int64]],
    scheme: MaskedScheme,
    numbers: NDArray[np.float64],
) -> Iterator[TokenScores]:
    """Yield the scores of each text, of the numbers of all of them."""
    refuse_not_finite(numbers, [one.text for one, tokens in zip(encoded, wanted, strict=True) for _ in tokens])
    ends = np.cumsum([len(tokens) for tokens in wanted])
    for one, tokens, found in zip(encoded, wanted, np.split(numbers, ends[:-1]), strict=True):
        log_probs = np.full(len(one.spans), np.nan)
        log_probs[tokens] = found
        yield TokenScores(one.text, scheme, one.own, one.spans, one.words, log_probs)


def _inside(one: Encoded, span: tuple[int, int]) -> NDArray[np.int64]:
    """Return the tokens of a text whose last character is inside a span."""
    last = one.spans[:, 1] - 1
    tokens = np.flatnonzero((last >= span[0]) & (last < span[1]))
    if not len(tokens):
        raise DataError(f"{one.text!r} has no token in its characters {span[0]} to {span[1]}")
    return tokens


def _refuse_masks(encoded: Sequence[Encoded], mask: int) -> None:
    for one in encoded:
        if mask in one.ids:
            raise DataError(f"{one.text!r} contains the model's mask token; whole texts are scored, so remove it")
