"""Masked models: words at a mask, and pseudo-log-likelihoods.

Inputs of one length make a batch, so nothing is padded and no attention mask is needed; a masked copy that several
texts have in common is computed once; the head is applied at the masks only.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.likelihood.logits import log_probabilities, logits_at
from cxprobe.likelihood.tokens import Encoded, encode, refuse_too_long
from cxprobe.models import MaskedLM
from cxprobe.records import TokenScores

MASK = "[MASK]"
_PORTION = 2048  # texts whose masked copies are in memory at once


def candidate_log_probabilities(
    model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], *, token_budget: int
) -> list[NDArray[np.float64]]:
    """Return how probable each candidate word is at the mask of its text.

    A candidate is tokenised inside its text and then masked, so what stands around the mask, blanks included, is
    what the model sees in running text, whatever its tokenizer does with blanks.

    Args:
        model: The model.
        texts: Each holds "[MASK]" once, whatever the model's own mask token looks like.
        candidates: The words to compare at the mask of each text.
        token_budget: The most tokens in a batch.

    Returns:
        For each text shape (candidates,): natural logarithms, normalised over the whole vocabulary.

    Raises:
        DataError: Before anything is computed: a text does not hold the mask once, is too long, a candidate is not
            one known token there, or candidates change the tokens around them. Afterwards: a number is not finite.
    """
    places = [
        _place(text, candidate) for text, own in zip(texts, candidates, strict=True) for candidate in own
    ]  # in the order of texts and, within them, of candidates
    inputs = _Inputs(model.tokenizer.mask_token_id)
    faults: list[str] = []
    asked: list[int] = []
    for start in range(0, len(places), _PORTION):
        for place, encoded in _encode_places(model, places[start : start + _PORTION]):
            token = _only_token(model, place, encoded)
            if token is None:
                faults.append(f"{place.word!r} in {place.text!r}")
            else:
                asked.append(inputs.ask(encoded.ids, np.array([token]), int(encoded.ids[token])))
    if faults:
        raise DataError(
            f"{len(faults)} candidates are not one known token of this model's tokenizer: {'; '.join(faults[:5])}; "
            "leave these items out (single_token_words tells which words can stay)"
        )
    ends = np.cumsum([len(own) for own in candidates], dtype=np.int64)[:-1]
    for text, own in zip(texts, np.split(asked, ends), strict=False):
        if len(set(own.tolist())) > 1:
            raise DataError(f"{text!r}: its candidates change the tokens around them, and cannot be compared")
    numbers = inputs.answer(model, token_budget)
    _refuse_not_finite(numbers, [place.text for place in places])
    return np.split(numbers, ends) if texts else []


def single_token_words(model: MaskedLM, words: Sequence[str], text: str) -> list[str]:
    """Return those words that are one known token of the model's tokenizer in a text's mask, in their order.

    Args:
        model: The model.
        words: The words to try.
        text: Holds "[MASK]" once.
    """
    tried = _encode_places(model, [_place(text, word) for word in words])
    return [place.word for place, encoded in tried if _only_token(model, place, encoded) is not None]


def pll_token_scores(
    model: MaskedLM,
    texts: Sequence[str],
    *,
    scheme: Literal["pll", "pll_word_l2r"],
    token_budget: int,
    spans: Sequence[tuple[int, int]] | None = None,
) -> list[TokenScores]:
    """Score each token of texts by masking it.

    Under "pll" only the token is masked (Salazar et al. 2020); under "pll_word_l2r" those after it in its own word
    are masked too, so that the end of a word does not give away its beginning (Kauf & Ivanova 2023). What a word is
    stands at `encode`.

    Args:
        model: The model.
        texts: Whole texts.
        scheme: What is masked.
        token_budget: The most tokens in a batch.
        spans: The characters of each text whose tokens are scored, as (first, after the last); None for all.

    Returns:
        One record a text, in their order.

    Raises:
        DataError: Before anything is computed: a text has no token to score, is too long, or holds the model's
            mask token. Afterwards: a number is not finite.
    """
    encoded = _encode(model, texts)
    if spans is None:
        spans = [(0, len(text)) for text in texts]
    wanted = [_inside(one, span) for one, span in zip(encoded, spans, strict=True)]
    _refuse_masks(encoded, model.tokenizer.mask_token_id)
    scores: list[TokenScores] = []
    for start in range(0, len(texts), _PORTION):
        portion = slice(start, start + _PORTION)
        scores += _score_portion(model, encoded[portion], wanted[portion], scheme, token_budget)
    return scores


def _score_portion(
    model: MaskedLM,
    encoded: Sequence[Encoded],
    wanted: Sequence[NDArray[np.int64]],
    scheme: Literal["pll", "pll_word_l2r"],
    token_budget: int,
) -> Iterator[TokenScores]:
    inputs = _Inputs(model.tokenizer.mask_token_id)
    for one, tokens in zip(encoded, wanted, strict=True):
        for token in tokens:
            masked = np.array([token])
            if scheme == "pll_word_l2r":
                masked = token + np.flatnonzero(one.words[token:] == one.words[token])
            inputs.ask(one.ids, one.first + masked, int(one.own[token]))
    numbers = inputs.answer(model, token_budget)
    _refuse_not_finite(numbers, [one.text for one, tokens in zip(encoded, wanted, strict=True) for _ in tokens])
    ends = np.cumsum([len(tokens) for tokens in wanted])
    for one, tokens, found in zip(encoded, wanted, np.split(numbers, ends[:-1]), strict=True):
        log_probs = np.full(len(one.spans), np.nan)
        log_probs[tokens] = found
        yield TokenScores(one.text, scheme, one.own, one.spans, one.words, log_probs)


class _Inputs:
    """Masked inputs, each distinct one kept once, and the tokens whose probability is asked for at their first mask."""

    def __init__(self, mask: int) -> None:
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

    def answer(self, model: MaskedLM, token_budget: int) -> NDArray[np.float64]:
        """Return the natural logarithm of each probability, in the order of asking."""
        inputs = [np.frombuffer(key, dtype=np.int32) for key in self._numbers]
        asked, targets = np.array(self._asked, dtype=np.int64), np.array(self._targets, dtype=np.int64)
        order = np.argsort(asked, kind="stable")
        numbers = np.empty(len(asked))
        model.model.eval()
        with torch.inference_mode():
            for batch in equal_length_batches([len(one) for one in inputs], token_budget):
                input_ids = torch.from_numpy(np.stack([inputs[number] for number in batch])).long()  # (batch, length)
                masks = torch.tensor([self._first_mask[number] for number in batch])  # (batch,)
                logits, _ = logits_at(model.model, input_ids, torch.arange(len(batch)), masks)  # (batch, vocabulary)
                low, high = np.searchsorted(asked, batch, sorter=order), np.searchsorted(asked, batch, "right", order)
                wanted = np.concatenate([order[a:b] for a, b in zip(low, high, strict=True)])  # (m,)
                rows = np.repeat(np.arange(len(batch)), high - low)  # (m,)
                numbers[wanted] = log_probabilities(logits, torch.from_numpy(rows), torch.from_numpy(targets[wanted]))
        return numbers


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


class _Place:
    """A word in the place of a text's mask."""

    def __init__(self, text: str, word: str) -> None:
        self.text = text
        self.word = word
        before, after = text.split(MASK)
        self.filled = before + word + after
        self.start = len(before.rstrip())  # the blanks before the word are a part of it for some tokenizers
        self.stop = len(before) + len(word)


