"""The only package that loads models: each is complete, in eval mode and of a known dtype when others get it.

A twin of a model has its architecture, tokenizer and precision, and weights that know nothing; it says so in its state,
its fingerprint and its facts. ``weights: random`` draws them by the architecture's own initialisation, which reads no
weights of the checkpoint (their hash is checked all the same); ``weights: shuffled`` permutes the trained values within
each tensor, so that their distribution stays and their order is gone.

A model's folder may be half copied, damaged, or put together from two models. transformers then builds what it can,
often without a word: a tokenizer of five tokens, a model without its last layer. So a model is given out only if its
files are sound, the checkpoint and the model have the same weights but for known heads, all of them finite, the
tokenizer's ids fit the embedding, and the model reads a plain sentence. All else is a `ModelError` that names the file.

A model that does not fit is quantised or spread over devices while it is read (`fitting`), or runs on a server, of
which nothing is loaded but the tokenizer (`ServedLM`).
"""

import os

# Otherwise loading a checkpoint without safetensors asks a service on the hub to convert it, without telling the user.
# It is set before transformers is imported.
os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")

from cxprobe.models.language_models import CausalLM, Encoder, LanguageModel, MaskedLM
from cxprobe.models.loading import load_causal_lm, load_encoder, load_language_model, load_masked_lm
from cxprobe.models.served import ServedLM
from cxprobe.models.tokenizers import refuse_unknown, unknown_share

__all__ = [
    "CausalLM",
    "Encoder",
    "LanguageModel",
    "MaskedLM",
    "ServedLM",
    "load_causal_lm",
    "load_encoder",
    "load_language_model",
    "load_masked_lm",
    "refuse_unknown",
    "unknown_share",
]
