"""Unigrams, n-grams and continuations alone; the trigram model against its definition by brute force and by hand."""

import json
from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from wordfreq import word_frequency

from cxprobe.errors import DataError, ModelError
from cxprobe.files.tables import write_table
from cxprobe.models.ngrams import (
    DISCOUNTS,
    START,
    KneserNey,
    load_ngrams,
    ngram_scores,
    prepend_contexts,
    sentences_of,
    unigram_scores,
    without_contexts,
)
from cxprobe.models.params import NgramModel
from cxprobe.models.texts import Pair, TokenScores, read_pair_answers, token_table
from cxprobe.run.record import ModelFacts, read_model_facts, write_model_facts
from pretraining.ngrams import count_ngrams
from pretraining.settings import Ngrams

TEXTS = [
    "The cat sat on the mat. The dog sat on the cat.",
    "The dog saw a cat and the cat saw a dog, and a dog sat.\nA cat sat on a mat.",
    "On the mat the cat saw the dog. The dog saw the mat. Birds sing.",
]
ALL = Ngrams(word=1, pair=1, triple=1)
SENTENCES = [[word.text for word in sentence] for text in TEXTS for sentence in sentences_of(text)]


def distribution(model: KneserNey, *before: str) -> np.ndarray:
    """Return the probability of every word behind some words, at most two, which begin a sentence if there is one."""
    return np.exp([model.log_probabilities([*before, word])[-1] for word in model.words if word != START])


@pytest.mark.filterwarnings("ignore:divide by zero")  # where no word is rare, an unknown one is impossible
@pytest.mark.parametrize("least", [ALL, Ngrams(word=2, pair=2, triple=2), Ngrams(word=3, pair=9, triple=9)])
def test_the_probabilities_after_any_words_sum_to_one_whatever_is_pruned(least):
    model = KneserNey.of(count_ngrams(TEXTS, least))
    for before in ([], ["the"], ["sat", "on"], ["the", "cat"], ["zebra"], ["zebra", "zebra"], ["cat", "zebra"]):
        assert distribution(model, *before).sum() == pytest.approx(1), before


def test_it_is_its_definition_by_brute_force():
    table = count_ngrams(TEXTS, ALL)
    model = KneserNey.of(table)
    of_pairs, of_triples = json.loads(table.schema.metadata[DISCOUNTS])
    streams = [[START, *sentence] for sentence in SENTENCES]
    triples = Counter(tuple(s[i : i + 3]) for s in streams for i in range(len(s) - 2))
    occurrences = Counter(tuple(s[i : i + 2]) for s in streams for i in range(len(s) - 1))
    before = defaultdict(set)
    for one, *pair in triples:
        before[tuple(pair)].add(one)
    pairs = {pair: times if pair[0] == START else len(before[pair]) for pair, times in occurrences.items()}

    def single(word):
        return sum(pair[1] == word for pair in pairs) / len(pairs)

    def after(history, word, counts, discount, shorter):
        own = {gram[-1]: times for gram, times in counts.items() if gram[:-1] == history and times}
        if not own:
            return shorter
        all_of_them = sum(own.values())
        left = sum(min(discount, times) for times in own.values()) / all_of_them
        return max(own.get(word, 0) - discount, 0) / all_of_them + left * shorter

    for history in ((START,), (START, "the"), ("the", "cat"), ("sat", "on"), ("mat", "birds")):
        for word in ("the", "cat", "sat", ".", "sing"):
            expected = after(history[-1:], word, pairs, of_pairs, single(word))
            if len(history) == 2:
                expected = after(history, word, triples, of_triples, expected)
            found = model.log_probabilities([*(one for one in history if one != START), word])[-1]
            assert np.exp(found) == pytest.approx(expected), (history, word)


def test_discounts_are_those_of_ney():
    table = count_ngrams(TEXTS, ALL)
    triples = [row["count"] for row in table.to_pylist() if row["first"]]
    once, twice = triples.count(1), triples.count(2)
    assert json.loads(table.schema.metadata[DISCOUNTS])[1] == pytest.approx(once / (once + 2 * twice))


PAIRS = [
    Pair("a", "a", "Ann can't help Bob.", " She helped Bob.", " She helped Ann.", {}, {}),
    Pair("b", "b", "", "The cats sing.", "The cats sings.", {}, {}),
]


def test_a_word_has_the_frequency_that_wordfreq_gives_it_wherever_it_stands():
    [one] = unigram_scores(["The well-known cook can't sing, the cook said."], "en")
    words = [one.text[start:stop] for start, stop in one.spans]
    assert words == ["The", "well-known", "cook", "can't", "sing", "the", "cook", "said"]
    expected = [np.log(word_frequency(word.lower(), "en")) for word in words]
    assert one.log_probs.tolist() == pytest.approx(expected)
    assert one.ids[0] == one.ids[5]
    assert one.ids[2] == one.ids[6]
    assert one.scheme == "causal"


def test_a_text_without_a_word_is_refused():
    with pytest.raises(DataError, match=r"'\?!' has no word"):
        unigram_scores(["?!"], "en")


def test_ngrams_score_words_and_punctuation_sentence_by_sentence():
    toys = ["The cats sing. The dogs can't sing!", "The cats run, the dogs sing."]
    model = KneserNey.of(count_ngrams(toys, ALL))
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
    return TokenScores(text, scheme, places.astype(np.int32), spans, log_probs)


@pytest.mark.parametrize("schemes", [["causal"], ["pll", "pll_word_l2r"]])
@pytest.mark.parametrize("first", [-1.0, np.nan])
def test_continuations_have_the_same_scores_behind_any_context_and_the_model_is_a_baseline(tmp_path, schemes, first):
    [left] = without_contexts(PAIRS)
    assert (left.context, left.good, left.bad) == ("", "She helped Bob.", "She helped Ann.")
    scores = [alone(text, scheme, first) for scheme in schemes for text in (left.good, left.bad)]
    write_table(token_table(scores), tmp_path / "tokens.parquet")
    write_model_facts(ModelFacts("models/clm", "causal", 10, "sha256 a"), tmp_path)
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
