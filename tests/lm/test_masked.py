import numpy as np
import pytest
import torch
from counted import count_rows
from scored import pll_token_scores
from tiny_lms import MASKED, save_lm, tokenizer_of

from cxprobe.errors import DataError, ModelError
from cxprobe.lm.loading import load_masked_lm
from cxprobe.lm.masked import equal_length_batches
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.texts import encode

TEXTS = [
    "the old cat runs.",
    "the old cats run.",
    "we say that the oxen, too, sing in the garden",
    "the young cat runs.",
    "king",
    "the old cat runs.",
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("masked")
    for kind in MASKED:
        save_lm(folder / kind, kind)
    return {kind: load(folder / kind) for kind in MASKED}


@pytest.fixture
def bert(models):
    return models["bert"]


def load(folder, dtype="float32"):
    return load_masked_lm("tiny", ModelSpec(name=str(folder), revision=None, sha256=None, dtype=dtype))


def by_hand(model, text, scheme):
    """Mask one token after the other, one input at a time, and read the softmax over the whole vocabulary."""
    ids = model.tokenizer(text)["input_ids"]
    [encoded] = encode(model.tokenizer, [text], special_tokens=True)
    numbers = []
    for place in range(1, len(ids) - 1):
        copy = list(ids)
        copy[place] = model.tokenizer.mask_token_id
        if scheme == "pll_word_l2r":
            for later in range(place + 1, len(ids) - 1):
                if encoded.words[later - 1] == encoded.words[place - 1]:
                    copy[later] = model.tokenizer.mask_token_id
        with torch.no_grad():
            logits = model.model(torch.tensor([copy])).logits
        numbers.append(logits[0, place].double().log_softmax(-1)[ids[place]].item())
    return numbers


@pytest.mark.parametrize("scheme", ["pll", "pll_word_l2r"])
@pytest.mark.parametrize("kind", MASKED)
def test_scores_are_those_of_masking_one_token_after_the_other(models, kind, scheme):
    found = pll_token_scores(models[kind], TEXTS, scheme=scheme, token_budget=64)
    for text, scores in zip(TEXTS, found, strict=True):
        assert scores.text == text
        assert scores.scheme == scheme
        np.testing.assert_allclose(scores.log_probs, by_hand(models[kind], text, scheme), atol=1e-5)


@pytest.mark.parametrize("kind", MASKED)
def test_a_text_scores_the_same_alone_and_in_any_company(models, kind):
    together = pll_token_scores(models[kind], TEXTS, scheme="pll", token_budget=10_000)
    for text, scores in zip(TEXTS, together, strict=True):
        [alone] = pll_token_scores(models[kind], [text], scheme="pll", token_budget=1)
        np.testing.assert_allclose(alone.log_probs, scores.log_probs, atol=1e-5)


def test_both_schemes_agree_where_every_word_is_one_token(bert):
    text = "we say that the old cat runs, the king waits."
    pll, l2r = (pll_token_scores(bert, [text], scheme=one, token_budget=64)[0] for one in ("pll", "pll_word_l2r"))
    assert len(set(pll.words.tolist())) == len(pll.words)
    np.testing.assert_array_equal(pll.log_probs, l2r.log_probs)


def test_a_span_leaves_all_other_tokens_without_a_score(bert):
    text = "the old cat runs, the king waits."
    [whole] = pll_token_scores(bert, [text], scheme="pll", token_budget=64)
    [part] = pll_token_scores(bert, [text], scheme="pll", token_budget=64, spans=[(18, 26)])
    assert np.flatnonzero(np.isfinite(part.log_probs)).tolist() == [5, 6]
    np.testing.assert_allclose(part.log_probs[5:7], whole.log_probs[5:7], atol=1e-5)
    assert np.nansum(part.log_probs) == pytest.approx(whole.log_probs[5:7].sum(), abs=1e-5)
    with pytest.raises(DataError, match="no token in its characters 3 to 4"):
        pll_token_scores(bert, [text], scheme="pll", token_budget=64, spans=[(3, 4)])


def test_what_the_members_of_a_pair_have_in_common_is_computed_once(bert):
    seen = count_rows(bert)
    pair = ["the old cat runs.", "the old dog runs."]
    found = pll_token_scores(bert, [*pair, pair[0]], scheme="pll", token_budget=64)
    seen.hook.remove()
    assert seen.rows == 5 + 5 - 1  # where "cat" and "dog" are masked the two are the same
    np.testing.assert_array_equal(found[0].log_probs, found[2].log_probs)


def test_padding_of_the_tokenizer_changes_nothing(bert):
    try:
        found = []
        for bert.tokenizer.padding_side in ("left", "right"):
            found.append([one.log_probs for one in pll_token_scores(bert, TEXTS, scheme="pll", token_budget=64)])
    finally:
        bert.tokenizer.padding_side = "right"
    for left, right in zip(*found, strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_model_that_is_handed_over_in_train_mode_scores_as_in_eval_mode(bert):
    expected = pll_token_scores(bert, TEXTS, scheme="pll", token_budget=64)
    bert.model.train()
    found = pll_token_scores(bert, TEXTS, scheme="pll", token_budget=64)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one.log_probs, other.log_probs)


def test_every_token_is_equally_probable_to_a_model_of_constant_logits(tmp_path):
    save_lm(tmp_path, "bert")
    model = load(tmp_path)
    for part in model.model.cls.predictions.parameters():
        torch.nn.init.zeros_(part)
    expected = -np.log(np.float32(len(model.tokenizer)))
    for scores in pll_token_scores(model, TEXTS, scheme="pll", token_budget=64):
        assert len(set(scores.log_probs)) == 1
        np.testing.assert_allclose(scores.log_probs, expected, rtol=1e-6)


@pytest.fixture
def untouched(models, monkeypatch):
    """A model that must not be called."""

    def refuse(*_args, **_options):
        raise AssertionError("the model was called")

    monkeypatch.setattr(models["bert"].model, "forward", refuse)
    return models["bert"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the [MASK] cat", "contains the model's mask token"),
        ("cat " * 63, "65 tokens, the model takes 64"),
        ("", "has no token that could be scored"),
    ],
)
def test_a_text_that_cannot_be_scored_is_refused_before_anything_is_computed(untouched, text, message):
    with pytest.raises(DataError, match=message):
        pll_token_scores(untouched, ["the cat", text], scheme="pll", token_budget=64)


