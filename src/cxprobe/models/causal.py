"""Log probabilities of a causal model: each token of a text, given those before it.

Texts are tokenised whole. Those that begin alike share a row, in which what they begin with is read once: a mask says
which tokens each token sees. Padding is on the right, where a causal model cannot see it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from itertools import chain, groupby, pairwise
from math import inf
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cxprobe.errors import DataError, ModelError
from cxprobe.files.schema import suggest
from cxprobe.models.checkpoints import Source
from cxprobe.models.loading import (
    LoadedModel,
    are_alike,
    fields_of_model,
    ids_of_trial,
    load_model,
    log_probabilities,
    logits_at,
    proven,
    read_plainly,
)
from cxprobe.models.params import Bos
from cxprobe.models.store import Answers, key_of, token_budget_batches
from cxprobe.models.texts import ScoringConfig, Texts, TokenScores, check_length, encode

Ids = NDArray[np.int32]
_ROW = 256  # tokens of texts that share a row
# Settings beyond which a token's answer may depend on its place in a row, as our masks do not say.
_LIMITS = ("sliding_window", "window_size", "attention_window_size", "attention_chunk_size", "local_attention")


@dataclass(frozen=True)
class CausalLM(LoadedModel):
    """A model that reads from left to right, with the head that it was trained with.

    Attributes:
        bos: What it reads before a text, see `cxprobe.models.params.ModelSpec`.
        reads_trees: Whether it takes a mask and positions for each token, so that texts can share a row, by its trial;
            as long as it has no weights, whether it seems to.
    """

    kind = "causal"

    bos: Bos = field(default="as_tokenizer", kw_only=True)
    reads_trees: bool = field(default=True, kw_only=True)

    @property
    def decisive(self) -> tuple[object, ...]:
        """All that determines its answers beside its weights, the tokens before a text included."""
        return (*super().decisive, self.bos)

    @property
    def longest_row(self) -> float:
        """The most tokens of a row that texts can share: as many as a window or chunk of attention has."""
        config = self.model.config.to_dict()
        own = [config.get(name) for name in _LIMITS]
        return min((limit for limit in own if isinstance(limit, int) and limit > 0), default=inf)

    def questions(self, portions: Sequence[Texts], how: ScoringConfig) -> Iterator["CausalQuestions"]:
        """Yield the questions about the tokens of texts, a portion at a time."""
        for texts in portions:
            yield CausalQuestions(self, texts, how.token_budget)

    @cached_property
    def ids_before(self) -> list[int]:
        """The ids that stand before every text.

        Raises:
            DataError: ``bos`` is "add", and the tokenizer has no such token; or it is no token of the vocabulary.
        """
        if self.bos == "none":
            return []
        if self.bos == "as_tokenizer":
            return ids_by_itself(self.tokenizer)
        if self.bos == "add":
            if self.tokenizer.bos_token_id is None:
                advice = "take as_tokenizer, none, or a token by its text, such as <|endoftext|>"
                raise DataError(f"{self.name}: bos is 'add', and its tokenizer has no bos_token; {advice}")
            return [self.tokenizer.bos_token_id]
        vocabulary = self.tokenizer.get_vocab()
        # A plain word would be a misspelt policy more often than a token that begins a document.
        if self.bos.isidentifier() or self.bos not in vocabulary:
            allowed = ["as_tokenizer", "add", "none", "one token of its vocabulary, such as <|endoftext|>"]
            raise DataError(f"{self.name}: bos is {self.bos!r}{suggest(self.bos, allowed)}")
        return [vocabulary[self.bos]]


def load_causal_lm(source: Source, device: str) -> CausalLM:
    """Load a model that reads from left to right.

    Arguments are those of `cxprobe.models.embedding.load_encoder`.

    Raises:
        ModelError: See `cxprobe.models.embedding.load_encoder`; or it is no language model, or its tokens see what
            follows them.
        DataError: See `CausalLM.ids_before`.
    """
    if type(source.config) not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
        what = f"{source} is a {source.config.model_type} model, which is no language model"
        raise ModelError(f"{what}; its vectors can be read, by `cxprobe.load_encoder` or in recognition")
    weights = load_model(source, transformers.AutoModelForCausalLM, device)
    takes_positions = "position_ids" in signature(weights.forward).parameters
    model = CausalLM(*fields_of_model(source, weights), bos=source.spec.bos, reads_trees=takes_positions)
    ids = ids_of_trial(source, weights)
    _ = model.ids_before  # a wrong bos is refused before any work
    if device == "meta":
        return model
    # The trial's text is read with another that begins alike, so that both can share a row.
    ids = ids[: int(min(model.max_tokens, 0.75 * model.longest_row))]
    dtype = getattr(torch, source.spec.dtype)
    long = np.array(ids, dtype=np.int32)
    half = len(long) // 2
    short = np.append(long[:half], long[half // 2 :: -1])  # in a shared row its end comes after that of the other
    model, answer = read_plainly(source, model, long.tolist())
    _, other = read_plainly(source, model, short.tolist())
    if not are_alike([answer[:half].numpy()], [other[:half].numpy()], dtype):
        what = "its tokens see what follows them, so it gives no probabilities from left to right"
        raise ModelError(f"{source}: {what}; take another for scores; its vectors can be read, as in recognition")
    expected = [
        log_probabilities(logits, torch.arange(len(ids) - 1), torch.from_numpy(ids[1:]).long())
        for ids, logits in ((long, answer), (short, other))
    ]

    def read(tried: CausalLM) -> list[NDArray[np.float64]]:
        first, second = ((ids, len(ids) - 1) for ids in (long, short))
        return log_probabilities_of_rows(tried, [[first, second], [second]])

    padded: dict[str, Any] = {"reads_trees": False}
    alone = padded | {"batched": False}
    ways = [{}, padded, alone, alone | {"head": None}]
    return proven(model, read, lambda: [*expected, expected[1]], ways, dtype, str(source))


def ids_by_itself(tokenizer: Any) -> list[int]:
    """Return the ids that a tokenizer puts before a text by itself."""
    trial = tokenizer("a", return_special_tokens_mask=True)
    before: list[int] = trial["input_ids"][: trial["special_tokens_mask"].index(0)]
    return before


class CausalQuestions:
    """The questions about the tokens of texts, one a text.

    Attributes:
        texts: The texts.
        text_of: The key of each distinct text with what stands before it -> the text.
    """

    def __init__(self, model: CausalLM, texts: Texts, token_budget: int) -> None:
        """Prepare the questions about all texts.

        Args:
            model: The model; its weights are not needed here.
            texts: Whole texts, contexts included: those that begin alike are computed together. The tokens that end
                at or before the first position that matters have no score, nor has the first token of a text if the
                model reads nothing before it.
            token_budget: The most tokens in a batch.

        Raises:
            DataError: A text has no token to score, is too long, or contains what stands before it.
        """
        self.texts: Sequence[str] = list(texts)
        self._token_budget = token_budget
        self._longest_row = min(token_budget, model.longest_row) if model.reads_trees else 0
        before = model.ids_before
        self._encoded = encode(model.tokenizer, self.texts, special_tokens=False)
        self._ids: dict[bytes, Ids] = {}
        self._scored: dict[bytes, int] = {}  # how many tokens at the end of a text have a score
        self._row: dict[bytes, int] = {}  # the row of a text in its batch
        self.text_of: dict[bytes, str] = {}
        self._keys = []
        for text in self._encoded:
            if set(before) & set(text.ids.tolist()):
                raise DataError(f"{text.text!r} contains a token that bos puts before it; remove it, or take bos: none")
            ids = np.array([*before, *text.ids], dtype=np.int32)
            if len(ids) < 2:
                raise DataError(f"{text.text!r} is one token with nothing before it and has no score; take bos: add")
            check_length(text.text, len(ids), model.max_tokens)
            every = len(text.ids) if before else len(text.ids) - 1
            scored = min(every, int(np.sum(text.spans[:, 1] > texts[text.text])))
            # A text of which all tokens are scored has the key of its ids alone.
            key = key_of(ids) if scored == every else key_of(ids, np.array([scored], dtype=np.int32))
            self._ids[key], self.text_of[key] = ids, text.text
            self._scored[key] = scored
            self._keys.append(key)

    def batches(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        """Return some of the texts in batches; those that begin alike are together."""
        rows = rows_of_texts([self._ids[key] for key in keys], self._longest_row)
        self._row |= {keys[text]: number for number, (texts, _) in enumerate(rows) for text in texts}
        batches = token_budget_batches([places for _, places in rows], self._token_budget)
        return [[keys[text] for number in numbers for text in rows[number][0]] for numbers in batches]

    def compute(self, model: CausalLM, wanted: Sequence[bytes]) -> Answers:
        """Return the answers to texts of a batch: the log-probability of each token that has one, shape (tokens,)."""
        in_rows = groupby(wanted, key=self._row.__getitem__)
        rows = [[(self._ids[key], self._scored[key]) for key in row] for _, row in in_rows]
        numbers = log_probabilities_of_rows(model, rows, self._token_budget)
        return dict(zip(wanted, numbers, strict=True))

    def read(self, answers: Answers) -> Iterator[TokenScores]:
        """Yield the scores of each text."""
        for text, key in zip(self._encoded, self._keys, strict=True):
            log_probs = np.full(len(text.ids), np.nan)
            log_probs[len(text.ids) - self._scored[key] :] = answers[key]
            yield TokenScores(text.text, "causal", text.ids, text.spans, log_probs)


Scored = tuple[Ids, int]
"""A text's ids, shape (length,) with a length of at least 2, and how many of the last ones are scored: fewer."""


