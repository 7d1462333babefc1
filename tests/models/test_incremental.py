"""Scoring with a store: a killed run goes on, a corrected text costs only itself, and the numbers stay the same."""

import pytest
import torch
from counted import count_rows
from loaded_lms import assert_alike
from model_folders import spec
from tiny_lms import save_lm, sentences_that_begin_alike

from cxprobe.errors import DataError
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model, score_texts
from cxprobe.models.store import AnswerStore, answer
from cxprobe.models.texts import ScoringConfig

pytestmark = pytest.mark.pipeline
pytest_plugins = ["loaded_lms"]

TEXTS = dict.fromkeys(sentences_that_begin_alike(), 0)
HOW = ScoringConfig(["pll", "pll_word_l2r"], 24)  # few texts a batch


class Killed(BaseException):
    pass


def score(model, folder, texts=TEXTS):
    """Score texts with a store; return the scores, and the calls, rows and tokens that the model saw."""
    seen = count_rows(model)
    try:
        with AnswerStore(folder) as store:
            return answer(lambda: model.questions([texts], HOW), lambda: model, store), seen
    finally:
        seen.hook.remove()


def kill_after(model, calls):
    """Let a model die at the call after so many."""
    left = iter(range(calls))

    def die(*_):
        if next(left, None) is None:
            raise Killed

    return model.model.register_forward_pre_hook(die)


KINDS = pytest.mark.parametrize("kind", ["bert", "gpt2", "mamba"])


@KINDS
def test_padding_of_the_tokenizer_and_train_mode_change_nothing(lms, kind):
    model = lms(kind)
    expected = score_texts(model, [TEXTS], HOW)
    model.model.train()
    assert_alike(score_texts(model, [TEXTS], HOW), expected, atol=0)
    try:
        for model.tokenizer.padding_side in ("left", "right"):
            assert_alike(score_texts(model, [TEXTS], HOW), expected, atol=0)
    finally:
        model.tokenizer.padding_side = "right"


@KINDS
def test_a_number_that_is_not_finite_names_the_text(tmp_path, kind):
    save_lm(tmp_path, kind)
    model = load_language_model(open_source("tiny", spec(tmp_path)))
    [cat] = model.tokenizer("cat", add_special_tokens=False)["input_ids"][:1]
    model.model.get_input_embeddings().weight.data[cat] = torch.nan
    with pytest.raises(DataError, match="'the cat runs': the model gave a number that is not finite"):
        score_texts(model, [{"the cat runs": 0}], HOW)


@KINDS
@pytest.mark.parametrize("calls", [2, 5])
def test_a_killed_run_goes_on_where_it_stopped(lms, tmp_path, kind, calls):
    model = lms(kind)
    whole, all_of_it = score(model, tmp_path / "whole")
    assert_alike(whole, score_texts(model, [TEXTS], HOW), atol=0)  # without a store
    dying = kill_after(model, calls)
    seen = count_rows(model)
    with pytest.raises(Killed), AnswerStore(tmp_path / "killed") as store:
        answer(lambda: model.questions([TEXTS], HOW), lambda: model, store)
    dying.remove()
    seen.hook.remove()
    found, rest = score(model, tmp_path / "killed")
    assert_alike(found, whole)
    assert seen.calls == calls
    if kind == "bert":
        assert rest.rows == all_of_it.rows - seen.rows
    else:  # a beginning that several texts share may be computed in both runs
        assert all_of_it.tokens - seen.tokens <= rest.tokens < all_of_it.tokens
    assert score(model, tmp_path / "killed")[1].calls == 0


@KINDS
def test_a_corrected_text_costs_only_itself(lms, tmp_path, kind):
    model = lms(kind)
    score(model, tmp_path)
    wrong, *others = TEXTS
    right = wrong.replace("garden", "old garden")
    corrected = dict.fromkeys([right, *others], 0)
    found, seen = score(model, tmp_path, corrected)
    _, every = score(model, tmp_path / "whole", corrected)
    assert 0 < seen.tokens < every.tokens / 10
    assert_alike(found, score_texts(model, [corrected], HOW))
    assert score(model, tmp_path, corrected)[1].calls == 0
