"""The judged minimal pairs of several models, whichever stage has judged each of them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import ContinuationAlone, Member

Use = Callable[[Path], Path]
"""Notes a path as an input of a stage and returns it (`cxprobe.stages.Stage.use`)."""


def read_judged_pairs(use: Use, members: Sequence[Member], constructions: Iterable[str], table: str) -> pd.DataFrame:
    """Read a table of judged pairs of several models, construction by construction, with the column model.

    Args:
        use: Notes each file.
        members: The models, at least one. A model that is asked in words was judged by a stage of its own; one that is
            shown the continuation alone lacks the constructions whose pairs have no context.
        constructions: At least one.
        table: "items" or "scores"; of models that are asked "replies" too.

    Raises:
        DataError: A file is missing (``use`` refuses it).
    """
    tables = []
    for construction, member in product(constructions, members):
        stage = "judge_pair_replies" if member.is_asked else "judge_pairs"
        folder = DATA / stage / member.entry / member.inside / construction
        if folder.exists() or not isinstance(member.spec, ContinuationAlone):
            tables.append(read_table(use(folder / f"{table}.parquet")).assign(model=member.slug))
    return _joined(tables)


def read_judged_benchmark(use: Use, name: str, members: Sequence[Member], table: str) -> pd.DataFrame:
    """Read a table of judged pairs of a benchmark of several models, with the column model.

    Args:
        use: Notes each folder.
        name: The benchmark.
        members: The models, at least one.
        table: See `read_judged_pairs`.

    Raises:
        DataError: A folder is missing (``use`` refuses it).
    """
    tables = []
    for member in members:
        stage = "judge_benchmark_replies" if member.is_asked else "judge_benchmarks"
        folder = use(DATA / stage / member.entry / name)
        tables.append(read_table(folder / member.inside / f"{table}.parquet").assign(model=member.slug))
    return _joined(tables)


def _joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return tables as one; a model without judged pairs, whose replies could not be read, adds nothing."""
    return pd.concat([one for one in tables if len(one)] or tables[:1], ignore_index=True)
