"""Masked models: pseudo-log-likelihoods, the log-probability of each token of a text given the others."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.measure.likelihood.answers import Answers, Batch, Found
from cxprobe.measure.likelihood.inputs import MaskedInputs, encode_inputs, numbers_of, refuse_not_finite
from cxprobe.measure.likelihood.tokens import Encoded
from cxprobe.models import MaskedLM
from cxprobe.records import TokenScores

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
