"""Counts of n-grams for the carried trigram model, see `cxprobe.lm.ngrams`."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from cxprobe.files.writing import replacing
from cxprobe.lm.ngrams import COLUMNS, DISCOUNTS, START, UNKNOWN, sentences_of
from cxprobe_pretraining.settings import BuildNgrams

_SCHEMA = pa.schema([*((name, pa.string()) for name in COLUMNS), ("count", pa.int32()), ("total", pa.int32())])


def count_ngrams(texts: Iterable[str], least: BuildNgrams) -> pa.Table:
    """Count the n-grams of texts, sentence by sentence, and prune them.

    Args:
        texts: Running text.
        least: How often what is kept must occur. Totals and discounts are those of all n-grams.

    Returns:
        The table that `cxprobe.lm.ngrams` describes, as pyarrow keeps it.
    """
    numbers, words = _numbered(texts, least.word)  # (words of all sentences,)
    size = len(words)
    triples = _keys(numbers, 3, size)
    pairs = _keys(numbers, 2, size)
    triple, times = np.unique(triples, return_counts=True)
    pair, occurrences = np.unique(pairs, return_counts=True)
    before = _times(triple % size**2, pair)  # how many different words stand before each pair
    adjusted = np.where(pair // size == 0, occurrences, before)  # START is word 0
    single, preceding = np.unique(pair % size, return_counts=True)
    in_triple = (triple // size**2, triple // size % size, triple % size)
    parts = [
        _part((single,), preceding, np.full(len(single), len(pair)), 1),
        _part((pair // size, pair % size), adjusted, _totals(pair // size, adjusted), least.pair),
        _part(in_triple, times, _totals(triple // size, times), least.triple),
    ]
    discounts = json.dumps([_discount(adjusted), _discount(times)])
    return _table(np.concatenate(parts), words).replace_schema_metadata({DISCOUNTS: discounts})


def write_ngrams(table: pa.Table, path: Path) -> None:
    """Write a table of counts as a .parquet file, as small as it gets."""
    with replacing(path) as partial:
        pa.parquet.write_table(
            table,
            partial,
            compression="zstd",
            compression_level=19,
            dictionary_pagesize_limit=2**22,
            row_group_size=len(table),
            write_statistics=False,
        )


def _numbered(texts: Iterable[str], least: int) -> tuple[NDArray[np.int64], list[str]]:
    """Return all sentences, each behind START, as the numbers of their words; and the words."""
    first: dict[str, int] = {START: 0}
    raw: list[int] = []
    for text in texts:
        for sentence in sentences_of(text):
            raw.append(0)
            raw.extend(first.setdefault(word.text, len(first)) for word in sentence)
    spoken = Counter(raw)
    kept = sorted(word for word, number in first.items() if number and spoken[number] >= least)
    words = [START, UNKNOWN, *kept]
    number = {word: place for place, word in enumerate(words)}
    renumber = np.array([number.get(word, 1) for word in first], dtype=np.int64)
    return renumber[np.array(raw, dtype=np.int64)], words


def _keys(numbers: NDArray[np.int64], length: int, size: int) -> NDArray[np.int64]:
    """Return each n-gram as one number, without those that go over the start of a sentence."""
    columns = [numbers[place : len(numbers) - length + 1 + place] for place in range(length)]
    inside = np.all([column != 0 for column in columns[1:]], axis=0)
    keys = np.zeros(int(inside.sum()), dtype=np.int64)
    for column in columns:
        keys = keys * size + column[inside]
    return keys


def _times(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each of the wanted keys, ascending, is among others."""
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, side="right") - np.searchsorted(ordered, wanted, side="left")


def _totals(histories: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each n-gram the sum of the counts of those with its history; histories ascend."""
    _, places = np.unique(histories, return_inverse=True)
    return np.bincount(places, weights=counts).astype(np.int64)[places]


def _discount(counts: NDArray[np.int64]) -> float:
    """Return n1 / (n1 + 2 n2), where n1 n-grams have the count 1 and n2 the count 2 (Ney, Essen & Kneser 1994)."""
    once, twice = (int((counts == times).sum()) for times in (1, 2))
    return once / (once + 2 * twice) if once else 0.0


def _part(
    words: tuple[NDArray[np.int64], ...], counts: NDArray[np.int64], totals: NDArray[np.int64], least: int
) -> NDArray[np.int64]:
    """Return the n-grams of one length that are kept: shape (n-grams, 5), -1 in the place of a word that is none."""
    kept = counts >= least
    none = [np.full(len(counts), -1)] * (3 - len(words))
    return np.column_stack([*none, *words, counts, totals])[kept]


def _table(rows: NDArray[np.int64], words: list[str]) -> pa.Table:
    ordered = rows[np.lexsort(rows[:, 2::-1].T)]
    texts = np.array([*words, ""], dtype=object)  # -1 is the last one
    columns = [pa.array(texts[ordered[:, place]], pa.string()) for place in range(3)]
    numbers = [pa.array(ordered[:, place], pa.int32()) for place in (3, 4)]
    return pa.Table.from_arrays([*columns, *numbers], schema=_SCHEMA)
