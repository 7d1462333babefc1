"""What a causal model is asked: how probable each token is given those before it.

Texts are tokenised whole. Those that begin alike share that beginning: its keys and values are computed once and
used for all of them. Padding is on the right, where a causal model cannot see it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.errors import DataError
from cxprobe.files.schema import suggest
from cxprobe.lm.language_models import LoadedModel
from cxprobe.lm.loading import fields_of_model, load_model
from cxprobe.lm.logits import head_at, log_probabilities
from cxprobe.lm.store import Answers, Batch, key_of
from cxprobe.lm.terms import Bos, Scheme
from cxprobe.lm.texts import HowToScore, Texts, TokenScores, check_length, encode
from cxprobe.run.record import ModelKind

if TYPE_CHECKING:
    from cxprobe.lm.checkpoints import Source

Ids = NDArray[np.int32]
_HELD = 4  # tokens whose keys and values may be held in memory, for each one that the budget allows to be computed


@dataclass(frozen=True)
class CausalLM(LoadedModel):
    """A model that reads from left to right, with the head that it was trained with.

    Attributes:
        bos: What it reads before a text, see `cxprobe.lm.params.ModelSpec`.
    """

    kind: ClassVar[ModelKind] = "causal"

    bos: Bos = field(default="as_tokenizer", kw_only=True)

    @property
    def decisive(self) -> tuple[object, ...]:
        """What decides on its answers beside its weights: what it reads before a text too."""
        return (*super().decisive, self.bos)

    def questions(self, portions: Sequence[Texts], how: HowToScore) -> Iterator["CausalQuestions"]:
        """Yield what the model is asked to score the tokens of texts, a portion at a time."""
        for texts in portions:
            yield CausalQuestions(self, list(texts), how.token_budget)

    def schemes(self, how: HowToScore) -> Sequence[Scheme]:
        """Return the schemes in which it scores a text: one."""
        del how
        return ["causal"]

    @property
    def ids_before(self) -> list[int]:
        """The ids that stand before every text.

        Raises:
            DataError: ``bos`` is "add", and the tokenizer has no such token; or it is no token of the vocabulary.
        """
        if self.bos == "none":
            return []
        if self.bos == "as_tokenizer":
            return ids_by_itself(self.tokenizer)
        if self.bos != "add":
            # A plain word would be a misspelt policy more often than a token that begins a document.
            if str(self.bos).isidentifier() or self.bos not in self.tokenizer.get_vocab():
                allowed = ["as_tokenizer", "add", "none", "one token of its vocabulary, such as <|endoftext|>"]
                raise DataError(f"{self.name}: bos is {self.bos!r}{suggest(str(self.bos), allowed)}")
            return [self.tokenizer.get_vocab()[self.bos]]
        if self.tokenizer.bos_token_id is None:
            raise DataError(
                f"{self.name}: bos is 'add', but the model's tokenizer has no such token; name a bos_token in its "
                "tokenizer_config.json, or take 'as_tokenizer', 'none' or a token by its text, such as <|endoftext|>"
            )
        return [self.tokenizer.bos_token_id]

    def texts_without_first_score(self, texts: Sequence[str]) -> dict[str, int]:
        """Return text -> first token where a text has nothing before it, so that this token has no score."""
        if self.ids_before:
            return {}
        encoded = encode(self.tokenizer, texts, special_tokens=False)
        return {text.text: int(text.ids[0]) for text in encoded if len(text.ids)}


def load_causal_lm(source: "Source", device: str) -> CausalLM:
    """Load a model that reads from left to right.

    Args:
        source: What `cxprobe.lm.loading.open_source` returned.
        device: Where it runs; see `cxprobe.lm.embedding.load_encoder`.

    Raises:
        ModelError: See `cxprobe.lm.embedding.load_encoder`; or it is no language model.
        DataError: See `CausalLM.ids_before`.
    """
    weights = load_model(source, transformers.AutoModelForCausalLM, device)
    model = CausalLM(*fields_of_model(source, weights), bos=source.spec.bos)
    _ = model.ids_before  # a wrong bos is refused before any work
    return model


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

    def __init__(self, model: CausalLM, texts: Sequence[str], token_budget: int) -> None:
        """Ask about all texts.

        Args:
            model: The model; its weights are not needed here.
            texts: Whole texts, contexts included: those that begin alike are computed together. The first token of a
                text has no score if the model reads nothing before it.
            token_budget: The most tokens in a batch.

        Raises:
            DataError: A text has no token to score, is too long, or contains what stands before it.
        """
        self.texts = texts
        self._model, self._token_budget = model, token_budget
        before = model.ids_before
        self._encoded = encode(model.tokenizer, texts, special_tokens=False)
        self._ids: dict[bytes, Ids] = {}
        self.text_of: dict[bytes, str] = {}
        self._keys = []
        for text in self._encoded:
            if set(before) & set(text.ids.tolist()):
                raise DataError(f"{text.text!r} contains a token that bos puts before it; remove it, or take bos: none")
            ids = np.array([*before, *text.ids], dtype=np.int32)
            if len(ids) < 2:
                raise DataError(f"{text.text!r} is one token with nothing before it and has no score; take bos: add")
            check_length(text.text, len(ids), model.max_tokens)
            key = key_of(ids)
            self._ids[key], self.text_of[key] = ids, text.text
            self._keys.append(key)

    def batches(self, keys: Sequence[bytes]) -> list[Batch]:
        """Return some of the texts in batches; those that begin alike are together."""
        sequences = [self._ids[key] for key in keys]
        if self._model.model._is_stateful:  # a recurrent state, unlike keys and values, cannot be handed to several
            groups = [Group(0, [number]) for number in range(len(sequences))]
        else:
            groups = group_by_beginning(sequences)
        return [
            Batch([keys[member] for group in plan for member in group.members], partial(self._compute, plan, keys))
            for plan in plan_batches(groups, [len(ids) for ids in sequences], self._token_budget)
        ]

    def _compute(
        self, groups: Sequence["Group"], keys: Sequence[bytes], model: CausalLM, wanted: Collection[bytes]
    ) -> Iterator[Answers]:
        """Yield the answers to texts in groups: the log-probability of each id but the first, shape (length - 1,).

        All groups share equally many tokens. What a group shares is computed first, then the rest of each member.
        """
        lm, shared = model.model.eval(), groups[0].shared
        members = [[keys[member] for member in group.members if keys[member] in wanted] for group in groups]
        members = [group for group in members if group]
        asked = [key for group in members for key in group]
        group_of = [number for number, group in enumerate(members) for _ in group]
        beginnings = [self._ids[group[0]][: shared + 1] for group in members]
        passes = (
            [beginnings, [self._ids[key][shared:] for key in asked]] if shared else [[self._ids[key] for key in asked]]
        )
        options = dict[str, Any](use_cache=bool(shared))
        numbers: list[list[NDArray[np.float64]]] = []  # of each pass, of each row shape (its ids - 1,)
        with torch.inference_mode():
            for rows in passes:
                read = padded(rows)
                with head_at(lm, *read.real.nonzero(as_tuple=True)):
                    output = lm(input_ids=read.input_ids.to(lm.device), **options)
                n = len(read.targets)
                of_all = log_probabilities(output.logits[0], torch.arange(n), read.targets)  # (n,)
                numbers.append(np.split(of_all, np.cumsum(read.lengths)[:-1]))
                if rows is beginnings:
                    options["past_key_values"] = output.past_key_values
                    output.past_key_values.batch_select_indices(torch.tensor(group_of, device=lm.device))
        ends = numbers[-1]
        if shared:
            ends = [np.concatenate([numbers[0][group], end]) for group, end in zip(group_of, ends, strict=True)]
        yield dict(zip(asked, ends, strict=True))

    def ids_of(self, key: bytes) -> list[int]:
        """Return the ids of a text, with what stands before it."""
        ids: list[int] = self._ids[key].tolist()
        return ids

    def read(self, answers: Answers) -> Iterator[TokenScores]:
        """Yield the scores of each text."""
        for text, key in zip(self._encoded, self._keys, strict=True):
            numbers, log_probs = answers[key], np.full(len(text.ids), np.nan)
            scored = min(len(text.ids), len(numbers))  # the first has no score if nothing stands before it
            log_probs[len(text.ids) - scored :] = numbers[len(numbers) - scored :]
            yield TokenScores(text.text, "causal", text.ids, text.spans, text.words, log_probs)

    def unread(self, records: Sequence[TokenScores]) -> Answers:
        """Return the answers that gave the scores of each text, as `read` has yielded them."""
        return {
            key: record.log_probs[len(text.ids) + 1 - len(self._ids[key]) :]
            for text, key, record in zip(self._encoded, self._keys, records, strict=True)
        }


class PaddedRows(NamedTuple):
    """Rows of ids as a causal model reads them: each without its last id, padded on the right.

    Attributes:
        input_ids: Shape (rows, widest).
        real: Shape (rows, widest): False where a row is padded.
        lengths: Of each row, how many ids the model reads.
        targets: Shape (n,): the id that follows each of the n ids that are read, row by row.
    """

    input_ids: Tensor
    real: Tensor
    lengths: list[int]
    targets: Tensor


def padded(rows: Sequence[Ids]) -> PaddedRows:
    """Return rows of at least two ids as a causal model reads them."""
    lengths = [len(row) - 1 for row in rows]
    input_ids = torch.zeros(len(rows), max(lengths), dtype=torch.long)  # (rows, widest)
    for number, row in enumerate(rows):
        input_ids[number, : len(row) - 1] = torch.from_numpy(row[:-1])
    real = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)  # (rows, widest)
    targets = torch.from_numpy(np.concatenate([row[1:] for row in rows])).long()  # (n,)
    return PaddedRows(input_ids, real, lengths, targets)


class Group(NamedTuple):
    """Texts that begin alike.

    Attributes:
        shared: Tokens that are computed once for all; 0 for a text alone.
        members: Positions of the texts.
    """

    shared: int
    members: list[int]


def group_by_beginning(sequences: Sequence[Ids]) -> list[Group]:
    """Group texts that share half or more of their tokens, counted from the first, with the next in sorted order.

    Args:
        sequences: Distinct texts' ids.

    Returns:
        Groups; each text is in exactly one. The last common token of a group, and the last two tokens of a member, do
        not count as shared: each member needs a token from which another is predicted.
    """
    order = sorted(range(len(sequences)), key=lambda number: sequences[number].tolist())
    groups: list[Group] = []
    for number in order:
        if groups:
            before, ids = sequences[groups[-1].members[-1]], sequences[number]
            length, longest = sorted((len(before), len(ids)))
            different = np.flatnonzero(before[:length] != ids[:length])
            common = int(different[0]) if len(different) else length
            shared = min(common - 1, len(ids) - 2, groups[-1].shared)
            if 2 * common >= longest and shared > 0:
                groups[-1] = Group(shared, [*groups[-1].members, number])
                continue
        groups.append(Group(len(sequences[number]) - 2, [number]))
    return [group if len(group.members) > 1 else Group(0, group.members) for group in groups]


def plan_batches(groups: Sequence[Group], lengths: Sequence[int], budget: int) -> list[list[Group]]:
    """Put groups that share equally many tokens into batches, the longest first, and divide what is too large.

    A batch is too large if it computes more tokens than the budget, or holds the keys and values of many times more.

    Args:
        groups: See `group_by_beginning`.
        lengths: Ids of each text.
        budget: The most tokens in a batch; a longer text makes a batch of its own.
    """

    def width(group: Group) -> int:
        return max(lengths[member] for member in group.members) - 1

    def fits(groups: int, rows: int, shared: int, width: int) -> bool:
        computed = groups * shared + rows * (width - shared)
        return computed <= budget and (not shared or rows * width <= _HELD * budget)

    parts = []
    for group in groups:
        rows = len(group.members)
        while rows > 1 and not fits(1, rows, group.shared, width(group)):
            rows = (rows + 1) // 2
        parts += [
            Group(group.shared, group.members[start : start + rows]) for start in range(0, len(group.members), rows)
        ]
    parts.sort(key=lambda part: (part.shared, width(part)), reverse=True)
    batches: list[list[Group]] = []
    rows, widest = 0, 0  # of the last batch, whose first group is its widest
    for part in parts:
        rows += len(part.members)
        alike = batches and batches[-1][0].shared == part.shared
        if alike and fits(len(batches[-1]) + 1, rows, part.shared, widest):
            batches[-1].append(part)
        else:
            batches.append([part])
            rows, widest = len(part.members), width(part)
    return batches
