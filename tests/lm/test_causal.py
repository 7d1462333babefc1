from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scored import causal_token_scores
from tiny_lms import CAUSAL, save_lm

from cxprobe.errors import DataError, ModelError
from cxprobe.lm.causal import group_by_beginning
from cxprobe.lm.loading import load_causal_lm
from cxprobe.lm.params import ModelSpec

CONTEXT = "the old cat runs, the young dog sings, the king waits."
TEXTS = [
    f"{CONTEXT} the old one is the cat.",
    f"{CONTEXT} the old one is the dog.",
    f"{CONTEXT} the king reads",
    f"{CONTEXT} the queen",
    CONTEXT,
    "we say that the fox eats",
    "the old fox, too, eats in the garden",
    "we say that the fox eats",
]
POLICIES = [("gpt2", "none"), ("gpt2", "add"), ("gpt2", "as_tokenizer"), ("llama", "none"), ("llama", "as_tokenizer")]
POLICIES += [("qwen2", "as_tokenizer"), ("bloom", "none"), ("mamba", "none")]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("causal")
    for kind in CAUSAL:
        save_lm(folder / kind, kind)
    return {kind: load(folder / kind) for kind in CAUSAL}


def load(folder, dtype="float32"):
    return load_causal_lm("tiny", ModelSpec(name=str(folder), revision=None, sha256=None, dtype=dtype))


def by_hand(model, ids):
    """Read the softmax of the model's whole output for one text, position by position."""
    with torch.no_grad():
        logits = model.model(torch.tensor([ids])).logits[0].double()
    return logits[:-1].log_softmax(-1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].numpy()


@pytest.mark.parametrize(("kind", "bos"), POLICIES)
@pytest.mark.parametrize("budget", [1, 96, 10_000])
def test_scores_are_those_of_the_model_and_of_its_own_loss(models, kind, bos, budget):
    model = models[kind]
    before = {("gpt2", "add"): 1, ("llama", "as_tokenizer"): 1}.get((kind, bos), 0)
    for text, scores in zip(TEXTS, causal_token_scores(model, TEXTS, bos=bos, token_budget=budget), strict=True):
        assert scores.text == text
        ids = [model.tokenizer.bos_token_id] * before + scores.ids.tolist()
        expected = by_hand(model, ids)
        np.testing.assert_allclose(scores.log_probs[1 - before :], expected, atol=1e-5)
        assert np.isnan(scores.log_probs[: 1 - before]).all()
        with torch.no_grad():
            loss = model.model(torch.tensor([ids]), labels=torch.tensor([ids])).loss.item()
        assert np.nansum(scores.log_probs) == pytest.approx(-loss * (len(ids) - 1), abs=1e-4)


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_text_scores_the_same_alone_and_in_any_company(models, kind):
    for text, scores in zip(
        TEXTS, causal_token_scores(models[kind], TEXTS, bos="none", token_budget=10_000), strict=True
    ):
        [alone] = causal_token_scores(models[kind], [text], bos="none", token_budget=1)
        np.testing.assert_allclose(alone.log_probs, scores.log_probs, atol=1e-5)


def test_a_context_is_computed_once_for_all_that_follow_it(models):
    model, seen = models["llama"], SimpleNamespace(tokens=0)

    def count(_module, _args, options):
        seen.tokens += options["input_ids"].numel()

    hook = model.model.register_forward_pre_hook(count, with_kwargs=True)
    causal_token_scores(
        model, [f"{CONTEXT} the {one}" for one in ("cat", "dog", "fox", "king")] * 2, bos="add", token_budget=96
    )
    hook.remove()
    context = len(model.tokenizer(f"{CONTEXT} the")["input_ids"])
    # All but the last token of what they share, once; then that token four times, to predict the four words from.
    assert seen.tokens == context - 1 + 4


def test_what_many_texts_share_is_computed_in_batches_within_the_budget(models):
    model, sizes = models["qwen2"], []

    def note(_module, _args, options):
        sizes.append(options["input_ids"].numel())

    texts = [
        f"{CONTEXT} the {one} {verb}" for one in ("cat", "dog", "fox", "king") for verb in ("runs", "sings", "eats")
    ]
    hook = model.model.register_forward_pre_hook(note, with_kwargs=True)
    found = causal_token_scores(model, texts, bos="none", token_budget=40)
    hook.remove()
    context = len(model.tokenizer(CONTEXT)["input_ids"])
    assert max(sizes) <= 40
    assert sum(sizes) < len(texts) * context
    for text, scores in zip(texts, found, strict=True):
        np.testing.assert_allclose(scores.log_probs[1:], by_hand(model, scores.ids.tolist()), atol=1e-5)
        assert scores.text == text


