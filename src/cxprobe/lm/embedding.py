"""Batches by a budget of tokens, of sentences sorted by length, so that there is little padding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.errors import DataError
from cxprobe.files.arrays import is_array_of, merge_features, write_array
from cxprobe.lm.language_models import Encoder
from cxprobe.recognition.params import ExtractFeatures
from cxprobe.run.processes import Count, Processes


def token_budget_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group sentences of similar length, the longest first, so that no batch is larger than the budget.

    The longest batch comes first, so that a budget that does not fit into memory fails at once and not after hours.

    Args:
        lengths: Tokens of each sentence.
        budget: The most tokens, padding included, in a batch; a longer sentence makes a batch of its own.

    Returns:
        Positions in ``lengths``; each occurs exactly once.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()
    batches: list[list[int]] = []
    widest = 0  # the batch's first sentence is its longest: all others are padded to it
    for position in order:
        if batches and (len(batches[-1]) + 1) * widest <= budget:
            batches[-1].append(position)
        else:
            batches.append([position])
            widest = lengths[position]
    return batches


class Tokens(NamedTuple):
    """A tokenised sentence.

    Attributes:
        id: Names the sentence.
        ids: The token ids, special tokens included.
        counted: Which of them count in the mean.
    """

    id: str
    ids: list[int]
    counted: list[bool]


class Batch(NamedTuple):
    """One batch as the model takes it.

    Attributes:
        number: The batch's place in the plan.
        input_ids: Shape (sentences, tokens).
        attention_mask: Shape (sentences, tokens), or None if there is no padding: models are faster without one.
        counted: Shape (sentences, tokens), True for the tokens in the mean.
    """

    number: int
    input_ids: Tensor
    attention_mask: Tensor | None
    counted: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device."""
        mask = None if self.attention_mask is None else self.attention_mask.to(device)
        return Batch(self.number, self.input_ids.to(device), mask, self.counted.to(device))


def tokenise(encoder: Encoder, ids: Sequence[str], texts: Sequence[str], *, special_tokens: bool) -> list[Tokens]:
    """Tokenise sentences, and mark the tokens that count in the mean.

    Args:
        encoder: The model whose tokenizer is used.
        ids: Names of the sentences.
        texts: The sentences.
        special_tokens: Whether [CLS], [SEP] and the like count.

    Raises:
        DataError: A sentence is longer than the model's longest input (nothing is ever truncated), or no token counts.
    """
    encoded = encoder.tokenizer(list(texts), return_special_tokens_mask=True, verbose=False)
    tokens = [
        Tokens(id_, row, [special_tokens or not special for special in specials])
        for id_, row, specials in zip(ids, encoded["input_ids"], encoded["special_tokens_mask"], strict=True)
    ]
    for sentence in tokens:
        if len(sentence.ids) > encoder.max_tokens:
            raise DataError(
                f"sentence {sentence.id} has {len(sentence.ids)} tokens, the model takes {encoder.max_tokens}; "
                "leave it out, or take a model with longer inputs"
            )
        if not any(sentence.counted):
            raise DataError(f"sentence {sentence.id} has no token that counts in the mean; is its text empty?")
    return tokens


def collate(number: int, rows: Sequence[Tokens], pad: int) -> Batch:
    """Pad sentences on the right to a batch.

    Args:
        number: The batch's place in the plan.
        rows: Its sentences.
        pad: The id of the padding token.
    """
    shape = len(rows), max(len(row.ids) for row in rows)
    input_ids = np.full(shape, pad)
    attended, counted = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    for place, row in enumerate(rows):
        input_ids[place, : len(row.ids)] = row.ids
        attended[place, : len(row.ids)] = 1
        counted[place, : len(row.ids)] = row.counted
    mask = None if attended.all() else torch.from_numpy(attended)
    return Batch(number, torch.from_numpy(input_ids), mask, torch.from_numpy(counted))


def mean_over_tokens(hidden: Tensor, counted: Tensor) -> Tensor:
    """Average the vectors of the tokens that count.

    Args:
        hidden: Shape (batch, tokens, dimensions), any floating type.
        counted: Shape (batch, tokens), True for the tokens in the mean; every row needs at least one.

    Returns:
        Shape (batch, dimensions), float32: the sum is taken in float32 whatever the precision of the model.
    """
    weights = counted.to(torch.float32) / counted.sum(dim=1, keepdim=True)  # (batch, tokens)
    return torch.bmm(weights.unsqueeze(1), hidden.to(torch.float32)).squeeze(1)  # (batch, dimensions)


def mean_of_each_layer(model: Any, batch: Batch) -> Tensor:
    """Run a model and pool each layer's hidden states.

    Args:
        model: A Hugging Face encoder or decoder.
        batch: Its input.

    Returns:
        Shape (layers, sentences, dimensions), float32. Layer 0 is the embeddings, the last the model's output.
    """
    output = model(input_ids=batch.input_ids, attention_mask=batch.attention_mask, output_hidden_states=True)
    # Pooled one by one, so that the stack of all tokens' states is never built.
    return torch.stack([mean_over_tokens(layer, batch.counted) for layer in output.hidden_states])


