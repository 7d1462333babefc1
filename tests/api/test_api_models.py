"""Scores, surprisals, fills and vectors, against the models' own output."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_lms import save_lm

import cxprobe
from cxprobe.errors import DataError, ModelError

KINDS = ("bert", "roberta", "gpt2", "llama")
SENTENCES = ["the old cat runs.", "we say that the fox eats, too.", "the queen"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    for kind in KINDS:
        save_lm(folder / kind, kind)
    return {kind: cxprobe.load(str(folder / kind), device="cpu") for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["word", "token"])
def test_surprisals_of_a_sentence_sum_to_its_score(models, kind, by):
    table, scores = models[kind].surprisal(SENTENCES, by=by, bos="add"), models[kind].score(SENTENCES, bos="add")
    sums = table.groupby("sentence")["log_probability"].sum()
    np.testing.assert_allclose(sums, scores["sum"], atol=1e-5)
    np.testing.assert_allclose(table["surprisal"] * np.log(2), -table["log_probability"])


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_what_stands_between_spaces_and_tokens_belong_to_one(models, kind):
    words, tokens = (models[kind].surprisal(SENTENCES, by=by) for by in ("word", "token"))
    assert words["word"].tolist() == " ".join(SENTENCES).split()
    assert words["tokens"].sum() == len(tokens)
    joined = tokens.groupby(["sentence", "position"])["log_probability"].sum(min_count=1)
    known = words["log_probability"].notna()
    np.testing.assert_allclose(joined.to_numpy()[known], words["log_probability"][known], atol=1e-5)


def test_the_shares_of_fills_are_their_probabilities_among_the_candidates(models):
    table = models["bert"].fill("the old [MASK] runs.", ["cat", "dog", "fox"])
    assert table["candidate"].tolist() == ["cat", "dog", "fox"]
    probabilities = np.exp(table["log_probability"])
    np.testing.assert_allclose(table["share"], probabilities / probabilities.sum(), atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_models_hidden_states(models, kind):
    lm = models[kind]
    found = lm.features(SENTENCES)
    for place, text in enumerate(SENTENCES):
        encoded = lm.tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        own = np.flatnonzero(encoded.pop("special_tokens_mask")[0] == 0)
        with torch.no_grad():
            hidden = torch.stack(lm.model(**encoded, output_hidden_states=True).hidden_states)[:, 0]
        np.testing.assert_allclose(found[:, place], hidden[:, own].mean(1), atol=1e-5)


def test_an_encoder_has_the_vectors_of_the_language_model(models):
    encoder = cxprobe.load_encoder(models["bert"].name, device="cpu")
    np.testing.assert_allclose(encoder.features(SENTENCES), models["bert"].features(SENTENCES), atol=1e-5)


@pytest.mark.parametrize("texts", ["the cat", [], ["the cat", " "], ["the cat", None], pd.DataFrame({"text": ["a"]})])
def test_what_is_no_list_of_texts_is_refused(models, texts):
    with pytest.raises(DataError, match=r"a list of texts is needed|text 1 is"):
        models["bert"].score(texts)
    with pytest.raises(DataError, match="the model takes"):
        models["bert"].features(["cat " * 100])


def test_a_path_and_a_generator_are_as_good_as_a_string_and_a_list(models):
    lm = models["bert"]
    assert repr(cxprobe.load(Path(lm.name), device="cpu")) == repr(lm)
    pd.testing.assert_frame_equal(lm.score(text for text in SENTENCES), lm.score(SENTENCES))
    np.testing.assert_array_equal(lm.features(iter(SENTENCES)), lm.features(SENTENCES))
    found = lm.compare(iter(SENTENCES), (text for text in SENTENCES[::-1]), (text for text in SENTENCES))
    assert found.accuracy.n == 3
    with pytest.raises(ModelError, match="there is no such folder"):
        cxprobe.load(Path("gone"))


def test_a_misspelt_name_of_a_model_that_is_here_is_told_without_a_network(monkeypatch):
    monkeypatch.setattr("cxprobe.models.loading.cached_file", None)
    for name, near in {"smollm2": "smollm2-135m", "mini-clmm": "mini-clm"}.items():
        with pytest.raises(ModelError, match=f"'{name}' is no model here; did you mean '{near}'"):
            cxprobe.load(name)


@pytest.mark.parametrize("ask", ["score", "surprisal", "features"])
def test_half_of_a_character_is_refused_and_unknown_tokens_are_told_with_their_share(models, ask):
    with pytest.raises(DataError, match=r"text 1 is .*, without lone surrogates"):
        getattr(models["gpt2"], ask)(["the cat", "the \ud83d cat"])
    with pytest.warns(UserWarning, match=r"50.0% of the tokens are unknown to its tokenizer, such as 'мыла'"):
        getattr(models["bert"], ask)(["the мыла", "мыла the"])


def test_pairs_that_tie_since_their_tokens_are_equal_are_counted(models):
    with pytest.warns(UserWarning, match="2 of 3 pairs tie, since both texts have the same tokens"):
        found = models["bert"].compare(["мама", "the cat", "мыла"], ["мыла", "the dog", "раму"])
    assert found.table["accuracy"].tolist()[::2] == [0.5, 0.5]
