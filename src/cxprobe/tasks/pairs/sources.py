"""Where minimal pairs come from, this project or benchmarks of others, and where the stages keep what concerns them."""

from collections.abc import Callable
from math import inf
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.texts import without_gaps
from cxprobe.tasks.pairs.params import AskedPairs, PairsParams

OWN_PAIRS = "own"
"""The source of this project's pairs; others are called by their benchmark."""
MADE = DATA / "make_pairs"


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
