"""Where minimal pairs come from, this project or benchmarks of others, and where the stages keep what concerns them."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.texts import without_gaps
from cxprobe.stats import CLUSTER, UNIT
from cxprobe.tasks.pairs.params import AskedPairs, PairsParams

OWN_PAIRS = "own"
"""The source of this project's pairs; others are called by their benchmark."""
MADE = DATA / "make_pairs"
FRAME = f"{CLUSTER}frame"
"""The column of the frame that a pair is made of."""


def folder_of(source: str) -> Path:
    """Return where the files of a source are in the folder of a stage or model."""
    return Path() if source == OWN_PAIRS else Path("benchmarks", source)


def made_file(construction: str) -> Path:
    """Return the file of the pairs of a construction."""
    return MADE / f"{construction}.parquet"


def made_files(params: PairsParams) -> dict[str, list[Path]]:
    """Return the files of pairs of each source that there is."""
    sources = {OWN_PAIRS: [made_file(name) for name in params.constructions]} if params.constructions else {}
    return sources | {name: [MADE / folder_of(name).with_suffix(".parquet")] for name in params.benchmarks}


def read_made(paths: Sequence[Path]) -> pd.DataFrame:
    """Read pairs of several files as one table, see `without_gaps`."""
    return without_gaps(pd.concat([read_table(path) for path in paths], ignore_index=True))


def first_items(pairs: pd.DataFrame, asked: AskedPairs) -> pd.DataFrame:
    """Return the pairs of the first items of each construction, kind of words and noun type, as many as are asked."""
    most = asked.model_dump(exclude_none=True)
    if not most:
        return pairs
    items = pairs.drop_duplicates("item")
    kinds = [name for name in ("construction", "tests", "words", "noun_type") if name in items]
    number = items.groupby(kinds).cumcount()
    return pairs[pairs["item"].isin(items.loc[number < items["tests"].map(most).fillna(inf), "item"])]


def with_units(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with the column unit (`cxprobe.stats.rate_by`): the frame of those that are asked in two orders.

    Pairs of meaning and controls whose frames have one order have units too: there each of two answers is right in half
    of the pairs of a frame.

    Args:
        pairs: Those without the columns order and cluster_frame have no units.
    """
    if not {"order", FRAME} <= {*pairs.columns}:
        return pairs
    keys = [column for column in ("construction", "words", FRAME) if column in pairs.columns]
    united = pairs.groupby(keys)["order"].transform("nunique") > 1
    if "tests" in pairs.columns:
        united |= pairs["tests"] != "form"
    return pairs.assign(**{UNIT: pairs[FRAME].where(united, "")})
