import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

from conftest import tiny_tokenizer
from pretraining.segments import cut_segments
from pretraining.settings import Training
from pretraining.training import IGNORED, Batches, LanguageModelling

TOKENIZER = tiny_tokenizer()
SETTINGS = {
    "objective": "masked", "start": "nowhere", "architecture": None, "steps": 12, "warm_up": 2, "batch_tokens": 64,
    "body_rate": 0.001, "head_rate": 0.01, "weight_decay": 0.1, "masked_first": 0.5, "masked_last": 0.2,
    "checkpoints": [], "resume_every": 5, "validate_every": 5, "accelerator": "cpu",
    "precision": "32-true", "attention": "eager", "threads": 1, "lessons": None,
}  # fmt: skip
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def settings(**changes) -> Training:
    return Training(**SETTINGS | changes)


def segments():
    draws = np.random.default_rng(0)
    records = [[draws.integers(10, 60, size=draws.integers(2, 9)).tolist() for _ in range(3)] for _ in range(20)]
    return cut_segments(records, TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, 24, draws)


def batches(objective, **kwargs):
    return list(Batches(segments(), TOKENIZER, settings(objective=objective), seed=1, **kwargs))


MODELS = {"masked": (BertForMaskedLM, BertConfig), "causal": (LlamaForCausalLM, LlamaConfig)}


@pytest.mark.parametrize("objective", MODELS)
def test_the_loss_is_the_models_own(objective):
    torch.manual_seed(0)
    model_class, config_class = MODELS[objective]
    model = model_class(config_class(vocab_size=len(TOKENIZER), **SIZES)).eval()
    module = LanguageModelling(model, settings(objective=objective), TOKENIZER.pad_token_id)
    for ids, labels in batches(objective, first=0, steps=3):
        filled = ids != TOKENIZER.pad_token_id
        wanted = labels if objective == "masked" else torch.where(filled, ids, IGNORED)
        total, count = module.total_loss(ids, labels)
        hidden = ids == TOKENIZER.mask_token_id
        assert count == int(hidden.sum() if objective == "masked" else filled.sum() - len(ids))
        own = model(input_ids=ids, attention_mask=filled.long(), labels=wanted).loss
        torch.testing.assert_close(total / count, own)
