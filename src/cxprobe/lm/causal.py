"""What a causal model is asked: how probable each token is given those before it.

Texts are tokenised whole. Those that begin alike share that beginning: its keys and values are computed once and
used for all of them. Padding is on the right, where a causal model cannot see it.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.language_models import CausalLM
from cxprobe.lm.logits import head_at, log_probabilities
from cxprobe.lm.params import Bos
from cxprobe.lm.served import ServedLM, ask_server
from cxprobe.lm.store import Answers, Batch, key_of
from cxprobe.lm.texts import TokenScores, check_length, encode

Ids = NDArray[np.int32]
_REQUESTS = 512  # to a server, of which several are on their way at a time
_HELD = 4  # tokens whose keys and values may be held in memory, for each one that the budget allows to be computed


class CausalQuestions:
    """The questions about the tokens of texts, one a text.

    Attributes:
        texts: The texts.
        text_of: The key of each distinct text with what stands before it -> the text.
    """

    def __init__(self, model: CausalLM, texts: Sequence[str], bos: Bos, token_budget: int) -> None:
        """Ask about all texts.

        Args:
            model: The model; its weights are not needed here.
            texts: Whole texts, contexts included: those that begin alike are computed together.
            bos: What the model reads before a text. "as_tokenizer": what the tokenizer puts there, which may be
                nothing; "add": the model's beginning-of-sequence token, once; "none": nothing. The first token of a
                text with nothing before it has no score.
            token_budget: The most tokens in a batch.

        Raises:
            DataError: A text has no token to score, is too long, or contains what ``bos`` puts before it.
        """
        self.texts = texts
        self._model, self._token_budget = model, token_budget
        before = _before(model, bos)
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
        if isinstance(self._model, ServedLM):
            return [
                Batch(keys[start : start + _REQUESTS], self._ask_server) for start in range(0, len(keys), _REQUESTS)
            ]
        sequences = [self._ids[key] for key in keys]
        if self._model.model._is_stateful:  # a recurrent state, unlike keys and values, cannot be handed to several
            groups = [Group(0, [number]) for number in range(len(sequences))]
        else:
            groups = group_by_beginning(sequences)
        return [
            Batch([keys[member] for group in plan for member in group.members], partial(self._compute, plan, keys))
            for plan in plan_batches(groups, [len(ids) for ids in sequences], self._token_budget)
        ]

    def _ask_server(self, model: ServedLM, wanted: Collection[bytes]) -> Iterator[Answers]:
        return ask_server(model, {key: self._ids[key] for key in wanted})

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
        beginnings, options = [np.empty(0)] * len(members), dict[str, Any](use_cache=False)
        with torch.inference_mode():
            if shared:
                firsts = [self._ids[group[0]][: shared + 1] for group in members]
                beginnings, output = _predict(lm, firsts, use_cache=True)
                cache = output.past_key_values
                cache.batch_select_indices(torch.tensor(group_of, device=lm.device))
                options = {"use_cache": True, "past_key_values": cache}
            ends, _ = _predict(lm, [self._ids[key][shared:] for key in asked], **options)
        yield {
            key: np.concatenate([beginnings[number], end])
            for key, number, end in zip(asked, group_of, ends, strict=True)
        }

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


def _predict(model: Any, rows: Sequence[Ids], **options: Any) -> tuple[list[NDArray[np.float64]], Any]:
    """Return for each row shape (length - 1,), the log-probability of each id but the first, and the model's output."""
    lengths = [len(row) - 1 for row in rows]
    input_ids = torch.zeros(len(rows), max(lengths), dtype=torch.long)  # (rows, widest)
    for place, row in enumerate(rows):
        input_ids[place, : len(row) - 1] = torch.from_numpy(row[:-1])
    real = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)  # (rows, widest)
    with head_at(model, *real.nonzero(as_tuple=True)):
        output = model(input_ids=input_ids.to(model.device), **options)
    targets = torch.from_numpy(np.concatenate([row[1:] for row in rows])).long()  # (n,)
    numbers = log_probabilities(output.logits[0], torch.arange(len(targets)), targets)  # (n,)
    return np.split(numbers, np.cumsum(lengths)[:-1]), output


def _before(model: CausalLM, bos: Bos) -> list[int]:
    """Return the ids that a policy puts before every text."""
    if bos == "none":
        return []
    if bos == "add":
        if model.tokenizer.bos_token_id is None:
            raise DataError(
                "bos is 'add', but the model's tokenizer has no such token; name a bos_token in its "
                "tokenizer_config.json, or take 'as_tokenizer' or 'none'"
            )
        return [model.tokenizer.bos_token_id]
    probe = model.tokenizer("a", return_special_tokens_mask=True)
    before: list[int] = probe["input_ids"][: probe["special_tokens_mask"].index(0)]
    return before


def texts_without_first_score(model: CausalLM, texts: Sequence[str], bos: Bos) -> dict[str, int]:
    """Return text -> first token where a text has nothing before it, so that this token has no score; else nothing."""
    if _before(model, bos):
        return {}
    encoded = encode(model.tokenizer, texts, special_tokens=False)
    return {text.text: int(text.ids[0]) for text in encoded if len(text.ids)}


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
