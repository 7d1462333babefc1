"""Log probabilities of a masked model: tokens at masks. Each distinct masked text is computed once.

A batch holds inputs of one length, so nothing is padded and no attention mask is needed; a masked copy that several
texts share is computed once; the head is applied at the masks only.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.errors import DataError, ModelError
from cxprobe.models.checkpoints import Source
from cxprobe.models.loading import (
    DebertaV2Masked,
    LoadedModel,
    fields_of_model,
    ids_of_trial,
    kind_of,
    load_model,
    log_probabilities,
    logits_at,
    proven,
    read_plainly,
)
from cxprobe.models.params import Scheme
from cxprobe.models.store import Answers, answer, key_of, token_budget_batches
from cxprobe.models.texts import Encoded, ScoringConfig, Texts, TokenScores, encode_inputs
from cxprobe.text import WORD_MASK

PORTION = 2048  # texts whose masked copies are in memory at once


class MaskedLM(LoadedModel):
    """A model that fills masks, with the head that it was trained with; its tokenizer has a mask token."""

    kind = "masked"

    def questions(self, portions: Sequence[Texts], how: ScoringConfig) -> Iterator["PllQuestions"]:
        """Yield the questions about the tokens of texts: of each portion all texts in each scheme."""
        for texts in portions:
            encoded = encode_inputs(self, list(texts))
            starts = list(texts.values())
            for scheme in how.schemes:
                for first in range(0, len(texts), PORTION):
                    part = slice(first, first + PORTION)
                    yield PllQuestions(self, encoded[part], starts[part], scheme, how.token_budget)


def load_masked_lm(source: Source, device: str = "cpu") -> MaskedLM:
    """Load a model that fills masks, with its head; code of a checkpoint is never run.

    DeBERTa v1 and v2 keep their head as ``lm_predictions``, which transformers overlooks unless the configuration
    says ``legacy=False`` (issues 15216, 15673, 18659 and 22790 of transformers); that is done here, unless the
    checkpoint has the other head, ``cls.predictions``, which transformers itself trains. transformers does not
    implement DeBERTa's enhanced mask decoder, which in training added the absolute positions between the encoder and
    the head (issue 14585), so the head is applied to the encoder's last layer, as in other masked models. A
    random-weights control of DeBERTa has the authors' head.

    Arguments are those of `cxprobe.models.embedding.load_encoder`.

    Raises:
        ModelError: As there; or it is not a masked language model, its tokenizer has no mask token, or it is DeBERTa
            v3, whose checkpoints hold a discriminator.
    """
    if kind_of(source.config) != "masked":
        raise ModelError(f"{source} is a {source.config.model_type} model and fills no masks; take a masked one")
    if source.tokenizer.mask_token is None:
        raise ModelError(f"{source} has a tokenizer without a mask token; add it to the checkpoint's tokenizer_config")
    model_class: Any = transformers.AutoModelForMaskedLM
    if source.config.model_type in ("deberta", "deberta-v2"):
        source.config.legacy = False
        if source.config.model_type == "deberta-v2":
            model_class = DebertaV2Masked
    model = MaskedLM(*fields_of_model(source, load_model(source, model_class, device)))
    if device == "meta":
        return model
    # The trial's text is read with one mask, and with another.
    ids = torch.tensor(ids_of_trial(source, model.model)[: model.max_tokens])
    masks = torch.tensor([len(ids) // 3, len(ids) - 1])
    copies = ids.repeat(2, 1)
    copies[torch.arange(2), masks] = model.tokenizer.mask_token_id
    expected = []
    for copy, at in zip(copies, masks, strict=True):
        model, answer = read_plainly(source, model, copy.tolist())
        expected.append(answer[at].log_softmax(-1).numpy())

    def read(tried: MaskedLM) -> list[NDArray[np.float32]]:
        return [*logits_at_masks(tried, copies, masks).float().cpu().log_softmax(-1).numpy()]

    alone: dict[str, Any] = {"batched": False}
    ways = [{}, alone, alone | {"head": None}]
    return proven(model, read, lambda: expected, ways, getattr(torch, source.spec.dtype), str(source))


def logits_at_masks(model: MaskedLM, copies: Tensor, masks: Tensor) -> Tensor:
    """Return the logits at a position of each masked copy of a text.

    Args:
        model: The model; its trial has told whether copies can share a batch.
        copies: Shape (copies, length): ids.
        masks: Shape (copies,): the positions.

    Returns:
        Shape (copies, vocabulary).
    """
    lm = model.model.eval()
    size = len(copies) if model.batched else 1
    with torch.inference_mode():
        parts = [
            logits_at(model, torch.arange(len(some)), at, input_ids=some.to(lm.device))
            for some, at in zip(torch.split(copies, size), torch.split(masks, size), strict=True)
        ]
    return torch.cat(parts)


class MaskedQuestions:
    """Questions about tokens at the first mask of masked texts.

    Attributes:
        texts: What is asked about.
        asked: The key of each question, in the order of asking.
        text_of: The key of each distinct question, in the order of asking -> the text that it was first asked about.
    """

    def __init__(self, model: MaskedLM, texts: Sequence[str], token_budget: int) -> None:
        """Start without a question.

        Args:
            model: The model; its weights are not needed here.
            texts: What is asked about.
            token_budget: The most tokens in a batch.
        """
        self.texts = texts
        self.asked: list[bytes] = []
        self._mask_token = model.tokenizer.mask_token_id
        self._token_budget = token_budget
        self._questions: dict[bytes, tuple[bytes, int, int]] = {}  # key -> masked copy, its mask, and the token
        self.text_of: dict[bytes, str] = {}

    def ask(self, text: str, ids: NDArray[np.int32], masked: NDArray[np.int64]) -> bytes:
        """Add the question about the token at the first of the masked positions; return the masked copy."""
        at, target, ids = int(masked[0]), int(ids[masked[0]]), ids.copy()
        ids[masked] = self._mask_token
        key = key_of(ids, np.array([at, target], dtype=np.int32))
        self._questions[key] = (ids.tobytes(), at, target)
        self.text_of.setdefault(key, text)
        self.asked.append(key)
        return ids.tobytes()

    def batches(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        """Return some of the questions in batches; those about one masked copy are together."""
        about: dict[bytes, list[bytes]] = {copy: [] for copy, _, _ in self._questions.values()}
        for key in keys:
            about[self._questions[key][0]].append(key)
        copies = [copy for copy, of_copy in about.items() if of_copy]
        lengths = [len(np.frombuffer(copy, dtype=np.int32)) for copy in copies]
        batches = token_budget_batches(lengths, self._token_budget, padded=False)
        return [[key for position in positions for key in about[copies[position]]] for positions in batches]

    def compute(self, model: MaskedLM, wanted: Sequence[bytes]) -> Answers:
        """Return the answers to questions about masked copies of one length."""
        questions = [self._questions[key] for key in wanted]
        rows: dict[tuple[bytes, int], int] = {}  # masked copy and its mask -> row
        row_of = torch.tensor([rows.setdefault(question[:2], len(rows)) for question in questions])  # (questions,)
        copies = np.stack([np.frombuffer(copy, dtype=np.int32) for copy, _ in rows])
        input_ids = torch.from_numpy(copies).long()  # (rows, length)
        masks = torch.tensor([at for _, at in rows])  # (rows,)
        targets = torch.tensor([target for *_, target in questions])  # (questions,)
        numbers = log_probabilities(logits_at_masks(model, input_ids, masks), row_of, targets)
        return {key: numbers[position : position + 1] for position, key in enumerate(wanted)}

    def numbers(self, answers: Answers) -> NDArray[np.float64]:
        """Return the answers in the order of asking, shape (questions,)."""
        return np.array([answers[key][0] for key in self.asked], dtype=np.float64)


class PllQuestions(MaskedQuestions):
    """The questions about the tokens of texts, each of which is masked.

    Under "pll" only the token is masked (Salazar et al. 2020); under "pll_word_l2r" those after it in its own word
    are masked too, so that the end of a word does not reveal its beginning (Kauf & Ivanova 2023).
    `cxprobe.models.texts.encode` defines words.
    """

    def __init__(
        self, model: MaskedLM, encoded: Sequence[Encoded], starts: Sequence[int], scheme: Scheme, token_budget: int
    ) -> None:
        """Prepare the questions about all tokens.

        Args:
            model: The model.
            encoded: Whole texts, from `encode_inputs`.
            starts: The first character of each text whose tokens are scored.
            scheme: What is masked.
            token_budget: The most tokens in a batch.

        Raises:
            DataError: A text has no token to score, or contains the model's mask token.
        """
        super().__init__(model, [text.text for text in encoded], token_budget)
        self._scheme, self._encoded = scheme, encoded
        self._scored = []  # the tokens of each text that are scored
        for text, start in zip(encoded, starts, strict=True):
            if self._mask_token in text.ids:
                raise DataError(f"{text.text!r} contains the model's mask token; whole texts are scored, so remove it")
            last = text.spans[:, 1] - 1  # the last character of each token
            tokens = np.flatnonzero(last >= start)
            if not len(tokens):
                raise DataError(f"{text.text!r} has no token from character {start} on; score more of it")
            self._scored.append(tokens)
            for token in tokens:
                masked = np.array([token])
                if scheme == "pll_word_l2r":
                    masked = token + np.flatnonzero(text.words[token:] == text.words[token])
                self.ask(text.text, text.ids, text.first + masked)

    def read(self, answers: Answers) -> Iterator[TokenScores]:
        """Yield the scores of each text."""
        numbers, start = self.numbers(answers), 0
        for text, tokens in zip(self._encoded, self._scored, strict=True):
            log_probs = np.full(len(text.spans), np.nan)
            log_probs[tokens] = numbers[start : start + len(tokens)]
            start += len(tokens)
            yield TokenScores(text.text, self._scheme, text.text_ids, text.spans, log_probs)


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
            what = f"{len(unknown)} candidates are not one known token of this model's tokenizer"
            raise DataError(f"{what}: {'; '.join(unknown[:5])}; leave these items out")
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
        what = f"in each of the {len(asked)} items a candidate is not one token ({', '.join(unknown[:5])} ...)"
        raise DataError(f"{place}: {what}; take other words in scenarios.yaml, or another model")
    return texts[texts["item"].isin(kept)].reset_index(drop=True), dropped


def _fill(text: str, word: str) -> str:
    if text.count(WORD_MASK) != 1:
        raise DataError(f"{text!r} contains {WORD_MASK} {text.count(WORD_MASK)} times; it must contain it once")
    return text.replace(WORD_MASK, word)


def _only_token(model: MaskedLM, text: str, word: str, encoded: Encoded) -> int | None:
    """Return the position in ``ids`` of a word that is one known token, or None for any other word.

    Args:
        model: The model.
        text: The text with its mask.
        word: The word.
        encoded: The text with the word in the place of its mask.
    """
    before = text.partition(WORD_MASK)[0]
    start, stop = len(before.rstrip()), len(before) + len(word)  # some tokenizers make the spaces a part of the word
    starts, stops = encoded.spans.T
    tokens = np.flatnonzero((stops > start) & (starts < stop))
    if len(tokens) != 1 or stops[tokens[0]] != stop or starts[tokens[0]] < start:
        return None
    token = encoded.first + int(tokens[0])
    return None if encoded.ids[token] == model.tokenizer.unk_token_id else token
