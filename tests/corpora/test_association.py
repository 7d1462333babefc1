"""Association of words with slots: against scipy, counted by hand, and on sentences of which the answer is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact

from cxprobe.corpora.association import SHOWN, association, fillers_of, shown_fillers
from cxprobe.corpora.search import in_reference


def fillers(counts, url="book#1", of_class="VB"):
    """Return fillers of one slot: word -> how many."""
    slots = [{"slot": "verb", "word": word, "tag": of_class + "D"} for word, n in counts.items() for _ in range(n)]
    return fillers_of(
        pd.DataFrame({"url": [f"{url}/{n}" for n in range(len(slots))], "slots": [[one] for one in slots]})
    )


def reference(counts, of_class="VB"):
    return pd.DataFrame([(word, of_class, n) for word, n in counts.items()], columns=["word", "class", "number"])


COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 40), min_size=2)


@settings(max_examples=25)
@given(inside=COUNTS, outside=COUNTS)
def test_g2_and_delta_p_of_a_whole_corpus_are_those_of_its_four_numbers(inside, outside):
    corpus = {word: inside.get(word, 0) + outside.get(word, 0) for word in {*inside, *outside}}
    table = association(fillers(inside), reference(corpus), 1.0).set_index("word")
    assert set(table.index) == set(inside)
    n, rest = sum(inside.values()), sum(outside.values())
    for word, a in inside.items():
        b = outside.get(word, 0)
        row, cells = table.loc[word], np.array([[a, n - a], [b, rest - b]])
        assert row[["number", "n", "elsewhere", "n_elsewhere"]].tolist() == [a, n, b, rest]
        assert row["delta_p_word"] == pytest.approx(a / n - b / rest)
        if (cells.sum(axis=0) > 0).all():
            expected = chi2_contingency(cells, correction=False, lambda_="log-likelihood").statistic
            assert row["g2"] == pytest.approx(expected, abs=1e-9)
            assert row["delta_p_slot"] == pytest.approx(a / (a + b) - (n - a) / (n + rest - a - b))


def test_a_published_collexeme_has_the_four_numbers_that_were_published():
    # Stefanowitsch & Gries 2003, table 1: "accident" in "N waiting to happen", in the British National Corpus.
    corpus = {"accident": 8620, "other": 10_206_300 - 8620}
    found = fillers({"accident": 14, "other": 21}, of_class="NN")
    row = association(found, reference(corpus, "NN"), 1.0).iloc[0]
    cells = [[14, 21], [row["elsewhere"], row["n_elsewhere"] - row["elsewhere"]]]
    assert cells[1] == [8606, 10_197_659]
    assert fisher_exact(cells, alternative="greater").pvalue / 2.12e-34 == pytest.approx(1, rel=0.01)
    assert row["g2"] == pytest.approx(151.1, abs=0.1)


def test_words_are_compared_with_those_of_their_class_alone():
    found = pd.concat([fillers({"her": 8, "it": 2}, of_class="PR"), fillers({"boy": 5, "tea": 5}, of_class="NN")])
    words = pd.concat([reference({"her": 50, "it": 500}, "PR"), reference({"boy": 30, "tea": 30, "her": 900}, "NN")])
    table = association(found, words, 1.0).set_index("word")
    assert table["n"].to_dict() == {"boy": 10, "tea": 10, "her": 10, "it": 10}
    assert table.loc["boy", "n_elsewhere"] == 960 - 10
    assert table.loc["her", "elsewhere"] == 42
    assert table.loc["boy", "g2"] == table.loc["tea", "g2"]


@settings(max_examples=25)
@given(share=st.floats(0.05, 0.95), seed=st.integers(0, 50))
def test_of_a_share_only_its_own_slots_are_subtracted(share, seed):
    found = fillers({"give": 30, "tell": 10}, url=f"{seed}#")
    inside = found[[in_reference(url, share) for url in found["url"]]]["word"].value_counts()
    table = association(found, reference({"give": 100, "tell": 100, "see": 300}), share).set_index("word")
    assert table["elsewhere"].to_dict() == {word: 100 - inside.get(word, 0) for word in ("give", "tell")}
    a, b = 30, 100 - inside.get("give", 0)
    rest = 10 + (400 - inside.get("tell", 0)) / share
    assert table.loc["give", "delta_p_slot"] == pytest.approx(a / (a + b / share) - 10 / rest)


def test_of_a_word_that_a_sample_lacks_it_is_not_known_how_often_it_has_the_construction():
    found = fillers({"bestow": 3, "give": 30})
    words = reference({"give": 100, "see": 300})
    of_sample = association(found, words, 0.5).set_index("word")
    assert np.isnan(of_sample.loc["bestow", "delta_p_slot"])
    assert of_sample.loc["bestow", ["elsewhere", "number"]].tolist() == [0, 3]
    assert of_sample.loc["bestow", "g2"] > 0
    no_verbs = association(found, reference({"tea": 5}, "NN"), 0.5)
    assert no_verbs[["g2", "delta_p_word", "delta_p_slot"]].isna().all(axis=None)
    assert no_verbs["number"].tolist() == [3, 30]


def test_a_share_of_the_records_is_the_reference_whatever_their_order():
    urls = [f"package/page#{n}" for n in range(20_000)]
    taken = [in_reference(url, 0.1) for url in urls]
    assert 0.09 < np.mean(taken) < 0.11
    assert all(in_reference(url, 1.0) for url in urls)
    wider = [in_reference(url, 0.3) for url in urls]
    assert all(more for less, more in zip(taken, wider, strict=True) if less)


@settings(max_examples=25)
@given(counts=COUNTS, documents=st.integers(2, 4))
def test_the_words_that_are_shown_have_their_share_with_an_interval(counts, documents):
    assume(len(counts) > 2)
    found = pd.concat([fillers(counts, url=f"book{number}#") for number in range(documents)])
    associated = association(found, reference({"a": 1000, "b": 200, "c": 5}), 0.5)
    table = shown_fillers(found, associated, ["recipient", "verb"])
    n = sum(counts.values())
    assert set(table["word"]) == set(counts)
    for row in table.itertuples():
        assert row.share == pytest.approx(counts[row.word] / n)
        assert 0 <= row.low <= row.share <= row.high <= 1
    signed = (table["g2"] * np.sign(table["delta_p_word"])).tolist()
    assert signed == sorted(signed, reverse=True)


def test_of_many_words_those_are_shown_that_a_slot_attracts_most():
    counts = {f"verb{number}": number for number in range(1, SHOWN + 11)}
    found = fillers(counts)
    table = shown_fillers(found, association(found, reference(dict.fromkeys(counts, 900)), 0.5), ["verb"])
    assert len(table) == SHOWN
    assert table["word"].iloc[0] == f"verb{SHOWN + 10}"
    assert table["delta_p_word"].iloc[0] > 0
