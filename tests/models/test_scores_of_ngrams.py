"""Unigrams, n-grams and continuations alone, in the form of token scores."""

from itertools import product

import numpy as np
import pytest
from wordfreq import word_frequency

from cxprobe.errors import DataError, ModelError
from cxprobe.models.language_models import read_model_facts
from cxprobe.models.ngrams import (
    KneserNey,
    load_ngrams,
    ngram_scores,
    prepend_contexts,
    unigram_scores,
    without_contexts,
)
from cxprobe.models.params import NgramModel
from cxprobe.models.texts import Pair, TokenScores, read_pair_answers, write_token_scores
from cxprobe.run.record import ModelFacts
from pretraining.ngrams import count_ngrams
from pretraining.settings import Ngrams

PAIRS = [
    Pair("a", "a", "Ann can't help Bob.", " She helped Bob.", " She helped Ann.", {}, {}),
    Pair("b", "b", "", "The cats sing.", "The cats sings.", {}, {}),
]
TOYS = ["The cats sing. The dogs can't sing!", "The cats run, the dogs sing."]


def toy_model() -> KneserNey:
    return KneserNey.of(count_ngrams(TOYS, Ngrams(word=1, pair=1, triple=1)))


def test_a_word_has_the_frequency_that_wordfreq_gives_it_wherever_it_stands():
    [one] = unigram_scores(["The well-known cook can't sing, the cook said."], "en")
    words = [one.text[start:stop] for start, stop in one.spans]
    assert words == ["The", "well-known", "cook", "can't", "sing", "the", "cook", "said"]
    expected = [np.log(word_frequency(word.lower(), "en")) for word in words]
    assert one.log_probs.tolist() == pytest.approx(expected)
    assert one.ids[0] == one.ids[5]
    assert one.ids[2] == one.ids[6]
    assert one.scheme == "causal"


def test_a_text_without_a_word_and_an_unknown_language_are_refused():
    with pytest.raises(DataError, match=r"'\?!' has no word"):
        unigram_scores(["?!"], "en")
    with pytest.raises(DataError, match="no language 'xq'"):
        unigram_scores(["a"], "xq")


def test_ngrams_score_words_and_punctuation_sentence_by_sentence():
    model = toy_model()
    [both] = ngram_scores(["The cats sing. THE dogs can't"], model)
    words = [both.text[start:stop] for start, stop in both.spans]
    assert words == ["The", "cats", "sing", ".", "THE", "dogs", "can", "'t"]
    first = model.log_probabilities(["the", "cats", "sing", "."])
    second = model.log_probabilities(["the", "dogs", "can", "'t"])
    assert both.log_probs.tolist() == [*first, *second]
    assert both.ids[0] == both.ids[4] == model.words["the"]


def test_the_file_of_counts_must_be_there_and_be_the_right_one(tmp_path):
    spec = NgramModel(kind="ngrams", name=str(tmp_path), sha256="0" * 64)
    with pytest.raises(ModelError, match=r"models.x: .*ngrams.parquet does not exist"):
        load_ngrams("models.x", spec)
    bundled = NgramModel(kind="ngrams", name="models/mini-ngrams", sha256="0" * 64)
    with pytest.raises(ModelError, match=r"models.x: sha256 is 0{64}, and the files of .* have [0-9a-f]{64}"):
        load_ngrams("models.x", bundled)


def alone(text: str, scheme: str = "causal", first: float = -1.0) -> TokenScores:
    ends = [place for place, letter in enumerate(text + " ") if letter == " "]
    spans = np.array(list(zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True)))
    places = np.arange(len(spans))
    log_probs = np.array([first, *(-float(len(text) + place) for place in places[1:])])
    return TokenScores(text, scheme, places.astype(np.int32), spans, places, log_probs)


def test_pairs_without_a_context_are_none_for_a_model_that_is_baseline_by_not_seeing_it():
    [left] = without_contexts(PAIRS)
    assert (left.context, left.good, left.bad) == ("", "She helped Bob.", "She helped Ann.")


@pytest.mark.parametrize("schemes", [["causal"], ["pll", "pll_word_l2r"]])
@pytest.mark.parametrize("first", [-1.0, np.nan])
def test_continuations_have_the_same_scores_behind_any_context_and_the_model_is_a_baseline(tmp_path, schemes, first):
    scores = [alone(text, scheme, first) for scheme in schemes for text in ("She helped Bob.", "She helped Ann.")]
    write_token_scores(scores, ModelFacts("models/clm", "causal", 10, "sha256 a"), tmp_path)
    other = Pair("c", "c", "The cook sang.", PAIRS[0].good, PAIRS[0].bad, {}, {})
    prepend_contexts([*PAIRS, other], tmp_path)
    facts = read_model_facts(tmp_path)
    assert (facts.kind, facts.state, facts.name) == ("baseline", "none", "continuation alone, by models/clm")
    found = read_pair_answers(tmp_path).set_index(["scheme", "text"])
    assert len(found) == 6 * len(schemes)
    for scheme, pair in product(schemes, (PAIRS[0], other)):
        text = pair.context + pair.good
        whole, own = found.loc[scheme, text], found.loc[scheme, pair.good.lstrip()]
        assert whole["log_probs"].sum() == np.nansum(own["log_probs"])
        tokens = [text[start:stop] for start, stop in zip(whole["starts"], whole["stops"], strict=True)]
        assert tokens == ["She", "helped", "Bob."][int(np.isnan(first)) :]
