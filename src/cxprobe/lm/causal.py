"""Causal models: the log-probability of each token given those before it.

Texts are tokenised whole. Those that begin alike share that beginning: its keys and values are computed once and
used for all of them. Padding is on the right, where a causal model cannot see it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.lm.language_models import CausalLM
from cxprobe.lm.logits import ask_server, log_probabilities, logits_at
from cxprobe.lm.served import ServedLM
from cxprobe.lm.store import Answers, Batch, Found, key_of
from cxprobe.lm.texts import Bos, TokenScores
from cxprobe.lm.tokens import Encoded, encode, refuse_too_long

Ids = NDArray[np.int32]
_REQUESTS = 512  # to a server, of which several are on their way at a time
_HELD = 4  # tokens whose keys and values may be held in memory, for each one that the budget allows to be computed


def causal_token_scores(model: CausalLM, texts: Sequence[str], *, bos: Bos, token_budget: int) -> list[TokenScores]:
    """Score each token of texts given the tokens before it.

    Args:
        model: The model.
        texts: Whole texts, contexts included: those that begin alike are computed together.
        bos: What the model reads before a text. "as_tokenizer": what the tokenizer puts there, which may be nothing;
            "add": the model's beginning-of-sequence token, once; "none": nothing. The first token of a text with
            nothing before it has no score.
        token_budget: The most tokens in a batch.

    Returns:
        One record a text, in their order.

    Raises:
        DataError: Before anything is computed: a text has no token to score, is too long, or contains what ``bos``
            puts before it. Afterwards: a number is not finite.
    """
    section = CausalSection(model, texts, bos=bos, token_budget=token_budget)
    return list(section.records(Answers().to(section)))


class CausalSection:
    """The questions about texts, one each; arguments and errors are those of `causal_token_scores`.

    Attributes:
        texts: How many texts there are.
    """

    def __init__(self, model: CausalLM, texts: Sequence[str], *, bos: Bos, token_budget: int) -> None:
        """Ask about all texts."""
        self.texts = len(texts)
        self._model, self._token_budget = model, token_budget
        before = _before(model, bos)
        self._encoded = encode(model.tokenizer, texts, special_tokens=False)
        whole = [_whole(one, before, model.max_tokens) for one in self._encoded]
        self._key_of_each = [key_of(ids) for ids in whole]
        self._ids = dict(zip(self._key_of_each, whole, strict=True))

    @property
    def keys(self) -> list[bytes]:
        """The key of each distinct text with what stands before it."""
        return list(self._ids)

    def batches(self, own: Sequence[bytes]) -> list[Batch]:
        """Return the batches of some texts; those that begin alike are in one."""
        if isinstance(self._model, ServedLM):
            parts = [own[start : start + _REQUESTS] for start in range(0, len(own), _REQUESTS)]
            return [Batch(part, partial(self._ask, self._model)) for part in parts]
        sequences = [self._ids[key] for key in own]
        if self._model.model._is_stateful:  # a recurrent state, unlike keys and values, cannot be handed to several
            groups = [Group(0, [number]) for number in range(len(sequences))]
        else:
            groups = group_by_beginning(sequences)
        planned = _batches(groups, sequences, self._token_budget)
        members = [[number for group in batch for number in group.members] for batch in planned]
        return [
            Batch([own[number] for number in numbers], partial(_compute, self._model, batch, own, sequences))
            for batch, numbers in zip(planned, members, strict=True)
        ]

    def _ask(self, model: ServedLM, wanted: Collection[bytes]) -> Iterator[Found]:
        return ask_server(model, {key: self._ids[key] for key in wanted})

    def records(self, found: Found) -> Iterator[TokenScores]:
        """Yield the scores of each text.

        Raises:
            DataError: A number is not finite.
        """
        return (_record(one, found[key]) for one, key in zip(self._encoded, self._key_of_each, strict=True))


def texts_without_first_score(model: CausalLM, texts: Sequence[str], bos: Bos) -> dict[str, int]:
    """Return text -> first token where a text has nothing before it, so that this token has no score; else nothing."""
    if _before(model, bos):
        return {}
    encoded = encode(model.tokenizer, texts, special_tokens=False)
    return {one.text: int(one.ids[0]) for one in encoded if len(one.ids)}


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
            common = _common(sequences[groups[-1].members[-1]], sequences[number])
            longest = max(len(sequences[number]), len(sequences[groups[-1].members[-1]]))
            shared = min(common - 1, len(sequences[number]) - 2, groups[-1].shared)
            if 2 * common >= longest and shared > 0:
                groups[-1] = Group(shared, [*groups[-1].members, number])
                continue
        groups.append(Group(len(sequences[number]) - 2, [number]))
    return [group if len(group.members) > 1 else Group(0, group.members) for group in groups]


def _compute(
    model: CausalLM, batch: Sequence[Group], keys: Sequence[bytes], sequences: Sequence[Ids], _wanted: Collection[bytes]
) -> Iterator[Found]:
    """Yield the answers of a batch: key -> the log-probability of each id but the first, shape (length - 1,)."""
    model.model.eval()
    with torch.inference_mode():
        found = _score_batch(model, batch, sequences)
    yield {keys[number]: numbers for number, numbers in found.items()}


def _batches(groups: Sequence[Group], sequences: Sequence[Ids], budget: int) -> list[list[Group]]:
    """Put groups that share equally many tokens into batches, the longest first, and divide what is too large."""

    def width(group: Group) -> int:
        return max(len(sequences[member]) for member in group.members) - 1

    parts = [part for group in groups for part in _divide(group, width(group), budget)]
    parts.sort(key=lambda part: (part.shared, width(part)), reverse=True)
    batches: list[list[Group]] = []
    rows, widest = 0, 0  # of the last batch, whose first group is its widest
    for part in parts:
        rows += len(part.members)
        if (
            batches
            and batches[-1][0].shared == part.shared
            and _fits(len(batches[-1]) + 1, rows, part.shared, widest, budget)
        ):
            batches[-1].append(part)
        else:
            batches.append([part])
            rows, widest = len(part.members), width(part)
    return batches


def _divide(group: Group, width: int, budget: int) -> list[Group]:
    """Return the parts of a group, as large as the budget allows; one text is never too large."""
    rows = len(group.members)
    while rows > 1 and not _fits(1, rows, group.shared, width, budget):
        rows = (rows + 1) // 2
    return [Group(group.shared, group.members[start : start + rows]) for start in range(0, len(group.members), rows)]


def _fits(groups: int, rows: int, shared: int, width: int, budget: int) -> bool:
    """Return whether the tokens that a batch computes, and those whose keys and values it holds, are not too many."""
    computed = groups * shared + rows * (width - shared)
    held = rows * width if shared else 0
    return computed <= budget and held <= _HELD * budget


def _score_batch(model: CausalLM, groups: Sequence[Group], sequences: Sequence[Ids]) -> dict[int, NDArray[np.float64]]:
    """Score the members of groups that share equally many tokens: first what they share, then the rest of each."""
    shared = groups[0].shared
    beginnings = [np.empty(0)] * len(groups)
    options: dict[str, Any] = {"use_cache": False}
    if shared:
        beginnings, output = _predict(
            model, [sequences[group.members[0]][: shared + 1] for group in groups], {"use_cache": True}
        )
        owners = [number for number, group in enumerate(groups) for _ in group.members]
        cache = output.past_key_values
        cache.batch_select_indices(torch.tensor(owners, device=model.model.device))
        options = {"use_cache": True, "past_key_values": cache}
    members = [member for group in groups for member in group.members]
    ends, _ = _predict(model, [sequences[member][shared:] for member in members], options)
    starts = [beginning for beginning, group in zip(beginnings, groups, strict=True) for _ in group.members]
    return {member: np.concatenate([start, end]) for member, start, end in zip(members, starts, ends, strict=True)}


def _predict(model: CausalLM, rows: Sequence[Ids], options: Mapping[str, Any]) -> tuple[list[NDArray[np.float64]], Any]:
    """Return for each row shape (length - 1,), the log-probability of each id but the first, and the model's output."""
    lengths = [len(row) - 1 for row in rows]
    input_ids = torch.zeros(len(rows), max(lengths), dtype=torch.long)  # (rows, widest)
    for place, row in enumerate(rows):
        input_ids[place, : len(row) - 1] = torch.from_numpy(row[:-1])
    real = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)  # (rows, widest)
    logits, output = logits_at(model.model, input_ids, *real.nonzero(as_tuple=True), **options)  # (n, vocabulary)
    targets = torch.from_numpy(np.concatenate([row[1:] for row in rows])).long()  # (n,)
    numbers = log_probabilities(logits, torch.arange(len(targets)), targets)
    return np.split(numbers, np.cumsum(lengths)[:-1]), output