def log_probabilities_of_rows(
    model: CausalLM, rows: Sequence[Sequence[Scored]], token_budget: int = _ROW
) -> list[NDArray[np.float64]]:
    """Return the log-probability of each scored id of texts, shape (scored,) each, in their order.

    Args:
        model: The model; its trial has told whether texts can share a row, or a batch.
        rows: The texts of each row of a batch.
        token_budget: The most tokens in a batch of a model whose texts cannot share rows.
    """
    trees = [Tree(row) for row in rows]
    shared = model.reads_trees and max(len(tree.ids) for tree in trees) <= model.longest_row
    if shared:
        return _of_batch(model, trees, shared=True)
    texts = [*chain.from_iterable(rows)]
    batches = token_budget_batches([len(ids) for ids, _ in texts], token_budget if model.batched else 1)
    found = dict[int, NDArray[np.float64]]()
    for numbers in batches:
        alone = [Tree([texts[number]]) for number in numbers]
        found |= zip(numbers, _of_batch(model, alone, shared=False), strict=True)
    return [found[number] for number in range(len(texts))]


def _of_batch(model: CausalLM, trees: Sequence["Tree"], *, shared: bool) -> list[NDArray[np.float64]]:
    """Return what `log_probabilities_of_rows` does, in one forward pass; rows are padded on the right."""
    lm = model.model.eval()
    ids = [torch.tensor(tree.ids) for tree in trees]
    input_ids = pad_sequence(ids, batch_first=True)  # (rows, widest)
    rows = torch.tensor([row for row, tree in enumerate(trees) for _ in tree.scored])  # (n,)
    columns = torch.tensor([place for tree in trees for place in tree.scored])  # (n,)
    options = seen_by_each(trees, input_ids.shape[1], lm.dtype) if shared else {}
    inputs = {"input_ids": input_ids, **options}
    inputs = {name: tensor.to(lm.device) for name, tensor in inputs.items()}
    with torch.inference_mode():
        logits = logits_at(model, rows, columns, use_cache=False, **inputs)  # (n, vocabulary)
    numbers = []
    for of_row, tree in zip(torch.split(logits, [len(tree.scored) for tree in trees]), trees, strict=True):
        places, following = torch.tensor(tree.followed).T
        followed = log_probabilities(of_row, places, following)
        numbers += [followed[steps] for steps in tree.steps]
    return numbers


