"""From the vectors of a sentence's tokens to the vector of the sentence."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.measure.features.encoding import Batch, Tokens, collate
from cxprobe.models import Encoder


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
