"""Scores, surprisals, fills and vectors, against the models' own output, and minimal pairs from lists and tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_lms import save_lm

import cxprobe
from conftest import ROOT
from cxprobe.api import SEED
from cxprobe.errors import ConstructionError, DataError, ModelError
from cxprobe.files.schema import read_yaml
from cxprobe.files.texts import read_texts, write_table_as

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


# Minimal pairs from lists and tables

GOOD = ["the old cat runs.", "the dog eats.", "the queen sings."]
BAD = ["the old cat sings.", "the dog reads.", "the queen sings."]


@pytest.fixture
def lm(models):
    return models["llama"]


def test_the_right_text_wins_where_its_score_is_higher_and_a_tie_is_half(lm):
    found = lm.compare(GOOD, BAD)
    good, bad = lm.score(GOOD)["sum"], lm.score(BAD)["sum"]
    expected = [1.0 if g > b else 0.0 for g, b in zip(good, bad, strict=True)]
    expected[2] = 0.5
    assert found.table["accuracy"].tolist() == expected
    assert found.accuracy.value == pytest.approx(sum(expected) / 3)
    assert found.accuracy.n == 3
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


def test_a_context_stands_before_both_texts_with_a_space(lm):
    alone = lm.compare([f"we say {text}" for text in GOOD], [f"we say {text}" for text in BAD])
    for context in ("we say", ["we say"] * 3):
        behind = lm.compare(GOOD, BAD, context)
        assert behind.table["margin"].tolist() == pytest.approx(alone.table["margin"].tolist(), abs=1e-5)


def test_what_is_compared_is_chosen_by_no_name_alone_and_is_said(lm):
    table = pd.DataFrame({"good": GOOD, "bad": BAD, "condition": ["construction"] * 3})
    assert lm.compare(table).score == lm.compare(GOOD, BAD).score == "per_token"
    assert lm.compare(table.assign(frame=[1, 2, 3])).score == "sum"
    assert "pairs by per_token, " in repr(lm.compare(GOOD, BAD))


def test_a_table_keeps_its_columns_and_is_reported_by_them(lm):
    table = pd.DataFrame({"good": GOOD, "bad": BAD, "verb": ["a", "b", "a"]})
    found = lm.compare(table)
    assert found.table["verb"].tolist() == ["a", "b", "a"]
    rates = found.by("verb").set_index("verb")
    assert rates.loc["a", "n"] == 2
    assert rates.loc["a", "ties"] == 1
    gaps = lm.compare(table.assign(verb=["a", None, float("nan")], rating=pd.array([1, None, 2], "Int64")))
    assert dict(gaps.by("verb")[["verb", "n"]].to_numpy()) == {"a": 1, "": 2}
    assert dict(gaps.by("rating")[["rating", "n"]].to_numpy()) == {1: 1, "(none)": 1, 2: 1}
    with pytest.raises(DataError, match=r"no column 'noun' .allowed: accuracy, "):
        found.by("noun")


def test_columns_that_nobody_asks_about_change_no_number_and_come_back_equal_from_a_file(lm, tmp_path):
    more = {"tags": [["a"], [], ["b", "c"]], "rating": [1.5, None, 3.0], "unit": ["x", "x", "y"], "value": [1, 2, 3]}
    pd.DataFrame({"good": GOOD, "bad": BAD} | more).to_parquet(tmp_path / "a.parquet")
    read = read_texts(tmp_path / "a.parquet", ["good", "bad"])
    found = lm.compare(read)
    assert repr(found) == repr(lm.compare(GOOD, BAD))
    write_table_as(found.table, str(tmp_path / "b.parquet"))
    pd.testing.assert_frame_equal(read_texts(tmp_path / "b.parquet")[[*read]], read)


def test_a_column_is_reported_by_only_if_its_values_are_names_and_its_name_is_none_of_a_rate(lm):
    found = lm.compare(pd.DataFrame({"good": GOOD, "bad": BAD, "tags": [["a"]] * 3, "n": [1, 2, 3]}))
    with pytest.raises(DataError, match=r"tags is \['a'\]; write a text or a number"):
        found.by("tags")
    with pytest.raises(DataError, match="the column n would be one of the rates"):
        found.by("n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((pd.DataFrame({"good": GOOD, "bad": BAD, "margin": [1, 2, 3]}),), "have the columns margin already"),
        ((pd.DataFrame({"good": GOOD, "bad": BAD, "cluster_x": [["a"]] * 3}),), r"cluster_x is \['a'\]; write a text"),
        ((GOOD,), "bad is missing"),
        ((GOOD, BAD[1:]), "good has 3 texts, and bad has 2"),
        ((["", "a"], ["a", "b"]), "row 1: good is ''"),
        ((pd.DataFrame({"good": GOOD, "bad": BAD, "id": ["a", "b", "a"]}),), "the id 'a' is there twice"),
    ],
)
def test_what_are_no_pairs_is_refused(lm, arguments, message):
    with pytest.raises(DataError, match=message):
        lm.compare(*arguments)
    with pytest.raises(DataError, match="given_context needs a context, and pair 0 has none"):
        lm.compare(GOOD, BAD, score="given_context")
    for option in ("score", "scheme", "bos"):
        with pytest.raises(DataError, match=f"{option} is 'mean' .allowed: "):
            lm.compare(GOOD, BAD, **{option: "mean"})


@pytest.mark.parametrize(
    ("clusters", "said", "is_reserved"),
    [
        ({}, "not clustered (no two pairs share a cluster)", False),
        ({"cluster_verb": list("aabbccdd")}, "clustered by verb (4 clusters)", True),
        ({"cluster_frame": list("aabbccdd"), "order": ["original", "switched"] * 4}, "over 4 frames", True),
    ],
)
def test_a_comparison_says_what_its_interval_rests_on(lm, clusters, said, is_reserved):
    table = pd.DataFrame({"good": [GOOD[0]] * 8, "bad": [BAD[0]] * 8} | clusters)
    found = lm.compare(table)
    assert found.clustering == said
    assert repr(found).endswith(f"of 8 pairs by per_token, {said}>")
    assert bool(found.reservation) == is_reserved


def test_items_in_two_orders_are_compared_by_being_right_in_both_and_by_the_mean_margin(lm):
    pairs = pd.DataFrame({"good": [*GOOD, *BAD], "bad": [*BAD, *GOOD]})  # the other order turns every decision round
    n = len(GOOD)
    names = {"item": [*range(n)] * 2, "cluster_frame": [f"frame {number}" for number in range(n)] * 2}
    found = lm.compare(pairs.assign(**names, order=["original"] * n + ["switched"] * n))
    assert found.accuracy.value == 0.5
    credits = found.table["accuracy"].head(n)
    assert (found.both_orders.value, found.both_orders.n) == ((credits * (1 - credits)).mean(), n)
    assert lm.compare(pairs).both_orders is None


def test_contrasts_are_the_means_of_frames_by_condition_and_their_differences(lm):
    conditions = ["construction"] * 2 + ["neutral"] * 2  # which exchanges the two texts
    good, bad = [*GOOD[:2], *BAD[:2]], [*BAD[:2], *GOOD[:2]]
    table = pd.DataFrame({"frame": [*"abab"], "condition": conditions, "good": good, "bad": bad})
    comparison = lm.compare(table)
    margins = comparison.table.set_index(["condition", "frame"])["margin"]
    found = comparison.contrasts().set_index("condition")
    assert found.loc["construction", "contrast"] == pytest.approx(margins["construction"].mean())
    assert found.loc["less_neutral", "contrast"] == pytest.approx(2 * margins["construction"].mean())
    assert found.loc["construction", "above_zero"] == (margins["construction"] > 0).mean()
    assert found["n"].to_dict() == dict.fromkeys(["construction", "neutral", "less_neutral", "adds"], 2)
    assert comparison.verdict == "none without the condition control"
    with pytest.raises(DataError, match="contrasts need the column condition"):
        lm.compare(table.drop(columns="condition")).contrasts()


# Items of constructions, from any folder


def test_items_are_drawn_with_the_seed_of_the_pipeline():
    assert read_yaml(ROOT / "presets" / "base.yaml", DataError)["seed"] == SEED
    drawn, again = (cxprobe.minimal_pairs("let-alone", pairs_per_condition=2, **how) for how in ({}, {"seed": SEED}))
    pd.testing.assert_frame_equal(drawn, again)


def test_a_name_that_is_listed_for_its_items_has_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {"let-alone", "let-alone-form"} <= {*cxprobe.list_constructions(having="pairs")}
    for name in cxprobe.list_constructions(having="pairs"):
        assert len(cxprobe.minimal_pairs(name, pairs_per_condition=1))
    for name in cxprobe.list_constructions(having="sentences"):
        assert len(cxprobe.sentences(name, per_cell=1))
    with pytest.raises(ConstructionError, match=r"has no minimal pairs in .*; did you mean 'let-alone-form'"):
        cxprobe.minimal_pairs("letalone-form")


def test_every_construction_is_listed_and_a_folder_of_ones_own_is_used(toy_constructions):
    assert cxprobe.list_constructions() == sorted(
        path.parent.name for path in ROOT.glob("constructions/*/construction.yaml")
    )
    name = cxprobe.list_constructions(toy_constructions)[0]
    assert len(cxprobe.sentences(name, per_cell=1, folder=toy_constructions))
