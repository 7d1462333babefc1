"""The texts of questions and answers and their scores, against a plain loop over the model's own probabilities."""

import numpy as np
import pandas as pd
import torch
from tiny_lms import save_lm

from cxprobe.models.pairs import load_language_model, score_texts
from cxprobe.models.params import ModelSpec
from cxprobe.models.texts import ScoringConfig, distinct_texts
from cxprobe.tasks.prompts.measure import texts_of_choices

QUESTION, ANSWERS = "the old cat runs.", [" the cat sings.", " the dog", " a horse runs"]


def choices(question: str, answers: list[str], anywhere: str) -> pd.DataFrame:
    return pd.DataFrame({"question": question, "anywhere": anywhere, "text": answers})


def test_masked_scores_mask_each_token_of_the_answer_and_no_other(tmp_path):
    save_lm(tmp_path, "bert")
    model = load_language_model("tiny", ModelSpec(name=str(tmp_path), revision=None, sha256=None, dtype="float32"))
    texts = texts_of_choices(choices(QUESTION, ANSWERS, "the"))
    found = {one.text: one.log_probs for one in score_texts(model, [texts], ScoringConfig(["pll"], 64))}
    before = len(model.tokenizer(QUESTION)["input_ids"]) - 1  # without [SEP]
    for answer in ANSWERS:
        ids = model.tokenizer(QUESTION + answer, return_tensors="pt")["input_ids"]
        log_probs = found[QUESTION + answer]
        assert np.isnan(log_probs[: before - 1]).all()
        expected = []
        for place in range(before, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = model.tokenizer.mask_token_id
            with torch.no_grad():
                expected.append(model.model(masked).logits[0, place].log_softmax(-1)[ids[0, place]].item())
        np.testing.assert_allclose(log_probs[before - 1 :], expected, atol=1e-5)


def test_a_text_that_ends_in_several_answers_is_scored_from_the_earliest_on():
    choice = choices("the cat", [" runs today.", " sings."], "the cat runs")
    other = choices("the cat runs", [" today."], "the")
    texts = texts_of_choices(pd.concat([choice, other]))
    assert texts["the cat runs today."] == len("the cat ")
    assert distinct_texts([texts_of_choices(other), texts_of_choices(choice)]) == [
        {"the cat runs today.": len("the cat "), "the today.": len("the ")},
        {text: place for text, place in texts.items() if text not in ("the cat runs today.", "the today.")},
    ]
