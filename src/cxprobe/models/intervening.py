"""Interventions in a model: other vectors in the output of a block, and the log probabilities that follow from them.

It works for every masked or causal model whose blocks stand in one list. A hook of PyTorch reads a block's output; the
model then goes on from that output with some vectors exchanged, and what lies below does not run again. In a causal
model what stands before the exchanged vectors stays as it is, and does not run again either.

Prompts share a batch as texts do that are scored, see `cxprobe.models.loading`: in a masked model those of one length.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import zip_longest
from math import inf
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from cxprobe.errors import ModelError
from cxprobe.models.causal import CausalLM
from cxprobe.models.checkpoints import reason_of
from cxprobe.models.loading import LoadedModel, are_alike, logits_at
from cxprobe.models.texts import check_length, encode

AT_ANSWER = "answer"  # the region of a masked model's mask
_PROVEN: WeakKeyDictionary[Any, set[int]] = WeakKeyDictionary()  # model -> blocks that were written back


class SentenceTokens(NamedTuple):
    """A sentence as a model reads it.

    Attributes:
        ids: Shape (length,): what the model reads; a masked model reads a mask in the place of the answer.
        regions: The position of the last token of each region; of a masked model the mask comes last.
        at: The position whose output predicts the answer.
        targets: The first token of each of the two answers.
    """

    ids: NDArray[np.int32]
    regions: tuple[int, ...]
    at: int
    targets: tuple[int, int]


def tokens_of_sentence(
    model: LoadedModel, before: str, ends: Sequence[int], answers: tuple[str, str], after: str
) -> SentenceTokens | None:
    """Return a sentence as a model reads it; None where one token does not tell its two answers apart.

    Answers are tokenised inside their sentence. To a masked model each must be one known token there; to a causal model
    their first tokens must differ. What stands around them must have the same tokens in both.

    Args:
        model: The model; its weights are not needed.
        before: What stands before the answer, without the space between them.
        ends: Of each region of it the character after its last.
        answers: The two answers to compare, each a word or more.
        after: What follows the answer, with the space before it if there is one.

    Raises:
        DataError: The sentence is longer than the model's longest input.
    """
    is_causal, tokenizer = isinstance(model, CausalLM), model.tokenizer
    start = len(before) + 1
    targets: list[int] = []
    contexts: set[bytes] = set()
    for answer in answers:
        text = f"{before} {answer}{after}"
        [encoded] = encode(tokenizer, [text], special_tokens=not is_causal)
        stops = encoded.spans[:, 1]
        token = int(np.searchsorted(stops, start, side="right"))  # the first token of the answer
        if not is_causal and (stops[token] != start + len(answer) or encoded.spans[token, 0] < start - 1):
            return None
        ids = encoded.ids.copy()
        at = encoded.first + token
        targets.append(int(ids[at]))
        if isinstance(model, CausalLM):
            ids = np.array([*model.ids_before, *ids[:at]], dtype=np.int32)
            first, at = len(model.ids_before), len(ids) - 1
        else:
            ids[at], first = tokenizer.mask_token_id, encoded.first
        contexts.add(ids.tobytes())
    if len(contexts) > 1 or len(set(targets)) < 2 or tokenizer.unk_token_id in targets:
        return None
    check_length(before, len(ids), model.max_tokens)
    regions = [first + int(np.searchsorted(stops, end)) for end in ends]
    if not is_causal:
        regions.append(at)
    return SentenceTokens(ids, tuple(regions), at, (targets[0], targets[1]))


def blocks_of(model: LoadedModel) -> Any:
    """Return the list of a model's blocks.

    Raises:
        ModelError: There is no list of as many modules as the model has layers.
    """
    layers = getattr(model.model.config, "num_hidden_layers", None)
    for module in model.model.base_model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == layers:
            return module
    raise ModelError(
        f"'{model.name}': it has no torch.nn.ModuleList of its {layers} blocks to exchange vectors in; take another"
    )


class BlockOutput(NamedTuple):
    """The output of one block for prompts, from which the rest of the model can go on.

    Attributes:
        block: The number of the block, from 0.
        hidden: Shape (prompts, widest, dimensions), padded on the right.
        others: How many further outputs the block has; None where it returns a tensor.
        past: Of each block the keys and the values, shape (prompts, heads, widest, dimensions of a head). Up to this
            block only their length counts, so that one dimension of a head is kept. None for a masked model, and for a
            model without such a cache.
    """

    block: int
    hidden: Tensor
    others: int | None
    past: list[tuple[Tensor, Tensor]] | None

    def at(self, columns: Tensor) -> Tensor:
        """Return the vectors at positions, shape (prompts, k) -> (prompts, k, dimensions), float32 and on the CPU."""
        return self.hidden[torch.arange(len(columns)).unsqueeze(1), columns].float().cpu()


class Edits(NamedTuple):
    """The vectors that are written into a model: row i is about one prompt.

    Attributes:
        output: The output of a block for all prompts; blocks up to this one do not run again.
        rows: Shape (n,): which of these prompts.
        columns: Shape (n,): the position in each.
        vectors: Shape (n, dimensions): what is written there. Gradients flow through them.
    """

    output: BlockOutput
    rows: Tensor
    columns: Tensor
    vectors: Tensor


def block_output(model: LoadedModel, prompts: Sequence[SentenceTokens], block: int, token_budget: int) -> BlockOutput:
    """Return the output of a block for prompts.

    Args:
        model: The model.
        prompts: The prompts.
        block: The number of the block, from 0.
        token_budget: The most tokens in a batch, padding included.

    Raises:
        ModelError: The model answers otherwise after its own vectors are written back: what seem to be its blocks are
            parts of them, or it does not go on from the output of a block.
    """
    by_length = sorted(prompts, key=lambda prompt: len(prompt.ids))
    proven = _PROVEN.setdefault(model.model, set())
    for number in {block, len(blocks_of(model)) - 1} - proven:  # parts of blocks that pass for blocks fail at the last
        _check_written_back(model, [by_length[0], by_length[-1]], number)
        proven.add(number)
    return _output(model, prompts, block, token_budget)


def _check_written_back(model: LoadedModel, prompts: Sequence[SentenceTokens], block: int) -> None:
    """Compare plain passes with the answers after a block's own vectors were written into it."""
    columns = torch.tensor([prompt.regions[0] for prompt in prompts])
    expected, fault = list[NDArray[np.float32]](), None
    try:
        with torch.no_grad():
            for prompt in prompts:
                ids = torch.from_numpy(prompt.ids).long().unsqueeze(0).to(model.model.device)
                logits = model.model(input_ids=ids).logits[0, prompt.at]
                expected.append(logits.float().log_softmax(-1).cpu().numpy())
            output = _output(model, prompts, block, sum(len(prompt.ids) for prompt in prompts))
            edits = Edits(output, torch.arange(len(prompts)), columns, output.at(columns.unsqueeze(1))[:, 0])
            every = torch.arange(len(expected[0])).repeat(len(prompts), 1)
            found = answers_after(model, prompts, every, edits)
        if are_alike([*found.numpy()], expected, model.model.dtype):
            return
    except Exception as error:  # of transformers or PyTorch
        fault = error
    raise ModelError(
        f"'{model.name}': it answers otherwise after the own vectors of block {block + 1} are written back"
        f"{f' ({reason_of(fault)})' if fault else ''}, so that exchanged vectors would mean nothing; its architecture "
        "is not supported by interventions: take another model"
    ) from fault


