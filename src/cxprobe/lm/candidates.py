"""Candidates: how probable words are at the mask of a text, and which words can be compared there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.answering import Record, answer
from cxprobe.lm.masked import PORTION, MaskedLM, MaskedQuestions, encode_inputs
from cxprobe.lm.measuring import MeasuredModel
from cxprobe.lm.store import Answers
from cxprobe.lm.texts import Encoded

MASK = "[MASK]"


class CandidateQuestions(MaskedQuestions):
    """How probable candidate words are at the masks of texts.

    A candidate is tokenised inside its text and then masked, so the model sees the same tokens around the mask as in
    running text, whatever its tokenizer does with spaces.
    """

    def __init__(
        self, model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], token_budget: int
    ) -> None:
        """Ask about all candidates.

        Args:
            model: The model; its weights are not needed here.
            texts: Each contains "[MASK]" once, whatever the model's own mask token looks like.
            candidates: The words to compare at the mask of each text.
            token_budget: The most tokens in a batch.

        Raises:
            DataError: A text does not contain the mask exactly once, or is too long; a candidate is not one known token
                there; or candidates change the tokens around them.
        """
        super().__init__(model, texts, token_budget)
        self._numbers = [len(words) for words in candidates]
        filled = [_fill(text, word) for text, words in zip(texts, candidates, strict=True) for word in words]
        unknown: list[str] = []
        copies: list[int] = []  # the number of the masked copy of each text and candidate
        for start in range(0, len(filled), PORTION):
            part = filled[start : start + PORTION]
            for asked, encoded in zip(part, encode_inputs(model, [asked.filled for asked in part]), strict=True):
                token = _only_token(model, asked, encoded)
                if token is None:
                    unknown.append(f"{asked.word!r} in {asked.text!r}")
                else:
                    copies.append(self.ask(asked.text, encoded.ids, np.array([token])))
        if unknown:
            raise DataError(
                f"{len(unknown)} candidates are not one known token of this model's tokenizer: "
                f"{'; '.join(unknown[:5])}; leave these items out (single_token_words tells which words can stay)"
            )
        for text, copies_of_text in zip(texts, self._split(np.array(copies)), strict=False):
            if len(set(copies_of_text.tolist())) > 1:
                raise DataError(f"{text!r}: its candidates change the tokens around them, and cannot be compared")

    def _split(self, numbers: NDArray[Any]) -> list[NDArray[Any]]:
        """Return an array of all candidates as one of each text."""
        return np.split(numbers, np.cumsum(self._numbers, dtype=np.int64)[:-1])

    def read(self, answers: Answers) -> Iterable[NDArray[np.float64]]:
        """Return for each text shape (candidates,): natural logarithms, normalised over the whole vocabulary."""
        return self._split(self.numbers(answers)) if self._numbers else []


def candidate_log_probabilities(
    model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], *, token_budget: int
) -> list[NDArray[np.float64]]:
    """Return how probable each candidate word is at the mask of its text, by a loaded model in this process.

    Arguments and errors are those of `CandidateQuestions`.

    Returns:
        For each text shape (candidates,): natural logarithms.

    Raises:
        DataError: A number is not finite.
    """
    return answer(lambda: [CandidateQuestions(model, texts, candidates, token_budget)], lambda: model) or []


TextWithCandidates = tuple[str, Sequence[str]]
"""A text with a mask, and the candidates there."""


def measure_candidates(
    model: MeasuredModel[MaskedLM],
    portions: Sequence[Sequence[TextWithCandidates]],
    token_budget: int,
    folder: Path,
    read: Callable[[Path], tuple[Sequence[TextWithCandidates], NDArray[np.float64]]],
) -> tuple[list[NDArray[np.float64]], dict[str, float]] | None:
    """Return how probable candidates are at the masks of texts, for a stage.

    Args:
        model: The model.
        portions: Texts, such as those of each construction, with equally many candidates each; batches are formed
            within a portion.
        token_budget: The most tokens in a batch.
        folder: Where the caller writes the answers.
        read: Reads from such a folder what was asked, and the answers, shape (texts, candidates).

    Returns:
        Of each portion shape (texts, candidates): natural logarithms, normalised over the whole vocabulary. And the
        share of unknown tokens, and the result of the check of precision. None if this process writes no files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: See `CandidateQuestions`; or a number is not finite.
    """

    def ask(masked_lm: MaskedLM, rows: Sequence[TextWithCandidates]) -> CandidateQuestions:
        return CandidateQuestions(masked_lm, [text for text, _ in rows], [words for _, words in rows], token_budget)

    rows = [row for portion in portions for row in portion]
    checked = model.check(
        [text for text, _ in rows],
        rows,
        lambda loaded, sample: [np.stack(answer(lambda: [ask(loaded, sample)], lambda: loaded) or [])],
    )

    def recall(earlier: Path) -> Iterator[Answers]:
        known, numbers = read(earlier)
        yield ask(model.described, known).answers(numbers.ravel())

    asked = lambda: (ask(model.described, portion) for portion in portions)  # noqa: E731
    numbers = model.answer(asked, len(rows), Record(folder, recall))
    if numbers is None:
        return None
    answers = iter(numbers)
    return [np.stack(list(islice(answers, len(portion)))) for portion in portions], checked


def single_token_words(model: MaskedLM, words: Sequence[str], text: str) -> list[str]:
    """Return those words that are one known token of the model's tokenizer in a text's mask, in their order.

    Args:
        model: The model.
        words: The words to try.
        text: Contains "[MASK]" once.
    """
    filled = [_fill(text, word) for word in words]
    encoded = encode_inputs(model, [one.filled for one in filled])
    tokens = [_only_token(model, *pair) for pair in zip(filled, encoded, strict=True)]
    return [word for word, token in zip(words, tokens, strict=True) if token is not None]


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


class _Filled(NamedTuple):
    """A text whose mask is replaced by a word.

    Attributes:
        text: The text with its mask.
        word: The word.
        filled: The text with the word.
        start: The first character of the word, or of the spaces before it, which some tokenizers make a part of it.
        stop: The character after its last.
    """

    text: str
    word: str
    filled: str
    start: int
    stop: int


def _fill(text: str, word: str) -> _Filled:
    if text.count(MASK) != 1:
        raise DataError(f"{text!r} contains {MASK} {text.count(MASK)} times; it must contain it once")
    before, after = text.split(MASK)
    return _Filled(text, word, before + word + after, len(before.rstrip()), len(before) + len(word))


def _only_token(model: MaskedLM, filled: _Filled, encoded: Encoded) -> int | None:
    """Return the position in ``ids`` of a word that is one known token, or None for any other word."""
    starts, stops = encoded.spans.T
    tokens = np.flatnonzero((stops > filled.start) & (starts < filled.stop))
    if len(tokens) != 1 or stops[tokens[0]] != filled.stop or starts[tokens[0]] < filled.start:
        return None
    token = encoded.first + int(tokens[0])
    return None if encoded.ids[token] == model.tokenizer.unk_token_id else token
