"""Candidates: how probable words are at the mask of a text, and which words can be compared there."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.language_models import MaskedLM
from cxprobe.lm.masked import MaskedInputs, encode_inputs, numbers_of, refuse_not_finite
from cxprobe.lm.store import Answers, Batch, Found
from cxprobe.lm.tokens import Encoded

MASK = "[MASK]"
_PORTION = 2048  # texts that are tokenised at a time


def candidate_log_probabilities(
    model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], *, token_budget: int
) -> list[NDArray[np.float64]]:
    """Return how probable each candidate word is at the mask of its text.

    A candidate is tokenised inside its text and then masked, so the model sees the same tokens around the mask as in
    running text, whatever its tokenizer does with spaces.

    Args:
        model: The model.
        texts: Each contains "[MASK]" once, whatever the model's own mask token looks like.
        candidates: The words to compare at the mask of each text.
        token_budget: The most tokens in a batch.

    Returns:
        For each text shape (candidates,): natural logarithms, normalised over the whole vocabulary.

    Raises:
        DataError: Before anything is computed: a text does not contain the mask exactly once, is too long, a candidate
            is not one known token there, or candidates change the tokens around them. Afterwards: a number is not
            finite.
    """
    section = CandidateSection(model, texts, candidates, token_budget)
    return section.log_probabilities(Answers().to(section))


class CandidateSection:
    """The questions about the candidate words of texts; arguments and errors are those of the function above.

    Attributes:
        texts: How many texts there are.
    """

    def __init__(
        self, model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], token_budget: int
    ) -> None:
        """Ask about all candidates."""
        self.texts = len(texts)
        # In the order of texts and, within them, of candidates.
        self._places = [_place(text, word) for text, own in zip(texts, candidates, strict=True) for word in own]
        self._ends = np.cumsum([len(own) for own in candidates], dtype=np.int64)[:-1]
        self._inputs = MaskedInputs(model, token_budget)
        faults: list[str] = []
        asked: list[int] = []
        for start in range(0, len(self._places), _PORTION):
            for place, encoded in _encode_places(model, self._places[start : start + _PORTION]):
                token = _only_token(model, place, encoded)
                if token is None:
                    faults.append(f"{place.word!r} in {place.text!r}")
                else:
                    asked.append(self._inputs.ask(encoded.ids, np.array([token]), int(encoded.ids[token])))
        if faults:
            raise DataError(
                f"{len(faults)} candidates are not one known token of this model's tokenizer: {'; '.join(faults[:5])}; "
                "leave these items out (single_token_words tells which words can stay)"
            )
        for text, own in zip(texts, np.split(asked, self._ends), strict=False):
            if len(set(own.tolist())) > 1:
                raise DataError(f"{text!r}: its candidates change the tokens around them, and cannot be compared")

    @property
    def keys(self) -> list[bytes]:
        """The key of each distinct question."""
        return list(self._inputs.places)

    def batches(self, own: Sequence[bytes]) -> list[Batch]:
        """Return the batches of some questions."""
        return self._inputs.batches(own)

    def log_probabilities(self, found: Found) -> list[NDArray[np.float64]]:
        """Return for each text shape (candidates,).

        Raises:
            DataError: A number is not finite.
        """
        numbers = numbers_of(self._inputs.keys, found)
        refuse_not_finite(numbers, [place.text for place in self._places])
        return np.split(numbers, self._ends) if self.texts else []


def single_token_words(model: MaskedLM, words: Sequence[str], text: str) -> list[str]:
    """Return those words that are one known token of the model's tokenizer in a text's mask, in their order.

    Args:
        model: The model.
        words: The words to try.
        text: Contains "[MASK]" once.
    """
    tried = _encode_places(model, [_place(text, word) for word in words])
    return [place.word for place, encoded in tried if _only_token(model, place, encoded) is not None]


class Usable(NamedTuple):
    """The items of scenarios that a model can be asked.

    Attributes:
        items: One row an item, as they were.
        texts: Their texts.
        dropped: One row a word that is not one token: word, reason, and items, the number that it costs (one with two
            such words counts for both).
        dropped_items: How many items were left out.
    """

    items: pd.DataFrame
    texts: pd.DataFrame
    dropped: pd.DataFrame
    dropped_items: int


def drop_items(model: MaskedLM, items: pd.DataFrame, texts: pd.DataFrame, *, place: str) -> Usable:
    """Leave out the items of scenarios for which a candidate is not one token of a model's tokenizer.

    Args:
        model: The model.
        items: One row an item, with its id.
        texts: One row an item and text: item; text, which contains "[MASK]" once; and the two candidates of the item,
            first and second.
        place: Names model and construction at the beginning of a message.

    Raises:
        DataError: No item is left.
    """
    asked = texts[["item", "first", "second"]].drop_duplicates().set_index("item")
    words = sorted(set(asked.to_numpy().ravel()))
    unknown = sorted(set(words) - set(single_token_words(model, words, texts["text"].iloc[0])))
    costs = [(word, "not one token", int((asked == word).any(axis=1).sum())) for word in unknown]
    kept = asked.index[~asked.isin(unknown).any(axis=1)]
    if kept.empty:
        raise DataError(
            f"{place}: in each of the {len(items)} items a candidate is not one token of the model's tokenizer "
            f"({', '.join(unknown[:5])} ...); take other words in scenarios.yaml, or another model"
        )
    return Usable(
        items[items["id"].isin(kept)].reset_index(drop=True),
        texts[texts["item"].isin(kept)].reset_index(drop=True),
        pd.DataFrame(costs, columns=["word", "reason", "items"]),
        len(items) - len(kept),
    )


class _Place:
    """A text whose mask is replaced by a word."""

    def __init__(self, text: str, word: str) -> None:
        self.text = text
        self.word = word
        before, after = text.split(MASK)
        self.filled = before + word + after
        self.start = len(before.rstrip())  # some tokenizers make the spaces before a word a part of it
        self.stop = len(before) + len(word)


def _place(text: str, word: str) -> _Place:
    if text.count(MASK) != 1:
        raise DataError(f"{text!r} contains {MASK} {text.count(MASK)} times; it must contain it once")
    return _Place(text, word)


def _encode_places(model: MaskedLM, places: Sequence[_Place]) -> Iterator[tuple[_Place, Encoded]]:
    return zip(places, encode_inputs(model, [place.filled for place in places]), strict=True)


def _only_token(model: MaskedLM, place: _Place, encoded: Encoded) -> int | None:
    """Return the place in ``ids`` of a word that is one known token, or None for any other word."""
    starts, stops = encoded.spans.T
    tokens = np.flatnonzero((stops > place.start) & (starts < place.stop))
    if len(tokens) != 1 or stops[tokens[0]] != place.stop or starts[tokens[0]] < place.start:
        return None
    token = encoded.first + int(tokens[0])
    return None if encoded.ids[token] == model.tokenizer.unk_token_id else token
