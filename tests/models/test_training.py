import math

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM

from conftest import tiny_tokenizer
from cxprobe_pretraining.segments import cut_segments
from cxprobe_pretraining.settings import Pretrain
from cxprobe_pretraining.training import IGNORED, Batches, LanguageModelling, perplexity

TOKENIZER = tiny_tokenizer()
SETTINGS = {
    "objective": "masked", "start": "nowhere", "architecture": None, "steps": 12, "warm_up": 2, "batch_tokens": 64,
    "body_rate": 0.001, "head_rate": 0.01, "weight_decay": 0.1, "masked_first": 0.5, "masked_last": 0.2,
    "checkpoints": [], "resume_every": 5, "validate_every": 5, "accelerator": "cpu",
    "devices": 1, "precision": "32-true", "attention": "eager", "threads": 1,
}  # fmt: skip
SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def settings(**changes) -> Pretrain:
    return Pretrain(**SETTINGS | changes)


def segments():
    draws = np.random.default_rng(0)
    records = [[draws.integers(10, 60, size=draws.integers(2, 9)).tolist() for _ in range(3)] for _ in range(20)]
    return cut_segments(records, TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, 24, draws)


def batches(objective, **kwargs):
    return list(Batches(segments(), TOKENIZER, settings(objective=objective), seed=1, **kwargs))


def causal_model():
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(TOKENIZER), **SIZES, tie_word_embeddings=True)).eval()


def masked_model():
    torch.manual_seed(0)
    return BertForMaskedLM(BertConfig(vocab_size=len(TOKENIZER), **SIZES)).eval()


def test_the_causal_loss_is_the_models_own():
    model = causal_model()
    module = LanguageModelling(model, settings(objective="causal"), TOKENIZER.pad_token_id)
    for ids, labels in batches("causal", first=0, steps=3):
        filled = ids != TOKENIZER.pad_token_id
        own = model(input_ids=ids, attention_mask=filled.long(), labels=torch.where(filled, ids, IGNORED)).loss
        total, count = module.total_loss(ids, labels)
        assert count == int(filled.sum()) - len(ids)
        torch.testing.assert_close(total / count, own)


def test_the_masked_loss_is_the_models_own():
    model = masked_model()
    module = LanguageModelling(model, settings(), TOKENIZER.pad_token_id)
    for ids, labels in batches("masked", first=0, steps=3):
        own = model(input_ids=ids, attention_mask=(ids != TOKENIZER.pad_token_id).long(), labels=labels).loss
        total, count = module.total_loss(ids, labels)
        assert count == int((ids == TOKENIZER.mask_token_id).sum())
        torch.testing.assert_close(total / count, own)


@pytest.mark.parametrize("objective", ["masked", "causal"])
def test_whoever_begins_later_sees_the_same_batches(objective):
    whole = batches(objective, first=0, steps=12)
    rest = batches(objective, first=7, steps=12)
    assert len(whole) == 12
    for one, other in zip(whole[7:], rest, strict=True):
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])


def test_validation_sees_every_token_once():
    seen = sum(int((ids != TOKENIZER.pad_token_id).sum()) for ids, _ in batches("causal", first=0, steps=None))
    assert seen == len(segments().ids)


def test_every_weight_is_learnt_at_one_rate_and_only_matrices_decay():
    module = LanguageModelling(masked_model(), settings(), 0)
    groups = module.configure_optimizers()["optimizer"].param_groups
    learnt = [id(weight) for group in groups for weight in group["params"]]
    assert sorted(learnt) == sorted(id(weight) for weight in module.model.parameters())
    body = {id(weight) for weight in module.model.bert.parameters()}
    for group in groups:
        assert {group["initial_lr"]} == {0.001 if id(weight) in body else 0.01 for weight in group["params"]}
        assert {group["weight_decay"]} == {0.1 if weight.ndim > 1 else 0.0 for weight in group["params"]}


def test_an_even_guess_has_the_perplexity_of_the_vocabulary():
    model = causal_model()
    model.model.norm.weight.data.zero_()
    number = perplexity(model, TOKENIZER, settings(objective="causal"), segments(), seed=0)
    assert math.isclose(number, len(TOKENIZER), rel_tol=1e-4)
