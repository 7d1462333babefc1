"""Minimal pairs as a table, and back."""

from collections.abc import Sequence

import pandas as pd

from cxprobe.records import CLUSTER, Pair

TEXTS = ("id", "item", "context", "good", "bad")


def pair_table(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return pairs as a table: id, item, context, good, bad, each group, and each cluster as cluster_<name>.

    Where files differ in their columns, a pair without a group has an empty text there; without a cluster, its own id,
    so that it shares a cluster of that kind with no other.
    """
    rows = [
        {"id": pair.id, "item": pair.item, "context": pair.context, "good": pair.good, "bad": pair.bad}
        | dict(pair.groups)
        | {f"{CLUSTER}{name}": cluster for name, cluster in pair.clusters.items()}
        for pair in pairs
    ]
    table = pd.DataFrame(rows)
    for column in table.columns[table.isna().any()]:
        table[column] = table[column].fillna(table["id"] if column.startswith(CLUSTER) else "")
    return table


def pairs_of(table: pd.DataFrame) -> list[Pair]:
    """Return the pairs of a table that `pair_table` made."""
    clusters = [column for column in table.columns if column.startswith(CLUSTER)]
    groups = [column for column in table.columns if column not in {*TEXTS, *clusters}]
    return [
        Pair(
            **{column: row[column] for column in TEXTS},
            groups={column: row[column] for column in groups},
            clusters={column.removeprefix(CLUSTER): row[column] for column in clusters},
        )
        for row in table.to_dict("records")
    ]
