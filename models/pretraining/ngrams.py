"""Counts of n-grams for the carried trigram model, see `cxprobe.models.ngrams`."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from cxprobe.files.writing import replacing
from cxprobe.models.ngrams import DISCOUNTS, GRAM_COLUMNS, START, UNKNOWN, sentences_of
from pretraining.settings import Ngrams

_SCHEMA = pa.schema([*((name, pa.string()) for name in GRAM_COLUMNS), ("count", pa.int32()), ("total", pa.int32())])
_FIRST, _SECOND, _THIRD = _WORDS = list(GRAM_COLUMNS)


def count_ngrams(texts: Iterable[str], least: Ngrams) -> pa.Table:
    """Count the n-grams of texts, sentence by sentence, and prune them.

    Args:
        texts: Running text.
        least: How often what is kept must occur. Totals and discounts are those of all n-grams.

    Returns:
        The table that `cxprobe.models.ngrams` describes, as pyarrow keeps it.
    """
    spoken = [[word.text for word in sentence] for text in texts for sentence in sentences_of(text)]
    times = Counter(word for sentence in spoken for word in sentence)
    words = [START, UNKNOWN, *sorted(word for word, number in times.items() if number >= least.word)]
    numbers = {word: number for number, word in enumerate(words)}
    stream = np.array([number for sentence in spoken for number in (0, *(numbers.get(word, 1) for word in sentence))])
    grams = pd.DataFrame({_FIRST: stream[:-2], _SECOND: stream[1:-1], _THIRD: stream[2:]})
    last_two = pd.DataFrame({_SECOND: stream[:-1], _THIRD: stream[1:]})

    # No n-gram goes over the start of a sentence, which is word 0.
    inside = grams[(grams[_SECOND] != 0) & (grams[_THIRD] != 0)]
    triples = inside.groupby(_WORDS).size().rename("count").reset_index()
    pairs = last_two[last_two[_THIRD] != 0].groupby([_SECOND, _THIRD]).size().rename("count").reset_index()
    # But at the start of a sentence, a pair counts as often as different words stand before it.
    before = triples.groupby([_SECOND, _THIRD]).size()
    counted = pd.MultiIndex.from_frame(pairs[[_SECOND, _THIRD]])
    pairs["count"] = pairs["count"].where(pairs[_SECOND] == 0, before.reindex(counted).to_numpy()).astype(int)
    singles = pairs.groupby(_THIRD).size().rename("count").reset_index().assign(total=len(pairs))
    pairs["total"] = pairs.groupby(_SECOND)["count"].transform("sum")
    triples["total"] = triples.groupby([_FIRST, _SECOND])["count"].transform("sum")

    kept = [singles, pairs[pairs["count"] >= least.pair], triples[triples["count"] >= least.triple]]
    table = pd.concat(kept, ignore_index=True).reindex(columns=_SCHEMA.names)
    table[_WORDS] = table[_WORDS].fillna(-1).astype(int)  # the place of a word that is none
    table = table.sort_values(_WORDS)
    texts_of_words = np.array([*words, ""], dtype=object)  # -1 is the last one
    for name in _WORDS:
        table[name] = texts_of_words[table[name]]
    discounts = json.dumps([_discount(pairs["count"]), _discount(triples["count"])])
    return pa.Table.from_pandas(table, _SCHEMA, preserve_index=False).replace_schema_metadata({DISCOUNTS: discounts})


def _discount(counts: "pd.Series[int]") -> float:
    """Return n1 / (n1 + 2 n2), where n1 n-grams have the count 1 and n2 the count 2 (Ney, Essen & Kneser 1994)."""
    once, twice = (int((counts == times).sum()) for times in (1, 2))
    return once / (once + 2 * twice) if once else 0.0


def write_ngrams(table: pa.Table, path: Path) -> None:
    """Write a table of counts as a .parquet file, as small as it gets."""
    with replacing(path) as partial:
        options = {"dictionary_pagesize_limit": 2**22, "row_group_size": len(table), "write_statistics": False}
        pa.parquet.write_table(table, partial, compression="brotli", compression_level=11, **options)
