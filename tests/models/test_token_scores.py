"""What scores of tokens have in common, whether a model fills masks or reads from left to right."""

import pytest
import torch
from loaded_lms import assert_alike
from model_folders import spec
from scored import causal_token_scores, pll_token_scores
from tiny_lms import CAUSAL, MASKED, save_lm

from cxprobe.errors import DataError
from cxprobe.models.masked import MaskedLM
from cxprobe.models.scoring import load_language_model

pytest_plugins = ["loaded_lms"]

TEXTS = [
    "the old cat runs.",
    "the old cats run.",
    "we say that the oxen, too, sing in the garden",
    "the young cat runs.",
    "the king",
    "the old cat runs.",
]
BOTH = pytest.mark.parametrize("kind", ["bert", "llama"])


def score(model, texts=TEXTS, token_budget=64):
    if isinstance(model, MaskedLM):
        return pll_token_scores(model, texts, scheme="pll", token_budget=token_budget)
    return causal_token_scores(model, texts, bos="as_tokenizer", token_budget=token_budget)


@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_a_text_scores_the_same_alone_and_in_any_company(lms, kind):
    together = score(lms(kind), TEXTS, 10_000)
    assert_alike([score(lms(kind), [text], 1)[0] for text in TEXTS], together)


@BOTH
def test_padding_of_the_tokenizer_and_train_mode_change_nothing(lms, kind):
    model = lms(kind)
    expected = score(model)
    model.model.train()
    assert_alike(score(model), expected, atol=0)
    try:
        for model.tokenizer.padding_side in ("left", "right"):
            assert_alike(score(model), expected, atol=0)
    finally:
        model.tokenizer.padding_side = "right"


@BOTH
def test_a_number_that_is_not_finite_names_the_text(tmp_path, kind):
    save_lm(tmp_path, kind)
    model = load_language_model("tiny", spec(tmp_path))
    [cat] = model.tokenizer("cat", add_special_tokens=False)["input_ids"]
    model.model.get_input_embeddings().weight.data[cat] = torch.nan
    with pytest.raises(DataError, match="'the cat runs': the model gave a number that is not finite"):
        score(model, ["the cat runs"])
