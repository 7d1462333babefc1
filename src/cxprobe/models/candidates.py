"""Log probabilities of candidate words at the mask of a text, and the words that can be compared there."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.models.masked import MaskedLM, MaskedQuestions
from cxprobe.models.store import Answers, answer
from cxprobe.models.texts import Encoded, encode_inputs

MASK = "[MASK]"


class CandidateQuestions(MaskedQuestions):
    """Questions about the log probabilities of candidate words at the masks of texts.

    A candidate is tokenised inside its text and then masked, so the model sees the same tokens around the mask as in
    running text, whatever its tokenizer does with spaces.
    """

    def __init__(
        self, model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], token_budget: int
    ) -> None:
        """Prepare the questions about all candidates.

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
        asked = [(text, word) for text, words in zip(texts, candidates, strict=True) for word in words]
        filled = [_fill(text, word) for text, word in asked]
        unknown: list[str] = []
        copies: dict[str, set[bytes]] = {}  # text -> its masked copies
        for (text, word), encoded in zip(asked, encode_inputs(model, filled), strict=True):
            token = _only_token(model, text, word, encoded)
            if token is None:
                unknown.append(f"{word!r} in {text!r}")
            else:
                copy = self.ask(text, encoded.ids, np.array([token]))
                copies.setdefault(text, set()).add(copy)
        if unknown:
            raise DataError(
                f"{len(unknown)} candidates are not one known token of this model's tokenizer: "
                f"{'; '.join(unknown[:5])}; leave these items out"
            )
        for text, of_text in copies.items():
            if len(of_text) > 1:
                raise DataError(f"{text!r}: its candidates change the tokens around them, and cannot be compared")

    def read(self, answers: Answers) -> list[NDArray[np.float64]]:
        """Return for each text shape (candidates,): natural logarithms, normalised over the whole vocabulary."""
        if not self._numbers:
            return []
        ends = np.cumsum(self._numbers)
        return np.split(self.numbers(answers), ends[:-1])


def candidate_log_probabilities(
    model: MaskedLM, texts: Sequence[str], candidates: Sequence[Sequence[str]], *, token_budget: int
) -> list[NDArray[np.float64]]:
    """Return the log probability of each candidate word at the mask of its text, by a loaded model in this process.

    Arguments and errors are those of `CandidateQuestions`.

    Returns:
        For each text shape (candidates,): natural logarithms.

    Raises:
        DataError: A number is not finite.
    """
    return answer(lambda: [CandidateQuestions(model, texts, candidates, token_budget)], lambda: model)


def drop_items(model: MaskedLM, texts: pd.DataFrame, *, place: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Leave out the items of scenarios for which a candidate is not one token of a model's tokenizer.

    Args:
        model: The model.
        texts: One row an item and text: item; text, which contains "[MASK]" once; and the two candidates of the item,
            first and second.
        place: Names model and construction at the beginning of a message.

    Returns:
        The texts of the items that the model can score; and one row a word that is not one token: word, reason, and
        items, the number that it costs (one with two such words counts for both).

    Raises:
        DataError: No item is left.
    """
    asked = texts[["item", "first", "second"]].drop_duplicates().set_index("item")
    words = sorted(set(asked.to_numpy().ravel()))
    text = texts["text"].iloc[0]
    encoded = encode_inputs(model, [_fill(text, word) for word in words])
    unknown = [word for word, one in zip(words, encoded, strict=True) if _only_token(model, text, word, one) is None]
    items = [int((asked == word).any(axis=1).sum()) for word in unknown]
    dropped = pd.DataFrame({"word": unknown, "reason": "not one token", "items": items})
    kept = asked.index[~asked.isin(unknown).any(axis=1)]
    if kept.empty:
        raise DataError(
            f"{place}: in each of the {len(asked)} items a candidate is not one token of the model's tokenizer "
            f"({', '.join(unknown[:5])} ...); take other words in scenarios.yaml, or another model"
        )
    return texts[texts["item"].isin(kept)].reset_index(drop=True), dropped


def _fill(text: str, word: str) -> str:
    if text.count(MASK) != 1:
        raise DataError(f"{text!r} contains {MASK} {text.count(MASK)} times; it must contain it once")
    return text.replace(MASK, word)


def _only_token(model: MaskedLM, text: str, word: str, encoded: Encoded) -> int | None:
    """Return the position in ``ids`` of a word that is one known token, or None for any other word.

    Args:
        model: The model.
        text: The text with its mask.
        word: The word.
        encoded: The text with the word in the place of its mask.
    """
    before = text.partition(MASK)[0]
    start, stop = len(before.rstrip()), len(before) + len(word)  # some tokenizers make the spaces a part of the word
    starts, stops = encoded.spans.T
    tokens = np.flatnonzero((stops > start) & (starts < stop))
    if len(tokens) != 1 or stops[tokens[0]] != stop or starts[tokens[0]] < start:
        return None
    token = encoded.first + int(tokens[0])
    return None if encoded.ids[token] == model.tokenizer.unk_token_id else token
