"""The trigram model against nltk's, a computation by hand, and its own definition by brute force."""

import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

from conftest import ROOT
from cxprobe.files.writing import digest
from cxprobe.models.ngrams import DISCOUNTS, START, KneserNey, sentences_of
from pretraining.ngrams import count_ngrams
from pretraining.settings import Ngrams, load_pretraining_params

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


def test_the_carried_model_is_small_and_knows_what_stands_beside_what():
    path = ROOT / "models" / "mini-ngrams" / "ngrams.parquet"
    assert path.stat().st_size < 4_000_000
    assert digest(path) in (path.parent / "README.md").read_text()
    model = KneserNey.of(pa.parquet.read_table(path))
    right, wrong = (model.log_probabilities(words)[-1] for words in (["one", "of", "the"], ["one", "of", "is"]))
    assert right > wrong + 2
    words = [word for word in model.words if word != START][::50]
    assert np.exp([model.log_probabilities(["of", "the", word])[-1] for word in words]).sum() < 0.5
    assert load_pretraining_params(ROOT / "models" / "params.yaml").ngrams.triple == 3
