"""Features: from sentences to one vector per sentence and layer.

Sentences are tokenised (`tokenise`), sorted into batches by a budget of tokens, and the mean over the real tokens
of every layer is written to one memory-mapped array (`extract`). `pooled_features` returns the vectors of texts as an
array in memory; `vectors_of` computes those of a few sentences one by one, to compare precisions.

Conventions: layer 0 is the embeddings; special tokens are left out of the mean unless params include them; padding is
on the right and never in the mean; nothing is truncated; vectors are float32 whatever the model's precision.
"""

from cxprobe.measure.features.batching import token_budget_batches
from cxprobe.measure.features.encoding import Tokens, tokenise
from cxprobe.measure.features.extraction import Extraction, extract
from cxprobe.measure.features.in_memory import Pooling, pooled_features
from cxprobe.measure.features.pooling import vectors_of

__all__ = [
    "Extraction",
    "Pooling",
    "Tokens",
    "extract",
    "pooled_features",
    "token_budget_batches",
    "tokenise",
    "vectors_of",
]
