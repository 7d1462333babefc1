"""The vectors of sentences as one array, for as many as fit in memory; the stage writes files (`extraction`)."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.measure.features.batching import token_budget_batches
from cxprobe.measure.features.encoding import Tokens, collate, tokenise
from cxprobe.measure.features.pooling import mean_of_each_layer
from cxprobe.models import Encoder

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
