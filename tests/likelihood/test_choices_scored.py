"""Answers' likelihoods, against a plain loop over the model's own probabilities."""

import numpy as np
import pytest
import torch

from cxprobe.errors import DataError
from cxprobe.likelihood import score_choices
from cxprobe.models import load_language_model
from cxprobe.params import ModelSpec
from cxprobe.prompting_params import AnswerLikelihoods
from cxprobe.records import Choice
from tiny_lms import save_lm

EVERY = ("sum", "per_token", "per_character", "pmi")
CHOICES = [
    Choice("a", "the old cat runs.", {"0": " the cat sings.", "1": " the dog", "2": " a horse runs"}, "the"),
    Choice("b", "the old cat sings.", {"0": " the cat sings.", "1": " the dog", "2": " a horse runs"}, "the"),
]


def settings(scores=EVERY, bos: str = "add") -> AnswerLikelihoods:
    return AnswerLikelihoods(
        inference_prompts=["x"], reasoning_prompts=["x"], most_shots=0, scores=list(scores), scheme="pll", bos=bos,
        token_budget=64, device="cpu",
    )  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choices")
    for kind in ("bert", "gpt2"):
        save_lm(folder / kind, kind)
    spec = {"revision": None, "sha256": None, "dtype": "float32"}
    return {kind: load_language_model("tiny", ModelSpec(name=str(folder / kind), **spec)) for kind in ("bert", "gpt2")}


def causal_sum(model, before: str, answer: str) -> tuple[float, int]:
    """Return the log-probability of an answer and its number of tokens, by the model's own forward pass."""
    context = [model.tokenizer.bos_token_id, *model.tokenizer(before)["input_ids"]]
    own = model.tokenizer(answer)["input_ids"]
    with torch.no_grad():
        log_p = model.model(torch.tensor([[*context, *own]])).logits[0].log_softmax(-1)
    places = range(len(context) - 1, len(context) + len(own) - 1)
    return sum(log_p[place, id_].item() for place, id_ in zip(places, own, strict=True)), len(own)


def test_causal_scores_are_those_of_one_text_at_a_time(models):
    table = score_choices(models["gpt2"], CHOICES, settings()).set_index(["id", "answer", "score"])["value"]
    assert len(table) == 2 * 3 * 4
    for choice in CHOICES:
        for symbol, answer in choice.answers.items():
            total, tokens = causal_sum(models["gpt2"], choice.context, answer)
            alone, _ = causal_sum(models["gpt2"], choice.anywhere, answer)
            expected = [total, total / tokens, total / len(answer.replace(" ", "")), total - alone]
            np.testing.assert_allclose([table[choice.id, symbol, score] for score in EVERY], expected, atol=1e-4)


def test_masked_sums_mask_each_token_of_the_answer(models):
    model = models["bert"]
    (choice,) = CHOICES[:1]
    table = score_choices(model, [choice], settings(["sum"])).set_index("answer")["value"]
    before = len(model.tokenizer(choice.context)["input_ids"]) - 1  # without [SEP]
    for symbol, answer in choice.answers.items():
        ids = model.tokenizer(choice.context + answer, return_tensors="pt")["input_ids"]
        total = 0.0
        for place in range(before, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = model.tokenizer.mask_token_id
            with torch.no_grad():
                total += model.model(masked).logits[0, place].log_softmax(-1)[ids[0, place]].item()
        assert table[symbol] == pytest.approx(total, abs=1e-4)


def test_a_choice_alone_scores_as_in_company(models):
    for model in models.values():
        together = score_choices(model, CHOICES, settings())
        alone = score_choices(model, CHOICES[1:], settings())
        np.testing.assert_allclose(together[together["id"] == "b"]["value"], alone["value"], atol=1e-5)


def test_what_is_too_long_is_refused_by_its_name_before_anything_is_computed(models, monkeypatch):
    long = Choice("long/question/3/templatic/direct", "the cat " * 80 + "runs.", {"0": " the cat"}, "the")
    monkeypatch.setattr(models["gpt2"].model, "forward", None)
    with pytest.raises(DataError) as raised:
        score_choices(models["gpt2"], [*CHOICES, long], settings())
    assert "1 of 3 questions are too long for the model, which takes 64 tokens" in str(raised.value)
    assert "long/question/3/templatic/direct" in str(raised.value)
    assert "answer_likelihoods.most_shots" in str(raised.value)
