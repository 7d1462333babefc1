"""The texts of questions and answers and their scores, against a plain loop over the model's own probabilities."""

import numpy as np
import pytest
import torch
from tiny_lms import save_lm

from cxprobe.errors import DataError
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.scoring import HowToScore, distinct_texts, score_texts
from cxprobe.lm.texts import Choice
from cxprobe.prompts.measure import check_lengths, texts_of_choices

ANSWERS = {"0": " the cat sings.", "1": " the dog", "2": " a horse runs"}
CHOICES = [Choice("a", "the old cat runs.", ANSWERS, "the"), Choice("b", "the old cat sings.", ANSWERS, "the")]
HOW = HowToScore(["pll"], "add", 64)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choices")
    for kind in ("bert", "gpt2"):
        save_lm(folder / kind, kind)
    spec = {"revision": None, "sha256": None, "dtype": "float32"}
    return {kind: load_language_model("tiny", ModelSpec(name=str(folder / kind), **spec)) for kind in ("bert", "gpt2")}


def answer_scores(model, choices):
    """Return text -> the scores of the tokens that its answer has."""
    texts = texts_of_choices(choices)
    found = {one.text: one for one in score_texts(model, [texts], HOW)}
    return {text: found[text].log_probs[found[text].spans[:, 1] > start] for text, start in texts.items()}


def causal_log_probs(model, before: str, answer: str) -> list[float]:
    """Return the log-probability of each token of an answer, by the model's own forward pass."""
    context = [model.tokenizer.bos_token_id, *model.tokenizer(before)["input_ids"]]
    own = model.tokenizer(answer)["input_ids"]
    with torch.no_grad():
        log_p = model.model(torch.tensor([[*context, *own]])).logits[0].log_softmax(-1)
    places = range(len(context) - 1, len(context) + len(own) - 1)
    return [log_p[place, id_].item() for place, id_ in zip(places, own, strict=True)]


def test_causal_scores_are_those_of_one_text_at_a_time(models):
    found = answer_scores(models["gpt2"], CHOICES)
    assert len(found) == 2 * 3 + 3  # after either question, and after what may stand before them anywhere
    for choice in CHOICES:
        for answer in choice.answers.values():
            for before in (choice.context, choice.anywhere):
                expected = causal_log_probs(models["gpt2"], before, answer)
                np.testing.assert_allclose(found[before + answer], expected, atol=1e-5)


def test_masked_scores_mask_each_token_of_the_answer_and_no_other(models):
    model = models["bert"]
    (choice,) = CHOICES[:1]
    texts = texts_of_choices([choice])
    found = {one.text: one.log_probs for one in score_texts(model, [texts], HOW)}
    before = len(model.tokenizer(choice.context)["input_ids"]) - 1  # without [SEP]
    for answer in choice.answers.values():
        ids = model.tokenizer(choice.context + answer, return_tensors="pt")["input_ids"]
        log_probs = found[choice.context + answer]
        assert np.isnan(log_probs[: before - 1]).all()
        expected = []
        for place in range(before, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = model.tokenizer.mask_token_id
            with torch.no_grad():
                expected.append(model.model(masked).logits[0, place].log_softmax(-1)[ids[0, place]].item())
        np.testing.assert_allclose(log_probs[before - 1 :], expected, atol=1e-5)


def test_a_text_that_ends_in_several_answers_is_scored_from_the_earliest_on():
    choice = Choice("c", "the cat", {"0": " runs today.", "1": " sings."}, "the cat runs")
    other = Choice("d", "the cat runs", {"0": " today."}, "the")
    texts = texts_of_choices([choice, other])
    assert texts["the cat runs today."] == len("the cat ")
    assert distinct_texts([texts_of_choices([other]), texts_of_choices([choice])]) == [
        {"the cat runs today.": len("the cat "), "the today.": len("the ")},
        {text: place for text, place in texts.items() if text not in ("the cat runs today.", "the today.")},
    ]


def test_what_is_too_long_is_refused_by_its_name_before_anything_is_computed(models, monkeypatch):
    long = Choice("long/question/3/templatic/direct", "the cat " * 80 + "runs.", {"0": " the cat"}, "the")
    monkeypatch.setattr(models["gpt2"].model, "forward", None)
    with pytest.raises(DataError) as raised:
        check_lengths(models["gpt2"], [*CHOICES, long])
    assert "1 of 3 questions are too long for the model, which takes 64 tokens" in str(raised.value)
    assert "long/question/3/templatic/direct" in str(raised.value)
    assert "prompts.make.continuations.most_shots" in str(raised.value)
    check_lengths(models["gpt2"], CHOICES)
