"""Each class of fault that an architecture brings, by one tiny architecture that has it."""

import numpy as np
import pytest
import torch
from model_folders import change, refusal, spec
from scored import causal_token_scores, vectors_of
from tiny_lms import save_lm, sentences_that_begin_alike, tokenizer_of
from transformers import AutoModelForMaskedLM, T5Config, T5EncoderModel
from transformers.models.bert.modeling_bert import BertLayer

from cxprobe.errors import ModelError
from cxprobe.models.embedding import encoder_of, load_encoder
from cxprobe.models.intervening import (
    Edits,
    SentenceTokens,
    answers_after,
    block_output,
    tokens_of_sentence,
)
from cxprobe.models.loading import are_alike
from cxprobe.models.pairs import load_language_model, score_texts
from cxprobe.models.texts import ScoringConfig

TEXTS = sentences_that_begin_alike()[:24]


def saved(folder, kind):
    """Save a tiny model of an architecture with a tokenizer that knows the words of the texts."""
    save_lm(folder, kind, tokenizer_of("roberta"))
    return folder


def prefix_by_prefix(model, ids):
    """Return the log-probability of each id but the first, by a pass that cannot see what follows."""
    with torch.no_grad():
        return [
            model(input_ids=torch.tensor([ids[:end]])).logits[0, -1].float().log_softmax(-1)[ids[end]].item()
            for end in range(1, len(ids))
        ]


@pytest.mark.parametrize(
    ("kind", "dtype", "reads_trees"),
    [
        ("opt", "float32", True),  # its forward pass goes past the base model
        ("roberta-decoder", "float32", False),  # its positions do not count from 0
        ("roberta-decoder", "bfloat16", False),
        ("minimax", "float32", False),  # a state goes on from text to text
        ("minimax", "bfloat16", False),
        ("gpt2", "bfloat16", True),
    ],
)
def test_a_causal_model_is_asked_in_the_fastest_way_that_gives_its_own_numbers(tmp_path, kind, dtype, reads_trees):
    model = load_language_model("tiny", spec(saved(tmp_path, kind), dtype=dtype))
    assert (model.reads_trees, model.batched) == (reads_trees, True)
    if dtype == "float32":
        for scores in causal_token_scores(model, TEXTS, bos="none", token_budget=96):
            expected = prefix_by_prefix(model.model, scores.ids.tolist())
            np.testing.assert_allclose(scores.log_probs[1:], expected, atol=1e-4)


def test_texts_of_more_tokens_than_a_window_has_share_no_row_and_those_of_fewer_do(tmp_path):
    change(saved(tmp_path, "minimax") / "config.json", sliding_window=6)
    assert not load_language_model("tiny", spec(tmp_path)).reads_trees
    change(saved(tmp_path, "qwen2") / "config.json", sliding_window=6, use_sliding_window=True, max_window_layers=0)
    model = load_language_model("tiny", spec(tmp_path))
    assert (model.reads_trees, model.longest_row) == (True, 6)
    for scores in causal_token_scores(model, [*TEXTS[:4], "the cat", "the dog"], bos="none", token_budget=96):
        np.testing.assert_allclose(scores.log_probs[1:], prefix_by_prefix(model.model, scores.ids.tolist()), atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["both-ways", "no-decoder"])
def test_a_model_that_sees_what_follows_gives_no_scores_from_left_to_right_but_vectors(tmp_path, kind, dtype):
    folder = saved(tmp_path, kind)
    assert "its tokens see what follows them" in refusal(load_language_model, folder, dtype=dtype)
    assert load_encoder("tiny", spec(folder, dtype=dtype)).batched


@pytest.mark.parametrize(("kind", "batched"), [("fnet", False), ("bert", True)])
def test_vectors_that_depend_on_the_batch_are_computed_one_at_a_time(tmp_path, kind, batched):
    saved(tmp_path, kind)
    texts = [TEXTS[0], "the cat", "we say that the fox runs"]
    for encoder in (load_encoder("tiny", spec(tmp_path)), encoder_of(load_language_model("tiny", spec(tmp_path)))):
        assert encoder.batched == batched
        alone = np.concatenate([vectors_of(encoder, [text], 512) for text in texts], axis=1)
        np.testing.assert_allclose(vectors_of(encoder, texts, 512), alone, atol=1e-5)


@pytest.mark.parametrize("load", [load_language_model, load_encoder])
def test_a_model_that_answers_otherwise_each_time_is_refused(tmp_path, load, monkeypatch):
    plain = BertLayer.forward
    monkeypatch.setattr(BertLayer, "forward", lambda *args, **options: plain(*args, **options) * torch.rand(1))
    assert "no answer to" in refusal(load, saved(tmp_path, "bert"))


