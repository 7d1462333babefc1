"""Models as users hold them: what can be asked of a model, in tables and arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm.auto import tqdm

from cxprobe.api.comparing import Comparison, compare_scores, pair_records
from cxprobe.api.options import require_layers, require_option
from cxprobe.api.scores import score_table, surprisal_by_token, surprisal_by_word
from cxprobe.errors import DataError, ModelError
from cxprobe.files.schema import SchemeName, ScoreName
from cxprobe.lm.candidates import MASK, candidate_log_probabilities
from cxprobe.lm.embedding import Pooling, pooled_features
from cxprobe.lm.language_models import CausalLM, MaskedLM
from cxprobe.lm.language_models import Encoder as HiddenStates
from cxprobe.lm.language_models import LanguageModel as Loaded
from cxprobe.lm.scoring import HowToScore, score_texts
from cxprobe.lm.texts import Bos, TokenScores
from cxprobe.pairs.measure import refuse_unscored, texts_of_pairs

Unit = Literal["word", "token"]

_SECONDS_WITHOUT_BAR = 2.0


class Encoder:
    """A model whose hidden states are read; `cxprobe.load_encoder` makes it.

    Attributes:
        name: The name it was loaded by.
    """

    def __init__(self, loaded: Loaded, name: str, token_budget: int) -> None:
        self.name = name
        self._loaded = loaded
        self._budget = token_budget

    def __repr__(self) -> str:
        """Return name, kind, precision and device."""
        model = self._loaded.model
        dtype = str(model.dtype).removeprefix("torch.")
        return f"<cxprobe.{type(self).__name__} {self.name}: {self._loaded.kind}, {dtype}, on {model.device}>"

    @property
    def fingerprint(self) -> str:
        """Which weights exactly: the commit on the hub, or the SHA-256 of a local folder's weights."""
        return self._loaded.fingerprint

    @property
    def model(self) -> Any:
        """The model of transformers itself."""
        return self._loaded.model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of transformers itself."""
        return self._loaded.tokenizer

    def features(
        self,
        sentences: Sequence[str],
        *,
        layers: Literal["all"] | Sequence[int] = "all",
        pooling: Pooling = "mean",
    ) -> NDArray[np.float32]:
        """Return one vector for each sentence and layer.

        Args:
            sentences: Whole sentences.
            layers: Which layers; 0 is the embeddings, -1 the last. "all" for all of them.
            pooling: "mean" over the sentence's tokens without special tokens, as in Weissweiler et al. (2022, §3);
                "first", the first token of the input, such as [CLS]; "last", the sentence's last token, which in a
                causal model is the only one that has seen all others.

        Returns:
            Shape (layers, sentences, dimensions), float32 whatever the model's precision is.

        Raises:
            DataError: A sentence is empty or longer than the model's longest input, or there is no such layer or
                pooling.

        Example:
            >>> import cxprobe
            >>> lm = cxprobe.load("mini-mlm")
            >>> lm.features(["The more, the merrier.", "It rains."], layers=[0, -1]).shape
            (2, 2, 384)
        """
        require_layers(layers)
        require_option("pooling", pooling, Pooling)
        texts = _texts(sentences)
        with _bar(len(texts), "sentences") as progress:
            vectors = pooled_features(
                self._hidden_states(), texts, pooling=pooling, token_budget=self._budget, progress=progress
            )
        return vectors if isinstance(layers, str) else vectors[_known_layers(layers, len(vectors))]

    def _hidden_states(self) -> HiddenStates:
        """Return the part of the model that has hidden states, without a head."""
        one = self._loaded
        if isinstance(one, HiddenStates):
            return one
        pad = one.tokenizer.pad_token_id or 0
        return HiddenStates(
            one.name,
            one.model.base_model,
            one.tokenizer,
            one.fingerprint,
            one.max_tokens,
            one.state,
            one.precision,
            pad_token_id=pad,
        )


class LanguageModel(Encoder):
    """A masked or causal language model; `cxprobe.load` makes it.

    A masked model scores a token by masking it: ``scheme="pll_word_l2r"`` masks those after it in its own word too, so
    that the end of a word does not reveal its beginning (Kauf & Ivanova 2023); "pll" masks the token alone (Salazar et
    al. 2020). A causal model scores a token given those before it, and ``scheme`` changes nothing. ``bos`` is what a
    causal model reads before a text: what its tokenizer puts there ("as_tokenizer", which may be nothing, so that the
    first token has no score), its beginning-of-sequence token ("add"), or nothing ("none").
    """

    _loaded: MaskedLM | CausalLM

    @property
    def kind(self) -> Literal["masked", "causal"]:
        """Whether the model fills masks or reads from left to right."""
        return "causal" if isinstance(self._loaded, CausalLM) else "masked"

    def surprisal(
        self,
        sentences: Sequence[str],
        *,
        by: Unit = "word",
        scheme: SchemeName = "pll_word_l2r",
        bos: Bos = "as_tokenizer",
    ) -> pd.DataFrame:
        """Return how surprising each word, or each token, is.

        A word is what stands between two spaces, punctuation included, as in tables of reading times. Its surprisal is
        the sum of those of its tokens. Where a token carries the space before it, as in GPT-2, that sum does not
        include the probability that the word ends there (Pimentel & Meister 2024; Oh & Schuler 2024).

        Args:
            sentences: Whole sentences.
            by: Whether rows are words or tokens.
            scheme: How a masked model is asked.
            bos: What a causal model reads before a sentence.

        Returns:
            By word: sentence (its place in ``sentences``, from 0), position (of the word, from 0), word, tokens (how
            many), surprisal in bits (-log2 p) and log_probability in nats (ln p). By token: sentence, position and word
            (that the token belongs to), token (its characters), surprisal and log_probability. Both numbers are NaN for
            a word or token without a score, which is the first one if a causal model reads nothing before it.

        Raises:
            DataError: A sentence is empty, too long for the model, or has only one token and nothing before it; or an
                option does not have this value.

        Example:
            >>> import cxprobe
            >>> table = cxprobe.load("mini-clm").surprisal(["The more, the merrier."])
            >>> table["word"].tolist()
            ['The', 'more,', 'the', 'merrier.']
        """
        require_option("by", by, Unit)
        _require_asking(scheme, bos)
        scores = self._token_scores(_texts(sentences), scheme, bos)
        return surprisal_by_word(scores) if by == "word" else surprisal_by_token(scores)

    def score(
        self, sentences: Sequence[str], *, scheme: SchemeName = "pll_word_l2r", bos: Bos = "as_tokenizer"
    ) -> pd.DataFrame:
        """Return how probable each sentence is.

        Args:
            sentences: Whole sentences.
            scheme: How a masked model is asked; what it gives is a pseudo-log-likelihood.
            bos: What a causal model reads before a sentence.

        Returns:
            One row a sentence: sentence, sum (of its tokens' log-probabilities, natural logarithms), per_token and
            per_character (the sum divided by their numbers, spaces not counted), tokens (how many were scored).

        Raises:
            DataError: As for `surprisal`.

        Example:
            >>> import cxprobe
            >>> table = cxprobe.load("mini-clm").score(["The dog sleeps.", "The dog sleep."])
            >>> bool(table["sum"][0] > table["sum"][1])
            True
        """
        _require_asking(scheme, bos)
        return score_table(self._token_scores(_texts(sentences), scheme, bos))

    def compare(
        self,
        good: Sequence[str] | pd.DataFrame,
        bad: Sequence[str] | None = None,
        context: Sequence[str] | str | None = None,
        *,
        score: ScoreName = "sum",
        scheme: SchemeName = "pll_word_l2r",
        bos: Bos = "as_tokenizer",
    ) -> Comparison:
        """Compare two texts at a time: does the model find the right one more probable?

        Args:
            good: The right texts; or a table with the columns good, bad and, if there is any, context, such as
                `cxprobe.pairs` and `cxprobe.read_pairs` return. Columns that begin with ``cluster_`` name what pairs
                share, such as a frame, and the interval takes that into account.
            bad: The wrong texts, in the same order.
            context: What stands before both texts of a pair: one for each pair, or one for all.
            score: What is compared: "sum", "per_token" or "per_character" of the whole text, "given_context" (the sum
                over what follows the context) or "pmi" (by how much the context raises it).
            scheme: How a masked model is asked.
            bos: What a causal model reads before a text.

        Returns:
            The accuracy with its 95 % interval, and a table with a row a pair.

        Raises:
            DataError: There are not as many right texts as wrong ones, a text is empty or too long, a score needs a
                context, a causal model that reads nothing before a text is given pairs that differ in their first
                token, or an option does not have this value.

        Example:
            >>> import cxprobe
            >>> lm = cxprobe.load("mini-clm")
            >>> found = lm.compare(["The dogs sleep.", "The dog sleeps."], ["The dogs sleeps.", "The dog sleep."])
            >>> found.accuracy.n
            2
        """
        require_option("score", score, ScoreName)
        _require_asking(scheme, bos)
        pairs = pair_records(good, bad, context)
        refuse_unscored(self._loaded, pairs, bos)
        scores = self._token_scores(list(texts_of_pairs(self._loaded, pairs, bos)), scheme, bos)
        return compare_scores(pairs, scores, score)

    def fill(self, text: str | Sequence[str], candidates: Sequence[str]) -> pd.DataFrame:
        """Return how probable words are at the mask of a text.

        Args:
            text: Contains "[MASK]", or the model's own mask token, once; or several such texts.
            candidates: The words to compare. Each must be one token of the model's tokenizer there.

        Returns:
            One row a text and candidate: text, candidate, log_probability (natural logarithm, over the whole
            vocabulary), and share, the candidate's probability divided by that of all candidates together.

        Raises:
            ModelError: The model is causal and fills no masks; give whole texts to `score`.
            DataError: A text does not contain one mask, or a candidate is not one token.

        Example:
            >>> import cxprobe
            >>> table = cxprobe.load("mini-mlm").fill("Anna is [MASK] than Paul.", ["taller", "older"])
            >>> table.columns.tolist()
            ['text', 'candidate', 'log_probability', 'share']
        """
        if isinstance(self._loaded, CausalLM):
            raise ModelError(f"{self.name} is a causal model and fills no masks; compare whole texts with score()")
        texts = [
            one.replace(self.tokenizer.mask_token, MASK) for one in _texts([text] if isinstance(text, str) else text)
        ]
        if isinstance(candidates, str) or not candidates:
            raise DataError(f"candidates is {candidates!r}; give a list of words to compare at the mask")
        found = candidate_log_probabilities(
            self._loaded, texts, [list(candidates)] * len(texts), token_budget=self._budget
        )
        tables = [
            pd.DataFrame({"text": one, "candidate": list(candidates), "log_probability": own, "share": _shares(own)})
            for one, own in zip(texts, found, strict=True)
        ]
        return pd.concat(tables, ignore_index=True)

    def _token_scores(self, texts: Sequence[str], scheme: SchemeName, bos: Bos) -> list[TokenScores]:
        """Return the scores of texts, in their order; one that is there twice is scored once."""
        distinct = dict.fromkeys(texts, 0)
        how = HowToScore([scheme], bos, self._budget)
        with _bar(len(distinct), "texts") as progress:
            scores = {one.text: one for one in score_texts(self._loaded, [distinct], how, progress=progress)}
        return [scores[text] for text in texts]


def _require_asking(scheme: object, bos: object) -> None:
    """Refuse a scheme, or what a causal model reads first, that does not exist."""
    require_option("scheme", scheme, SchemeName)
    require_option("bos", bos, Bos)


def _texts(sentences: Iterable[str]) -> list[str]:
    """Return texts as a list, whatever sequence they came in."""
    if isinstance(sentences, str):
        raise DataError(f"{sentences!r} is one text; give a list of texts: [{sentences!r}]")
    texts = list(sentences)
    for place, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise DataError(f"text {place} is {text!r}; every text must be a string that is not empty")
    if not texts:
        raise DataError("there is no text; give at least one")
    return texts


def _known_layers(layers: Sequence[int], number: int) -> list[int]:
    for layer in layers:
        if not -number <= layer < number:
            raise DataError(f"there is no layer {layer}; this model has layers 0 (embeddings) to {number - 1}")
    return list(layers)


def _shares(log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities that sum to 1, shape (candidates,)."""
    shares: NDArray[np.float64] = np.exp(log_probabilities - np.logaddexp.reduce(log_probabilities))
    return shares


@contextmanager
def _bar(total: int, unit: str) -> Iterator[Callable[[int], Any]]:
    """Show a progress bar for work that takes long, in a terminal or a notebook."""
    with tqdm(total=total, unit=f" {unit}", delay=_SECONDS_WITHOUT_BAR, leave=False) as bar:
        yield bar.update