def _output(model: LoadedModel, prompts: Sequence[SentenceTokens], block: int, token_budget: int) -> BlockOutput:
    """Return the output of a block for prompts, see `block_output`."""
    batches = _batches(model, prompts, token_budget)
    caches = [DynamicCache() for _ in batches] if _has_past(model) else []
    outputs: list[Any] = []  # of the block, one a batch
    hook = blocks_of(model)[block].register_forward_hook(lambda _module, _args, output: outputs.append(output))
    try:
        with torch.no_grad():
            for some, cache in zip_longest(batches, caches):
                _logits(model, [prompts[number] for number in some], past=cache)
    finally:
        hook.remove()
    is_tuple = isinstance(outputs[0], tuple)
    hidden = [output[0] if is_tuple else output for output in outputs]
    others = len(outputs[0]) - 1 if is_tuple else None
    widest = max(one.shape[1] for one in hidden)

    def together(tensors: Sequence[Tensor]) -> Tensor:
        return torch.cat([torch.nn.functional.pad(one, (0, 0, 0, widest - one.shape[-2])) for one in tensors])

    past = []
    for number, layers in enumerate(zip(*(cache.layers for cache in caches), strict=True)):
        used = 1 if number <= block else None  # of these only their length counts
        keys = together([layer.keys[..., :used] for layer in layers])
        values = together([layer.values[..., :used] for layer in layers])
        past.append((keys, values))
    return BlockOutput(block, together(hidden)[_order_of(batches)], others, past or None)