def _before(model: CausalLM, bos: Bos) -> list[int]:
    """Return the ids that a policy puts before every text."""
    if bos == "none":
        return []
    if bos == "add":
        if model.tokenizer.bos_token_id is None:
            raise DataError("bos is 'add', but the model's tokenizer has no such token; take 'as_tokenizer' or 'none'")
        return [model.tokenizer.bos_token_id]
    probe = model.tokenizer("a", return_special_tokens_mask=True)
    first = probe["special_tokens_mask"].index(0)
    before: list[int] = probe["input_ids"][:first]
    return before


def _whole(one: Encoded, before: Sequence[int], max_tokens: int) -> Ids:
    """Return the ids of a text with what stands before it."""
    if set(before) & set(one.ids.tolist()):
        raise DataError(f"{one.text!r} contains a token that bos puts before it; remove it, or take bos: none")
    ids = np.array([*before, *one.ids], dtype=np.int32)
    if len(ids) < 2:
        raise DataError(f"{one.text!r} is one token with nothing before it and has no score; take bos: add")
    refuse_too_long(one.text, len(ids), max_tokens)
    return ids


def _record(one: Encoded, found: NDArray[np.float64]) -> TokenScores:
    if not np.isfinite(found).all():
        raise DataError(f"{one.text!r}: the model gave a number that is not finite; try dtype: float32")
    log_probs = np.full(len(one.ids), np.nan)
    scored = min(len(one.ids), len(found))  # the first has no score if nothing stands before it
    log_probs[len(one.ids) - scored :] = found[len(found) - scored :]
    return TokenScores(one.text, "causal", one.ids, one.spans, one.words, log_probs)


def _common(one: Ids, other: Ids) -> int:
    """Return how many ids two texts have in common at their beginnings."""
    length = min(len(one), len(other))
    different = np.flatnonzero(one[:length] != other[:length])
    return int(different[0]) if len(different) else length