class Tree:
    """Texts in one row, in which those that begin alike share the tokens that they begin with.

    Attributes:
        ids: The id at each place of the row: each text's but its last, those that are shared once.
        before: The place before each in its texts, which is further left; -1 for the first of a text.
        depths: How many ids are before each in its texts.
        scored: The places after which an id is scored, each once.
        followed: The number in ``scored`` of a place, and the id that follows it in a text, each pair once.
        steps: Of each text, the number in ``followed`` of each of its scored ids.
    """

    def __init__(self, texts: Sequence[Scored]) -> None:
        """Put texts into a row."""
        places: dict[tuple[int, int], int] = {}  # place before and id -> place
        depths: dict[int, int] = {}  # of each place, in their order
        scored: dict[int, int] = {}  # place -> its number in ``scored``
        followed: dict[tuple[int, int], int] = {}
        self.steps = []
        for ids, number_scored in texts:
            place, steps = -1, []
            first = len(ids) - 1 - number_scored  # of the places after which an id is scored
            for number, (one, following) in enumerate(pairwise(ids.tolist())):
                place = places.setdefault((place, one), len(places))
                depths[place] = number
                if number >= first:
                    step = (scored.setdefault(place, len(scored)), following)
                    steps.append(followed.setdefault(step, len(followed)))
            self.steps.append(steps)
        self.scored = [*scored]
        self.followed = [*followed]
        self.ids = [one for _, one in places]
        self.before = [place for place, _ in places]
        self.depths = [*depths.values()]