def test_padding_of_the_tokenizer_changes_nothing(models):
    model = models["llama"]
    try:
        found = []
        for model.tokenizer.padding_side in ("left", "right"):
            found.append(causal_token_scores(model, TEXTS, bos="as_tokenizer", token_budget=96))
    finally:
        model.tokenizer.padding_side = "right"
    for left, right in zip(*found, strict=True):
        np.testing.assert_array_equal(left.log_probs, right.log_probs)


def test_a_model_that_is_handed_over_in_train_mode_scores_as_in_eval_mode(models):
    model = models["gpt2"]
    expected = causal_token_scores(model, TEXTS, bos="add", token_budget=96)
    model.model.train()
    for one, other in zip(expected, causal_token_scores(model, TEXTS, bos="add", token_budget=96), strict=True):
        np.testing.assert_array_equal(one.log_probs, other.log_probs)


def test_tokens_know_their_place_in_the_text(models):
    [scores] = causal_token_scores(models["gpt2"], ["the old cats"], bos="add", token_budget=96)
    assert models["gpt2"].tokenizer.convert_ids_to_tokens(scores.ids.tolist()) == ["t", "h", "e", "Ġold", "Ġcat", "s"]
    assert scores.words.tolist() == [0, 0, 0, 1, 2, 2]
    assert scores.spans.tolist()[-3:] == [[4, 7], [8, 11], [11, 12]]


def test_texts_of_any_length_tie_per_token_where_all_logits_are_constant(tmp_path):
    save_lm(tmp_path, "qwen2")
    model = load(tmp_path)
    torch.nn.init.zeros_(model.model.lm_head.weight)
    scores = causal_token_scores(model, TEXTS, bos="none", token_budget=96)
    assert len({np.nanmean(one.log_probs) for one in scores}) == 1
    assert np.nanmean(scores[0].log_probs) == pytest.approx(-np.log(len(model.tokenizer)), rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "text", "bos", "message"),
    [
        ("qwen2", "the cat", "add", "tokenizer has no such token; take 'as_tokenizer' or 'none'"),
        ("llama", "<s> the cat", "as_tokenizer", "contains a token that bos puts before it"),
        ("llama", "cat", "none", "is one token with nothing before it and has no score; take bos: add"),
        ("llama", " ".join(["cat"] * 64), "add", "65 tokens, the model takes 64"),
        ("llama", "", "add", "has no token that could be scored"),
    ],
)
def test_what_cannot_be_scored_is_refused_before_anything_is_computed(models, monkeypatch, kind, text, bos, message):
    def refuse(*_args, **_options):
        raise AssertionError("the model was called")

    monkeypatch.setattr(models[kind].model, "forward", refuse)
    with pytest.raises(DataError, match=message):
        causal_token_scores(models[kind], ["the old cat", text], bos=bos, token_budget=96)


def test_a_number_that_is_not_finite_names_the_text(tmp_path):
    save_lm(tmp_path, "llama")
    model = load(tmp_path)
    cat = model.tokenizer.convert_tokens_to_ids("▁cat")
    model.model.model.embed_tokens.weight.data[cat] = torch.nan
    with pytest.raises(DataError, match="'the cat runs': the model gave a number that is not finite"):
        causal_token_scores(model, ["the dog runs", "the cat runs"], bos="add", token_budget=96)


def test_a_masked_model_is_refused_at_loading(tmp_path):
    save_lm(tmp_path, "bert")
    with pytest.raises(ModelError, match=r"models\.tiny: .* is a bert model and reads both ways; take a causal one"):
        load(tmp_path)


def test_nothing_to_score_gives_nothing(models):
    assert causal_token_scores(models["gpt2"], [], bos="add", token_budget=96) == []


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=12).map(tuple), unique=True))
def test_groups_hold_each_text_once_and_share_what_all_their_members_begin_with(texts):
    sequences = [np.array(text, dtype=np.int32) for text in texts]
    groups = group_by_beginning(sequences)
    assert sorted(member for group in groups for member in group.members) == list(range(len(texts)))
    for group in groups:
        members = [texts[member] for member in group.members]
        assert len({member[: group.shared + 1] for member in members}) == 1 or group.shared == 0
        assert all(len(member) - group.shared >= 2 for member in members)
        assert (group.shared > 0) == (len(members) > 1)
