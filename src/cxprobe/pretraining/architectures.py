"""Models to train: a trimmed encoder with a head, the same under a causal mask, or a small one from scratch."""

import numpy as np
import torch
from transformers import (
    AutoModel,
    BertConfig,
    BertForMaskedLM,
    BertLMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from cxprobe.pretraining.vocabulary import Vocabulary


def masked_from_encoder(folder: str, vocabulary: Vocabulary, positions: int) -> BertForMaskedLM:
    """Return a masked language model with a trained encoder's body, a trimmed vocabulary and a new head.

    Args:
        folder: Where the encoder lies.
        vocabulary: Which embeddings are kept.
        positions: The longest input; the positions beyond are dropped.
    """
    encoder = AutoModel.from_pretrained(folder, dtype=torch.float32)
    config = BertConfig(**{**encoder.config.to_dict(), "vocab_size": len(vocabulary.pieces)})
    config.max_position_embeddings = positions
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    config.dtype = None
    model = BertForMaskedLM(config)
    state = encoder.state_dict()
    words = state["embeddings.word_embeddings.weight"].numpy()
    state["embeddings.word_embeddings.weight"] = torch.from_numpy(vocabulary.trim(words))
    state["embeddings.position_embeddings.weight"] = state["embeddings.position_embeddings.weight"][:positions]
    state = {name: weight for name, weight in state.items() if name in model.bert.state_dict()}
    model.bert.load_state_dict(state, strict=False)
    lacking = set(model.bert.state_dict()) - set(state) - {"embeddings.position_ids", "embeddings.token_type_ids"}
    assert not lacking, lacking
    return model


def start_bias(counts: np.ndarray) -> torch.Tensor:
    """Return the log of each token's frequency, counted once more than it was: what a new head may start from."""
    return torch.from_numpy(np.log((counts + 1) / (counts + 1).sum())).float()


def causal_from_masked(folder: str) -> BertLMHeadModel:
    """Return a causal language model with all weights of a masked one, whose tokens see only what is before them."""
    model, report = BertLMHeadModel.from_pretrained(
        folder, is_decoder=True, dtype=torch.float32, output_loading_info=True
    )
    assert not report["missing_keys"], report
    return model


def causal_from_scratch(vocab_size: int, width: int, layers: int, heads: int, positions: int, ids: dict[str, int]) -> LlamaForCausalLM:
    """Return a small causal language model with random weights."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocab_size,
            hidden_size=width,
            intermediate_size=width * 8 // 3 // 16 * 16,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            max_position_embeddings=positions,
            tie_word_embeddings=True,
            **ids,
        )
    )
