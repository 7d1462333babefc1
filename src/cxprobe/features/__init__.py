"""Features: from sentences to one vector per sentence and layer.

Sentences are tokenised (`tokenise`), sorted into batches by a budget of tokens, and the mean over the real tokens
of every layer is written to one memory-mapped array (`extract`). bfloat16 has its own check (`mean_cosines`).

Conventions: layer 0 is the embeddings; special tokens stay out of the mean unless params say otherwise; padding is
on the right and never in the mean; nothing is truncated; vectors are float32 whatever the model's precision.
"""

from cxprobe.features.agreement import mean_cosines
from cxprobe.features.encoding import Tokens, tokenise
from cxprobe.features.extraction import Extraction, extract

__all__ = ["Extraction", "Tokens", "extract", "mean_cosines", "tokenise"]
