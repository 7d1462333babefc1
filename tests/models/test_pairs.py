"""The texts of minimal pairs and their scores, against the models' own loss and plain scoring."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from tiny_lms import save_lm

from cxprobe.errors import DataError
from cxprobe.models.pairs import check_scored, load_language_model, score_texts, texts_of_pairs
from cxprobe.models.params import ModelSpec
from cxprobe.models.texts import Pair, ScoringConfig

PAIRS = [
    Pair("a", "a", "the old cat runs.", " the cat sings.", " the dog sings.", {}, {}),
    Pair("b", "b", "", "the old cats run.", "the old cats runs.", {}, {}),
]
MEMBERS = ["the old cat runs. the cat sings.", "the old cat runs. the dog sings.", "the old cats run."]
MEMBERS += ["the old cats runs."]
ALONE = ["the cat sings.", "the dog sings."]


HOW = ScoringConfig(["pll", "pll_word_l2r"], 64)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scored")
    for kind in ("bert", "gpt2"):
        save_lm(folder / kind, kind)
    spec = {"revision": None, "sha256": None, "dtype": "float32"}
    read = {"bert": "as_tokenizer", "gpt2": "add"}
    return {
        kind: load_language_model("tiny", ModelSpec(name=str(folder / kind), bos=bos, **spec))
        for kind, bos in read.items()
    }


@pytest.mark.parametrize(("kind", "schemes"), [("bert", ["pll", "pll_word_l2r"]), ("gpt2", ["causal"])])
def test_members_and_what_follows_a_context_alone_are_scored_under_every_scheme_of_the_model(models, kind, schemes):
    texts = texts_of_pairs(models[kind], PAIRS)
    assert texts == dict.fromkeys([*MEMBERS, *ALONE], 0)
    found = score_texts(models[kind], [texts], HOW)
    assert [(one.scheme, one.text) for one in found] == [(scheme, text) for scheme in schemes for text in texts]
    assert all(np.isfinite(one.log_probs).all() for one in found)


def test_pairs_that_could_not_be_judged_are_refused_before_anything_is_computed(models, monkeypatch):
    model = replace(models["gpt2"], bos="none")
    monkeypatch.setattr(type(model.model), "forward", lambda *_, **__: pytest.fail("the model was asked"))
    pair = Pair("c", "c", "", "old cats run.", "the cats run.", {}, {})
    with pytest.raises(DataError, match=r"1 of 1 pairs, such as c, differ in.*take bos: add$"):
        check_scored(model, [pair], ["sum"])
    with pytest.raises(
        DataError, match=r"pmi needs .* reads nothing before a text; take bos: add, or take pmi out of the scores"
    ):
        check_scored(model, PAIRS, ["sum", "pmi"])
    nameless = deepcopy(model)
    nameless.tokenizer.bos_token = None  # so that "add" would be refused too
    with pytest.raises(DataError, match=r"; take bos: <the token that began documents in its training>$"):
        check_scored(nameless, [pair], ["sum"])
    for sound in (
        (models["gpt2"], [pair], ["pmi"]),
        (model, PAIRS, ["sum", "given_context"]),
        (model, PAIRS[1:], ["pmi"]),  # no pair has a context
        (models["bert"], [*PAIRS, pair], ["pmi"]),
    ):
        check_scored(*sound)


def test_a_token_alone_with_nothing_before_it_is_left_out_since_it_can_have_no_score(models):
    gpt2, bare = models["gpt2"], replace(models["gpt2"], bos="none")
    pair = Pair("d", "d", "we say that", " cat", " cats", {}, {})
    tokens = gpt2.tokenizer(["cat", "s"])["input_ids"]
    assert len(tokens[1]) == 1
    one = Pair("e", "e", "the cat", "s", " runs", {}, {})
    assert list(texts_of_pairs(bare, [one])) == ["the cats", "the cat runs", "runs"]
    assert list(texts_of_pairs(gpt2, [one])) == ["the cats", "the cat runs", "s", "runs"]
    found = score_texts(bare, [texts_of_pairs(bare, [one, pair])], HOW)
    assert all(np.isfinite(scores.log_probs[1:]).all() for scores in found)
