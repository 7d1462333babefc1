"""What a model starts from, and what is kept of it: folders that ``from_pretrained`` reads."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertLMHeadModel,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from cxprobe.errors import ModelError
from cxprobe_pretraining.settings import Architecture, Pretrain
from cxprobe_pretraining.vocabulary import Vocabulary

# [CLS] and [SEP] are the beginning and the end for a causal model too.
_SPECIAL = {
    **{"cls_token": "[CLS]", "sep_token": "[SEP]", "bos_token": "[CLS]", "eos_token": "[SEP]"},
    **{"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"},
}
_OWN_HEAD = "cls."  # what a masked or causal BERT has beyond its body


def make_tokenizer(tokenizer_json: str, positions: int) -> PreTrainedTokenizerFast:
    """Return a BERT's tokenizer as transformers uses it, for inputs of at most ``positions`` tokens."""
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(tokenizer_json),
        model_max_length=positions,
        model_input_names=["input_ids", "attention_mask"],
        **_SPECIAL,
    )


def trim_encoder(encoder: Any, vocabulary: Vocabulary, positions: int) -> BertModel:
    """Return a trained BERT with a trimmed vocabulary and without the positions beyond ``positions``.

    Raises:
        ModelError: It is no BERT, or has fewer positions.
    """
    config = copy.deepcopy(encoder.config)
    if not isinstance(config, BertConfig) or config.max_position_embeddings < positions:
        raise ModelError(f"the source is no BERT with at least {positions} positions; take one, or fewer positions")
    config.vocab_size, config.max_position_embeddings = len(vocabulary.pieces), positions
    # Few passes over much text need no dropout.
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    trimmed = BertModel(config, add_pooling_layer=False)
    state = encoder.state_dict()
    words = state["embeddings.word_embeddings.weight"].numpy()
    state["embeddings.word_embeddings.weight"] = torch.from_numpy(vocabulary.trim(words))
    state["embeddings.position_embeddings.weight"] = state["embeddings.position_embeddings.weight"][:positions]
    trimmed.load_state_dict({name: state[name] for name in trimmed.state_dict()})
    return trimmed


def start_model(settings: Pretrain, tokenizer: PreTrainedTokenizerFast, counts: NDArray[np.int64]) -> Any:
    """Return the model that a training begins with.

    Args:
        settings: Its start, or its architecture.
        tokenizer: The tokenizer in the start's folder.
        counts: (vocabulary,) how often the training text has each token. A head that is new begins with the
            logarithms of these frequencies, not with an even guess.

    Raises:
        ModelError: The start lacks weights of the body.
    """
    if settings.architecture:
        return _from_scratch(settings.architecture, tokenizer)
    masked = settings.objective == "masked"
    model, report = (BertForMaskedLM if masked else BertLMHeadModel).from_pretrained(
        settings.start, is_decoder=not masked, dtype=torch.float32, output_loading_info=True
    )
    missing = sorted(report["missing_keys"])
    if lacking := [name for name in missing if not name.startswith(_OWN_HEAD)]:
        raise ModelError(f"'{settings.start}' lacks {len(lacking)} weights of the body: {', '.join(lacking[:5])}")
    if missing:
        frequencies = (counts + 1) / (counts + 1).sum()
        model.cls.predictions.bias.data.copy_(torch.from_numpy(np.log(frequencies)))
    return model


def _from_scratch(shape: Architecture, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        intermediate_size=shape.width * 8 // 3 // 16 * 16,  # two thirds of four times the width: it has three matrices
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=tokenizer.model_max_length,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config)


def save_model(model: Any, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Save a model in float16, to be loaded in float32, with its tokenizer."""
    halves: dict[int, torch.Tensor] = {}  # tensors that are shared stay shared, and are stored once
    state = {}
    for name, weight in model.state_dict().items():
        state[name] = halves.setdefault(weight.data_ptr(), weight.detach().to("cpu", torch.float16))
    model.save_pretrained(folder, state_dict=state)
    tokenizer.save_pretrained(folder)