def _place(text: str, word: str) -> _Place:
    if text.count(MASK) != 1:
        raise DataError(f"{text!r} holds {MASK} {text.count(MASK)} times; it must stand there once")
    return _Place(text, word)


def _encode_places(model: MaskedLM, places: Sequence[_Place]) -> Iterator[tuple[_Place, Encoded]]:
    return zip(places, _encode(model, [place.filled for place in places]), strict=True)


def _encode(model: MaskedLM, texts: Sequence[str]) -> list[Encoded]:
    encoded = encode(model.tokenizer, texts, special_tokens=True)
    for one in encoded:
        refuse_too_long(one.text, len(one.ids), model.max_tokens)
    return encoded


def _only_token(model: MaskedLM, place: _Place, encoded: Encoded) -> int | None:
    """Return the place in ``ids`` of the one token that a word is, or None if it is several, a part or unknown."""
    starts, stops = encoded.spans.T
    tokens = np.flatnonzero((stops > place.start) & (starts < place.stop))
    if len(tokens) != 1 or stops[tokens[0]] != place.stop or starts[tokens[0]] < place.start:
        return None
    token = encoded.first + int(tokens[0])
    return None if encoded.ids[token] == model.tokenizer.unk_token_id else token


def _inside(one: Encoded, span: tuple[int, int]) -> NDArray[np.int64]:
    """Return the tokens of a text whose last character lies in a span."""
    last = one.spans[:, 1] - 1
    tokens = np.flatnonzero((last >= span[0]) & (last < span[1]))
    if not len(tokens):
        raise DataError(f"{one.text!r} has no token in its characters {span[0]} to {span[1]}")
    return tokens


def _refuse_masks(encoded: Sequence[Encoded], mask: int) -> None:
    for one in encoded:
        if mask in one.ids:
            raise DataError(f"{one.text!r} holds the model's mask token; a whole text is scored, so leave it out")


def _refuse_not_finite(numbers: NDArray[np.float64], texts: Sequence[str]) -> None:
    for position in np.flatnonzero(~np.isfinite(numbers)).tolist():
        raise DataError(f"{texts[position]!r}: the model gave a number that is not finite; try dtype: float32")
