"""Where minimal pairs come from, this project or benchmarks of others, and cells in which one answer is always right.

The accuracy of such a cell is how much a model likes that answer. Where "unclear" is right and "clear" is wrong in all
pairs, whatever the sentences say, a model that likes the word gets them all. Such cells follow from the texts. They are
reported one by one and are left out of an accuracy over several cells.
"""

import re
from collections.abc import Callable
from itertools import zip_longest
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.texts import without_gaps
from cxprobe.tasks.pairs.params import AskedPairs, PairsParams

OWN_PAIRS = "own"
"""The source of this project's pairs; others are called by their benchmark."""
MADE = DATA / "make_pairs"
_KEYS = ("construction", "words", "variant", "group")  # the last is of benchmarks
_EDGES = re.compile(r"^\W+|\W+$")


def folder_of(source: str) -> Path:
    """Return where the files of a source are in the folder of a stage or model."""
    return Path() if source == OWN_PAIRS else Path("benchmarks", source)


def made_file(construction: str) -> Path:
    """Return the file of the pairs of a construction."""
    return MADE / f"{construction}.parquet"


def read_sources(params: PairsParams, use: Callable[[Path], Path]) -> dict[str, pd.DataFrame]:
    """Return source -> its pairs, with the column source: "real" or "pseudo" words, or the benchmark.

    Args:
        params: The section.
        use: Notes a path as an input, and returns it.
    """
    files = {OWN_PAIRS: [made_file(name) for name in params.constructions]} if params.constructions else {}
    files |= {name: [MADE / folder_of(name).with_suffix(".parquet")] for name in params.benchmarks}
    tables = {}
    for source, paths in files.items():
        pairs = without_gaps(pd.concat([read_table(use(path)) for path in paths], ignore_index=True))
        tables[source] = pairs.assign(source=pairs["words"] if source == OWN_PAIRS else source)
    return tables


def first_items(pairs: pd.DataFrame, asked: AskedPairs) -> pd.DataFrame:
    """Return the pairs of the first items of each construction, kind of words and noun type, as many as are asked.

    Of benchmarks, which have no such kinds, all pairs are asked.
    """
    most = asked.model_dump(exclude_none=True)
    if not most or "tests" not in pairs:
        return pairs
    items = pairs.drop_duplicates("item")
    number = items.groupby(["construction", "tests", "words", "noun_type"]).cumcount()
    return pairs[pairs["item"].isin(items.loc[number < items["tests"].map(most).fillna(inf), "item"])]


def telling_words(good: str, bad: str) -> tuple[str, str]:
    """Return the first words in which two texts differ, in lower case; an empty text where one ends before the other.

    Args:
        good: The right text.
        bad: The wrong one.
    """
    words = ([_EDGES.sub("", word).lower() for word in text.split()] for text in (good, bad))
    return next(((right, wrong) for right, wrong in zip_longest(*words, fillvalue="") if right != wrong), ("", ""))


def with_balance(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with the columns right and wrong, the first words in which they differ, and balanced, a bool.

    The texts of a pair are told apart by the first word in which they differ. A cell is not balanced if it has
    more than one pair, this is the same word in all of them, and so is the wrong word that replaces it; unless the
    other cells of its kind, such as the other variants of its construction, make up for that: there the two words
    are exchanged, and each is right as often as it is wrong.

    Args:
        pairs: One row a pair: good and bad, texts; and those of the columns construction, words, variant and group that
            make its cells, of which the last tells the cells of a kind apart.
    """
    keys = [column for column in _KEYS if column in pairs.columns]
    words = [telling_words(*texts) for texts in zip(pairs["good"], pairs["bad"], strict=True)]
    labelled = pairs.assign(right=[right for right, _ in words], wrong=[wrong for _, wrong in words])
    cells = labelled.groupby([labelled[key] for key in keys] or np.zeros(len(labelled)), sort=False)
    words_of_cell = cells[["right", "wrong"]].transform("nunique")
    one_answer = (cells["right"].transform("size") > 1) & (words_of_cell == 1).all(axis=1)
    more = [(right > wrong) - (right < wrong) for right, wrong in words]
    exchanged = labelled.assign(words=["\0".join(sorted(both)) for both in words], more=more)
    made_up_for = exchanged.groupby([*keys[:-1], "words"])["more"].transform("sum") == 0
    return labelled.assign(balanced=~one_answer | made_up_for)


def unbalanced_cells(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which one answer is always right, and why.

    Args:
        pairs: See `with_balance`.

    Returns:
        One row a cell: the columns that make cells; right and wrong, the two words in lower case; n, the number of
        pairs; and reason, a sentence.
    """
    labelled = with_balance(pairs)
    unbalanced = labelled[~labelled["balanced"]]
    keys = [column for column in _KEYS if column in pairs.columns]
    table = unbalanced.groupby([*keys, "right", "wrong"], sort=False).size().rename("n").reset_index()
    n = table["n"].astype(str)
    reasons = "'" + table["right"] + "' is right and '" + table["wrong"] + "' is wrong in all " + n + " pairs"
    return table.assign(reason=reasons)