def test_a_number_that_is_not_finite_names_the_text(tmp_path):
    save_lm(tmp_path, "bert")
    model = load(tmp_path)
    cat = model.tokenizer.convert_tokens_to_ids("cat")
    model.model.bert.embeddings.word_embeddings.weight.data[cat] = torch.nan
    with pytest.raises(DataError, match=r"'the old cat runs\.': the model gave a number that is not finite"):
        pll_token_scores(model, ["the old cat runs."], scheme="pll", token_budget=64)


def test_nothing_to_score_gives_nothing(bert):
    assert pll_token_scores(bert, [], scheme="pll", token_budget=64) == []


def test_bfloat16_is_rounded_in_the_model_and_not_in_the_softmax(tmp_path):
    save_lm(tmp_path, "bert")
    exact, rounded = load(tmp_path), load(tmp_path, "bfloat16")
    [scores] = pll_token_scores(rounded, TEXTS[:1], scheme="pll", token_budget=64)
    [reference] = pll_token_scores(exact, TEXTS[:1], scheme="pll", token_budget=64)
    np.testing.assert_allclose(scores.log_probs, reference.log_probs, atol=1.0)
    assert any(torch.tensor(number).bfloat16().item() != number for number in scores.log_probs)


def test_batches_have_one_length_and_hold_each_input_once():
    lengths = [3, 5, 3, 9, 5, 3, 3]
    batches = equal_length_batches(lengths, 8)
    assert [[lengths[position] for position in batch] for batch in batches] == [[9], [5], [5], [3, 3], [3, 3]]
    assert sorted(position for batch in batches for position in batch) == list(range(7))


def test_a_tokenizer_without_a_mask_token_is_refused_at_loading(tmp_path):
    tokenizer = tokenizer_of("bert")
    tokenizer.mask_token = None
    save_lm(tmp_path, "bert", tokenizer)
    with pytest.raises(ModelError, match=r"models\.tiny: .* has a tokenizer without a mask token"):
        load(tmp_path)