def vectors_of(encoder: Encoder, tokens: Sequence[Tokens]) -> NDArray[np.float32]:
    """Compute the vectors of a few sentences, one after the other.

    Returns:
        Shape (layers, sentences, dimensions).
    """
    with torch.inference_mode():
        vectors = [
            mean_of_each_layer(encoder.model, collate(0, [sentence], encoder.pad_token_id).to(encoder.model.device))
            for sentence in tokens
        ]
        found: NDArray[np.float32] = torch.cat(vectors, dim=1).cpu().numpy()
    return found


Pooling = Literal["mean", "first", "last"]


def pooled_features(
    encoder: Encoder,
    texts: Sequence[str],
    *,
    pooling: Pooling,
    token_budget: int,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float32]:
    """Return one vector for each text and layer.

    Args:
        encoder: The model, on any device.
        texts: At least one text.
        pooling: "mean" of the text's own tokens; "first", the first token of the input, special or not; or "last", the
            text's own last token.
        token_budget: The most tokens in a batch, padding included.
        progress: Is told the texts that have been finished.

    Returns:
        Shape (layers, texts, dimensions), float32.

    Raises:
        DataError: A text has no token, or is longer than the model's longest input.
    """
    names = [f"{place} ({text[:40]!r})" for place, text in enumerate(texts)]
    tokens = [_counting(one, pooling) for one in tokenise(encoder, names, texts, special_tokens=False)]
    found: NDArray[np.float32] | None = None
    for number, positions in enumerate(token_budget_batches([len(one.ids) for one in tokens], token_budget)):
        batch = collate(number, [tokens[place] for place in positions], encoder.pad_token_id)
        with torch.inference_mode():
            vectors = mean_of_each_layer(encoder.model, batch.to(encoder.model.device)).cpu().numpy()
        if found is None:
            found = np.empty((len(vectors), len(texts), vectors.shape[2]), dtype=np.float32)
        found[:, positions] = vectors  # (layers, sentences of the batch, dimensions)
        if progress is not None:
            progress(len(positions))
    if found is None:
        raise ValueError("there is no text")
    return found


def _counting(tokens: Tokens, pooling: Pooling) -> Tokens:
    """Return tokens of which those count that the pooling takes; the mean of one token is this token's vector."""
    if pooling == "mean":
        return tokens
    places = [place for place, counts in enumerate(tokens.counted) if counts]
    wanted = 0 if pooling == "first" else places[-1]
    return tokens._replace(counted=[place == wanted for place in range(len(tokens.ids))])


@dataclass(frozen=True)
class Extraction:
    """How an extraction went.

    Attributes:
        sentences: How many sentences have vectors.
        tokens: How many tokens they have, special tokens included.
        batches: How many batches were planned.
        resumed: How many of them an earlier run that was killed had finished.
    """

    sentences: int
    tokens: int
    batches: int
    resumed: int


def extract(
    encoder: Encoder,
    tokens: Sequence[Tokens],
    settings: ExtractFeatures,
    *,
    processes: Processes,
    scratch: Path,
    output: Path,
    progress: Callable[[int], None] | None = None,
) -> Extraction | None:
    """Write every layer's mean vector of every sentence as a layer-major, memory-mappable array.

    Args:
        encoder: The model; one without weights if batches are only counted.
        tokens: The tokenised sentences.
        settings: The budget of tokens.
        processes: Which of the processes this is that compute the batches together.
        scratch: Folder of the finished batches. Its name must determine its content: it belongs to one model,
            precision, pooling and set of sentences. The caller removes it when nothing else can be interrupted.
        output: Folder for ``features.npy``, shape (layers, sentences, dimensions), and ``ids.parquet``.
        progress: Is called with the number of sentences that have been finished; of several processes each estimates
            the share of the others by its own.

    Returns:
        How it went, or None if this process writes no output.

    Raises:
        DataError: The model gave a number that is not finite; the message names the sentences.
    """
    positions = token_budget_batches([len(sentence.ids) for sentence in tokens], settings.token_budget)
    plan = [[tokens[position] for position in batch] for batch in positions]
    ids = [[sentence.id for sentence in batch] for batch in plan]
    files = [scratch / f"{number:06d}.npy" for number in range(len(plan))]
    remaining = [number for number, file in enumerate(files) if not is_array_of(file, ids[number])]
    resumed = len(plan) - len(remaining)
    if processes.counts:
        processes.job.counted.append(Count("batches", resumed, len(plan)))
        return None
    report = progress or (lambda _: None)
    report(len(tokens) - sum(len(plan[number]) for number in remaining))
    for number in filter(processes.share.has, remaining):
        batch = collate(number, plan[number], encoder.pad_token_id)
        with torch.inference_mode():
            vectors = mean_of_each_layer(encoder.model, batch.to(encoder.model.device))
        write_array(vectors.cpu().numpy(), files[number], ids[number])
        report(len(plan[number]) * processes.share.of)
    processes.wait()
    if not processes.writes:
        return None
    merge_features(list(zip(files, ids, strict=True)), output)
    return Extraction(len(tokens), sum(len(sentence.ids) for sentence in tokens), len(plan), resumed)
