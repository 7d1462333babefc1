"""What scores of tokens have in common, whether a model fills masks or reads from left to right."""

import pytest
import torch
from loaded_lms import assert_alike
from model_folders import spec
from scored import causal_token_scores, pll_token_scores
from tiny_lms import save_lm

from cxprobe.errors import DataError
from cxprobe.models.masked import MaskedLM
from cxprobe.models.scoring import load_language_model

pytest_plugins = ["loaded_lms"]

TEXTS = ["the old cat runs.", "we say that the oxen, too, sing in the garden", "the king"]
BOTH = pytest.mark.parametrize("kind", ["bert", "llama"])


def score(model, texts=TEXTS):
    if isinstance(model, MaskedLM):
        return pll_token_scores(model, texts, scheme="pll", token_budget=64)
    return causal_token_scores(model, texts, bos="as_tokenizer", token_budget=64)


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
