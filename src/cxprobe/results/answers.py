"""Tables of made and evaluated data, as exports and plans read them."""

from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.stats import CLUSTER, cluster_columns


def read_made_table(path: Path) -> pd.DataFrame:
    """Read a table of the project's data.

    Raises:
        DataError: It is missing.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing; run `dvc repro`, or `dvc pull`, in the project's folder, and try again")
    return read_table(path)


def cluster_lists(table: pd.DataFrame) -> "pd.Series[Any]":
    """Return the clusters of each row, a list of "name=value", of the columns that begin with ``cluster_``.

    Where several tables were joined, a row without a cluster of some kind has its own id there, or nothing: it is left
    out.
    """
    clusters = table[cluster_columns(table)]
    names = clusters.columns.str.removeprefix(CLUSTER)
    ids = table["id"] if "id" in table else table["item"]
    lists = []
    for id_, values in zip(ids, clusters.to_numpy().tolist(), strict=True):
        named = zip(names, values, strict=True)
        lists.append([f"{name}={value}" for name, value in named if isinstance(value, str) and value != id_])
    return pd.Series(lists, index=table.index, dtype=object)


def other_where_wrong(correct: "pd.Series[Any]", right: "pd.Series[Any]", wrong: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return the right answer where the decision is right, the wrong one where it is wrong, and nothing for a tie."""
    return right.where(correct == 1, wrong.where(correct == 0, ""))