def _has_past(model: LoadedModel) -> bool:
    """Return whether the keys and values of the beginning of a text can be kept."""
    return isinstance(model, CausalLM) and not model.model._is_stateful


@contextmanager
def _going_on(blocks: Sequence[Any], edits: Edits, start: int, widest: int) -> Iterator[None]:
    """Let a model go on from a block's output in which vectors were written: blocks up to this one only hand it on."""
    output = edits.output
    hidden = output.hidden[edits.rows, start:widest].clone()
    hidden[torch.arange(len(hidden)), edits.columns - start] = edits.vectors.to(hidden)

    def hand_on(*_args: Any, **_options: Any) -> Any:
        return hidden if output.others is None else (hidden, *[None] * output.others)

    skipped = blocks[: output.block + 1]
    try:
        for block in skipped:
            block.forward = hand_on
        yield
    finally:
        for block in skipped:
            del block.forward


def _logits(
    model: LoadedModel, prompts: Sequence[SentenceTokens], edits: Edits | None = None, past: DynamicCache | None = None
) -> Tensor:
    """Return the logits of the answers of a batch, shape (prompts, vocabulary), float32; a given cache is filled."""
    device = model.model.device
    rows = [torch.from_numpy(prompt.ids).long() for prompt in prompts]
    ids = pad_sequence(rows, batch_first=True, padding_value=model.tokenizer.pad_token_id or 0)  # (prompts, widest)
    start = 0
    if edits and edits.output.past:
        start = int(edits.columns.min())
        before = (edits.rows, slice(None), slice(start))
        past = DynamicCache([(keys[before], values[before]) for keys, values in edits.output.past])
    options = {"use_cache": past is not None, "past_key_values": past} if _has_past(model) else {}
    changed = nullcontext() if edits is None else _going_on(blocks_of(model), edits, start, ids.shape[1])
    at = torch.tensor([prompt.at for prompt in prompts]) - start
    with changed:
        logits = logits_at(model, torch.arange(len(prompts)), at, input_ids=ids[:, start:].to(device), **options)
    return logits.to(torch.float32)


def answers_after(
    model: LoadedModel,
    prompts: Sequence[SentenceTokens],
    targets: Tensor,
    edits: Edits | None = None,
    token_budget: float = inf,
) -> Tensor:
    """Return the log probabilities of answers, with or without a vector written into each prompt.

    They have gradients where the vectors have.

    Args:
        model: The model.
        prompts: The prompts, n of them.
        targets: Shape (n, k): the tokens.
        edits: What is written; None for nothing.
        token_budget: The most tokens in a batch, padding included.

    Returns:
        Shape (n, k): natural logarithms, normalised over the vocabulary, float32, on the CPU.
    """
    batches, parts = _batches(model, prompts, token_budget), list[Tensor]()
    with torch.set_grad_enabled(edits is not None and edits.vectors.requires_grad):
        for some in batches:
            part = edits and Edits(edits.output, edits.rows[some], edits.columns[some], edits.vectors[some])
            logits = _logits(model, [prompts[number] for number in some], part)
            parts.append(logits.log_softmax(dim=-1).gather(1, targets[some].to(logits.device)).cpu())
    return torch.cat(parts)[_order_of(batches)]


def _batches(model: LoadedModel, prompts: Sequence[SentenceTokens], token_budget: float) -> list[Tensor]:
    """Return the positions of the prompts of each batch; those of a masked model have one length."""
    lengths = torch.tensor([len(prompt.ids) for prompt in prompts])
    masked = [torch.nonzero(lengths == length).squeeze(1) for length in sorted({*lengths.tolist()})]
    batches = list[Tensor]()
    for some in [torch.arange(len(prompts))] if isinstance(model, CausalLM) else masked:
        size = min(len(some), token_budget // int(lengths[some].max())) if model.batched else 1
        batches += torch.split(some, max(1, int(size)))
    return batches


def _order_of(batches: Sequence[Tensor]) -> Tensor:
    """Return where each prompt is in its batches, one after the other."""
    return torch.cat([*batches]).argsort()
