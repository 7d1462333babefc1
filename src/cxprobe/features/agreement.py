"""How far features in bfloat16 are from those in float32: the check that lets them be used."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from cxprobe.features.encoding import Tokens, collate
from cxprobe.features.pooling import mean_of_each_layer
from cxprobe.models import Encoder


def mean_cosines(encoder: Encoder, reference: Encoder, tokens: Sequence[Tokens]) -> NDArray[np.float64]:
    """Compare two precisions of one model, sentence by sentence.

    Args:
        encoder: The model in the precision that is asked for.
        reference: The same model in float32.
        tokens: The sentences to compare on.

    Returns:
        Shape (layers,): the mean cosine between the two vectors of a sentence, in [-1, 1].
    """
    cosines = []
    with torch.inference_mode():
        for sentence in tokens:
            batch = collate(0, [sentence], pad=0)
            pair = [mean_of_each_layer(one.model, batch)[:, 0] for one in (encoder, reference)]  # 2 x (layers, dims)
            cosines.append(torch.cosine_similarity(pair[0].double(), pair[1].double(), dim=-1))
    means: NDArray[np.float64] = torch.stack(cosines).mean(dim=0).numpy()
    return means
