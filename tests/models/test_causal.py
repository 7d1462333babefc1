"""Scores of causal models, against the model's whole output for one text and its own loss."""

import numpy as np
import pytest
import torch
from counted import count_rows
from hypothesis import given
from hypothesis import strategies as st
from model_folders import spec
from scored import causal_token_scores

from cxprobe.errors import DataError
from cxprobe.models.causal import Tree, rows_of_texts
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model, score_texts
from cxprobe.models.store import answers_folder
from cxprobe.models.texts import ScoringConfig

pytest_plugins = ["loaded_lms"]

CONTEXT = "the old cat runs, the young dog sings, the king waits."
TEXTS = [
    f"{CONTEXT} the old one is the cat.",
    f"{CONTEXT} the old one is the dog.",
    f"{CONTEXT} the king reads",
    f"{CONTEXT} the queen",
    CONTEXT,
    "we say that the fox eats",
    "the old fox, too, eats in the garden",
    "we say that the fox eats",
]
POLICIES = [("gpt2", "none"), ("gpt2", "add"), ("gpt2", "as_tokenizer"), ("llama", "none"), ("llama", "as_tokenizer")]
POLICIES += [("qwen2", "as_tokenizer"), ("qwen2", "<|endoftext|>"), ("bloom", "none"), ("mamba", "none")]
# Kind and bos -> what stands before a text; qwen2's tokenizer has no name for it.
BEFORE = {
    ("gpt2", "add"): "<|endoftext|>",
    ("llama", "as_tokenizer"): "<s>",
    ("qwen2", "<|endoftext|>"): "<|endoftext|>",
}


def by_hand(model, ids):
    """Read the softmax of the model's whole output for one text, position by position."""
    with torch.no_grad():
        logits = model.model(torch.tensor([ids])).logits[0].double()
    return logits[:-1].log_softmax(-1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])].numpy()


@pytest.mark.parametrize(("kind", "bos"), POLICIES)
@pytest.mark.parametrize("budget", [1, 96, 10_000])
def test_scores_are_those_of_the_model_and_of_its_own_loss(lms, kind, bos, budget):
    model = lms(kind)
    first = [model.tokenizer.get_vocab()[BEFORE[kind, bos]]] if (kind, bos) in BEFORE else []
    before = len(first)
    for text, scores in zip(TEXTS, causal_token_scores(model, TEXTS, bos=bos, token_budget=budget), strict=True):
        assert scores.text == text
        ids = [*first, *scores.ids.tolist()]
        expected = by_hand(model, ids)
        np.testing.assert_allclose(scores.log_probs[1 - before :], expected, atol=1e-5)
        assert np.isnan(scores.log_probs[: 1 - before]).all()
        with torch.no_grad():
            loss = model.model(torch.tensor([ids]), labels=torch.tensor([ids])).loss.item()
        assert np.nansum(scores.log_probs) == pytest.approx(-loss * (len(ids) - 1), abs=1e-4)


def test_what_many_texts_share_is_computed_in_batches_within_the_budget(lms):
    model = lms("qwen2")
    texts = [f"{CONTEXT} the {one} {verb}" for one in ("cat", "dog", "fox") for verb in ("runs", "sings", "eats")]
    seen = count_rows(model)
    causal_token_scores(model, texts, bos="none", token_budget=40)
    seen.hook.remove()
    assert seen.tokens <= 40 * seen.calls
    assert seen.tokens < len(texts) * len(model.tokenizer(CONTEXT)["input_ids"])


def test_two_models_of_one_run_may_read_other_tokens_first_and_have_stores_of_their_own(lms):
    bare, begun = (
        load_language_model(open_source("tiny", spec(lms("gpt2").name, bos=bos))) for bos in ("none", "<|endoftext|>")
    )
    first, second = (score_texts(model, [{"the old cat": 0}], ScoringConfig(["pll"], 96)) for model in (bare, begun))
    assert np.isnan(first[0].log_probs[0])
    assert np.isfinite(second[0].log_probs).all()
    assert answers_folder("tiny", bare, "cpu") != answers_folder("tiny", begun, "cpu")


@pytest.mark.parametrize(
    ("kind", "text", "bos", "message"),
    [
        ("qwen2", "the cat", "add", "bos is 'add', and its tokenizer has no bos_token"),
        ("qwen2", "the cat", "<|start|>", "bos is '<.start.>' .allowed: .*one token of its vocabulary"),
        ("qwen2", "the cat", "cat", "bos is 'cat' .allowed: "),  # a plain word, though it may be a token
        ("llama", "<s> the cat", "as_tokenizer", "contains a token that bos puts before it"),
        ("llama", "cat", "none", "is one token with nothing before it and has no score; take bos: add"),
        ("llama", " ".join(["cat"] * 64), "add", "65 tokens, the model takes 64"),
        ("llama", "", "add", "has no token; is it empty"),
    ],
)
def test_what_cannot_be_scored_is_refused_before_anything_is_computed(untouched, kind, text, bos, message):
    with pytest.raises(DataError, match=message):
        causal_token_scores(untouched(kind), ["the old cat", text], bos=bos, token_budget=96)


IDS = st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=12).map(tuple), unique=True, min_size=1)


@given(IDS, st.integers(1, 60))
def test_rows_hold_each_text_once_and_are_within_the_budget_or_of_one_text(texts, budget):
    sequences = [np.array(text, dtype=np.int32) for text in texts]
    rows = rows_of_texts(sequences, budget)
    assert sorted(text for of_row, _ in rows for text in of_row) == list(range(len(texts)))
    for of_row, places in rows:
        whole = [(sequences[text], len(sequences[text]) - 1) for text in of_row]
        assert places == len(Tree(whole).ids)
        assert places <= budget or len(of_row) == 1


@given(IDS, st.data())
def test_a_row_has_each_beginning_once_and_scores_the_ends_that_are_asked_for_after_no_other_place(texts, data):
    ends = [data.draw(st.integers(1, len(text) - 1)) for text in texts]
    tree = Tree([(np.array(text, dtype=np.int32), scored) for text, scored in zip(texts, ends, strict=True)])
    assert len(tree.ids) == len({text[:end] for text in texts for end in range(1, len(text))})
    beginnings = set()
    for text, scored, steps in zip(texts, ends, tree.steps, strict=True):
        beginnings |= {text[:end] for end in range(len(text) - scored, len(text))}
        numbers, following = zip(*(tree.followed[step] for step in steps), strict=True)
        places = [tree.scored[numbers[-1]]]
        while tree.before[places[0]] >= 0:
            places.insert(0, tree.before[places[0]])
        assert tuple(tree.ids[place] for place in places) == text[:-1]
        assert [tree.depths[place] for place in places] == list(range(len(text) - 1))
        assert [tree.scored[number] for number in numbers] == places[-scored:]
        assert following == text[-scored:]
    assert len(tree.scored) == len(beginnings)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bloom", "mamba"])
def test_tokens_from_a_place_on_have_the_same_scores_as_in_a_text_that_is_scored_whole(lms, kind):
    model = lms(kind)
    how = ScoringConfig(["pll"], 96)
    starts = {text: len(text) - 8 for text in dict.fromkeys(TEXTS)}
    every = score_texts(model, [dict.fromkeys(starts, 0)], how)
    for one, part in zip(every, score_texts(model, [starts], how), strict=True):
        is_asked = one.spans[:, 1] > starts[one.text]
        np.testing.assert_allclose(part.log_probs[is_asked], one.log_probs[is_asked], atol=1e-5)
        assert np.isnan(part.log_probs[~is_asked]).all()