@pytest.mark.parametrize("kind", ["convbert", "mobilebert", "nystromformer", "yoso", "bert"])
def test_a_prompt_is_answered_alike_alone_and_beside_others_as_a_text_is_scored(tmp_path, kind):
    model = load_language_model("tiny", spec(saved(tmp_path, kind)))
    texts = ("the cat", "we say that the old dog", "the king")
    prompts = [tokens_of_sentence(model, text, [len(text)], ("runs", "sings"), " here.") for text in texts]
    targets = torch.tensor([prompt.targets for prompt in prompts])
    alone = [answers_after(model, [one], targets[[number]]) for number, one in enumerate(prompts)]
    torch.testing.assert_close(answers_after(model, prompts, targets), torch.cat(alone), rtol=0, atol=1e-5)
    output = block_output(model, prompts, 0, 64)
    columns = torch.tensor([prompt.regions[:1] for prompt in prompts])
    edits = Edits(output, torch.arange(3), columns[:, 0], output.at(columns)[:, 0])
    torch.testing.assert_close(answers_after(model, prompts, targets, edits), torch.cat(alone), rtol=0, atol=2e-5)


def test_interventions_are_refused_where_what_seem_to_be_blocks_are_parts_of_them(tmp_path):
    model = load_language_model("tiny", spec(saved(tmp_path, "xlm")))
    ids = np.array(model.tokenizer(TEXTS[0])["input_ids"], dtype=np.int32)
    with pytest.raises(ModelError, match="after the own vectors of block 2 are written back"):
        block_output(model, [SentenceTokens(ids, (2,), 4, (7, 8))], 0, 64)


def test_numbers_are_alike_up_to_half_of_the_digits_of_their_precision():
    numbers = np.linspace(-9, -1, 50)
    for dtype, far in ((torch.float32, 1e-3), (torch.float16, 0.05), (torch.bfloat16, 0.15)):
        assert are_alike([numbers, numbers * (1 + far / 10)], [numbers, numbers], dtype)
        assert not are_alike([numbers, numbers * (1 + far)], [numbers, numbers], dtype)
    assert are_alike([np.ones(2)], [np.ones(2)], torch.float32)
    assert not are_alike([np.ones(2)], [np.zeros(2)], torch.bfloat16)
    assert not are_alike([np.array([1.0, np.nan])], [np.array([1.0, 2.0])], torch.bfloat16)


@pytest.mark.parametrize("kind", ["roberta", "camembert", "mpnet", "bert"])
def test_a_text_of_exactly_the_longest_input_is_read(tmp_path, kind):
    save_lm(tmp_path, kind, tokenizer_of("roberta"), positions=32)
    encoder = load_encoder("tiny", spec(tmp_path))
    assert encoder.max_tokens == (32 if kind == "bert" else 30)
    text = " ".join(["cat"] * 60)
    whole = next(text[:end] for end in range(240, 0, -1) if len(encoder.tokenizer(text[:end])["input_ids"]) == 30)
    assert np.isfinite(vectors_of(encoder, [whole], 512)).all()


@pytest.mark.parametrize("kind", ["deberta-legacy", "deberta-v2-legacy"])
def test_the_keys_of_a_checkpoint_decide_which_head_a_deberta_has(tmp_path, kind):
    model = load_language_model("tiny", spec(saved(tmp_path, kind)))
    plain = AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    [scores] = score_texts(model, [{"the old cat": 0}], ScoringConfig(["pll"], 96))
    tokens = torch.arange(len(scores.ids))
    ids = torch.tensor([model.tokenizer("the old cat")["input_ids"]]).repeat(len(tokens), 1)
    ids[tokens, tokens + 1] = model.tokenizer.mask_token_id
    with torch.no_grad():
        logits = plain(ids).logits[tokens, tokens + 1].log_softmax(-1)
    np.testing.assert_allclose(scores.log_probs, logits[tokens, scores.ids.tolist()], atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("electra-discriminator", "saved as ElectraForPreTraining, and is read as ElectraForMaskedLM"),
        ("bert-body", "saved as BertModel, and is read as BertForMaskedLM"),
    ],
)
def test_a_checkpoint_without_the_head_is_refused_with_this_reason_and_gives_vectors(tmp_path, kind, reason):
    saved(tmp_path, kind)
    with pytest.raises(ModelError, match=reason):
        load_language_model("tiny", spec(tmp_path))
    load_encoder("tiny", spec(tmp_path))


def test_an_encoder_of_an_encoder_decoder_gives_vectors_and_no_scores(tmp_path):
    tokenizer = tokenizer_of("roberta")
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    T5EncoderModel(T5Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert vectors_of(load_encoder("tiny", spec(tmp_path)), TEXTS[:2]).shape == (2, 2, 16)
    assert "is a t5 model, which is no language model" in refusal(load_language_model, tmp_path)