def seen_by_each(trees: Sequence[Tree], widest: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """Return the positions and the attention mask of rows: each place sees those before it in its texts, and itself.

    Args:
        trees: The rows.
        widest: Places of a row, padding on the right included.
        dtype: The model's.

    Returns:
        position_ids, shape (rows, widest), and attention_mask, shape (rows, 1, widest, widest), to be added to scores.
    """
    seen = np.repeat(np.eye(widest, dtype=bool)[None], len(trees), axis=0)  # (rows, widest, widest)
    positions = np.zeros((len(trees), widest), dtype=np.int64)
    for row, tree in enumerate(trees):
        positions[row, : len(tree.depths)] = tree.depths
        for place, before in enumerate(tree.before):
            if before >= 0:
                seen[row, place] |= seen[row, before]
    hidden = torch.zeros(seen.shape, dtype=dtype).masked_fill(torch.from_numpy(~seen), torch.finfo(dtype).min)
    return {"position_ids": torch.from_numpy(positions), "attention_mask": hidden.unsqueeze(1)}


def rows_of_texts(sequences: Sequence[Ids], budget: float) -> list[tuple[list[int], int]]:
    """Put texts into rows, each beside those that begin alike.

    A row has at most `_ROW` places, since all of them are compared with one another; or as many as two texts, so that
    long ones share too; and never more than the budget, if it has several texts.

    Args:
        sequences: Distinct texts' ids.
        budget: The most tokens in a batch.

    Returns:
        The texts of each row, as positions in ``sequences``, and the number of its places: of the ids of its `Tree`.
    """
    rows: list[tuple[list[int], int]] = []
    last = list[int]()
    for whole, number in sorted((ids.tolist(), number) for number, ids in enumerate(sequences)):
        ids = whole[:-1]
        places = min(len(ids), len(last))
        new = len(ids) - next((place for place in range(places) if ids[place] != last[place]), places)
        if rows and rows[-1][1] + new <= min(budget, max(_ROW, 2 * len(ids))):
            rows[-1] = ([*rows[-1][0], number], rows[-1][1] + new)
        else:
            rows.append(([number], len(ids)))
        last = ids
    return rows
