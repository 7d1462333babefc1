import numpy as np
import pytest
import torch

from cxprobe.errors import DataError
from cxprobe.likelihood import pll_token_scores, score_pairs
from cxprobe.models import load_language_model
from cxprobe.params import ModelSpec, ScorePairs
from cxprobe.records import Pair
from tiny_lms import save_lm

PAIRS = [
    Pair("a", "a", "the old cat runs.", " the cat sings.", " the dog sings.", {}, {}),
    Pair("b", "b", "", "the old cats run.", "the old cats runs.", {}, {}),
]
EVERY = ("per_token", "sum", "per_character", "given_context", "pmi")


def settings(bos: str = "as_tokenizer", scores=EVERY) -> ScorePairs:
    return ScorePairs(schemes=["pll", "pll_word_l2r"], scores=list(scores), bos=bos, token_budget=64, device="cpu")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    for kind in ("bert", "gpt2"):
        save_lm(folder / kind, kind)
    spec = {"revision": None, "sha256": None, "dtype": "float32"}
    return {kind: load_language_model("tiny", ModelSpec(name=str(folder / kind), **spec)) for kind in ("bert", "gpt2")}


def by_name(table, scheme: str, id_: str):
    return table[(table["scheme"] == scheme) & (table["id"] == id_)].set_index("score")


@pytest.mark.parametrize(("kind", "schemes"), [("bert", ["pll", "pll_word_l2r"]), ("gpt2", ["causal"])])
def test_every_score_of_every_pair_under_every_scheme_of_the_model(models, kind, schemes):
    table = score_pairs(models[kind], PAIRS, settings(bos="add"))
    assert table["scheme"].unique().tolist() == schemes
    for scheme in schemes:
        assert set(by_name(table, scheme, "a").index) == set(EVERY)
        assert set(by_name(table, scheme, "b").index) == set(EVERY) - {
            "given_context",
            "pmi",
        }  # nothing stands before it
    np.testing.assert_array_equal(table["margin"], table["good"] - table["bad"])


def test_causal_sums_are_the_models_own_loss(models):
    gpt2 = models["gpt2"]
    sums = by_name(score_pairs(gpt2, PAIRS, settings(scores=["sum", "per_token"])), "causal", "a")["good"]
    ids = gpt2.tokenizer(PAIRS[0].context + PAIRS[0].good, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        loss = gpt2.model(ids, labels=ids).loss.item()
    scored = ids.shape[1] - 1
    assert sums["sum"] == pytest.approx(-loss * scored, abs=1e-4)
    assert sums["per_token"] == pytest.approx(-loss, abs=1e-4)


def test_masked_scores_are_made_of_the_tokens_scores(models):
    bert = models["bert"]
    found = by_name(score_pairs(bert, PAIRS, settings()), "pll", "a")["bad"]
    text, end = PAIRS[0].context + PAIRS[0].bad, PAIRS[0].bad.lstrip()
    whole, alone = pll_token_scores(bert, [text, end], scheme="pll", token_budget=64)
    after = whole.spans[:, 0] >= len(text) - len(end)
    assert found["sum"] == pytest.approx(whole.log_probs.sum())
    assert found["per_token"] == pytest.approx(whole.log_probs.mean())
    assert found["given_context"] == pytest.approx(whole.log_probs[after].sum())
    assert found["pmi"] == pytest.approx(whole.log_probs[after].sum() - alone.log_probs.sum())


@pytest.mark.parametrize(
    ("pair", "scores", "message"),
    [
        (Pair("c", "c", "", "old cats run.", "the cats run.", {}, {}), ["sum"], "1 of 1 pairs, such as c, differ in"),
        (PAIRS[0], ["pmi"], "pmi needs the score of a continuation's first token"),
    ],
)
def test_a_first_token_that_matters_and_has_no_score_is_refused_before_anything_is_computed(
    models, monkeypatch, pair, scores, message
):
    model = models["gpt2"]

    def computes(*_args, **_options):
        raise AssertionError("the model was asked")

    monkeypatch.setattr(type(model.model), "forward", computes)
    with pytest.raises(DataError, match=f"{message}.*take bos: add"):
        score_pairs(model, [pair], settings(bos="none", scores=scores))


def test_a_model_that_finds_all_words_alike_ties(models):
    bert = models["bert"]
    weights = {name: tensor.clone() for name, tensor in bert.model.state_dict().items()}
    with torch.no_grad():
        for parameter in bert.model.parameters():
            parameter.zero_()
    try:
        pair = Pair("d", "d", "", "the cat runs.", "the dog runs.", {}, {})
        assert (score_pairs(bert, [pair], settings(scores=["sum"]))["margin"] == 0).all()
    finally:
        bert.model.load_state_dict(weights)
