"""Pairs from files of others: BLiMP, and any file in the generic format.

**The generic format** is a table with a header: tab-separated (.tsv) without quoting, or one JSON object a line
(.jsonl), in UTF-8, either compressed (.gz) or not. It is also what ``pair_table`` makes. Columns:

    id         names the pair; every pair has its own
    good, bad  the right and the wrong text, or how each continues after the context
    context    what both begin with; empty or left out if there is nothing
    item       names what several pairs are about; left out, every pair is an item
    cluster_*  what the pair shares with others, for intervals; left out, every item is a cluster
    others     what the pair is reported under: construction, variant ...

Where there is a context, a space separates it from what follows, unless that begins with one.

Texts stay as they are in their files. Pairs with two equal members are kept: they tie under any model. What could mean
two things is refused with its row, and never read as one of them: a column or a key that is there twice, an empty cell
where a text or a name must be.
"""

import re
from pathlib import Path

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.reading import shown
from cxprobe.files.schema import SLUG_PATTERN
from cxprobe.files.texts import read_pair_table, read_texts, require_texts
from cxprobe.models.scores import GIVEN_CONTEXT
from cxprobe.models.texts import PAIR_COLUMNS, without_gaps
from cxprobe.results.rates import ALL
from cxprobe.stats import CLUSTER, cluster_columns
from cxprobe.tasks.pairs.params import Benchmark

BLIMP = ("sentence_good", "sentence_bad", "field", "linguistics_term", "UID", "pairID")
PHENOMENA = {"s-selection": "argument_structure"}
"""BLiMP's linguistics_term -> the phenomenon, where they differ: the paradigms animate_subject_passive and
animate_subject_trans have a term of their own, and are among the 9 of argument structure in Table 4 of Warstadt et al.
2020, whose phenomena are 12."""


def read_generic(path: Path) -> pd.DataFrame:
    """Read a file in the generic format.

    Raises:
        DataError: The file does not exist, is not such a table, or lacks a column; or an id, a text, an item or a
            cluster is empty. The message has the line.
    """
    table = read_pair_table(path)
    require_texts(table, ["id"], path)
    table = table.assign(context=table.get("context", ""), item=table.get("item", table["id"]))
    for side in ("good", "bad"):
        touching = (table["context"] != "") & ~table[side].str.startswith(" ")
        table[side] = table[side].mask(touching, " " + table[side])
    return table if cluster_columns(table) else table.assign(**{f"{CLUSTER}item": table["item"]})


def read_blimp(path: Path) -> pd.DataFrame:
    """Read a paradigm of BLiMP: ``<UID>.jsonl``, compressed or not.

    The pairs are reported under field, phenomenon (one of 12, see `PHENOMENA`) and paradigm (BLiMP's UID), each as a
    slug; so the one field that is spelt in two ways, with "_" and with "/", is spelt in one.

    Raises:
        DataError: See `read_generic`.

    Source:
        Warstadt et al. 2020, Table 4.
    """
    table = read_texts(path, BLIMP)
    ids, terms = table["UID"] + "-" + table["pairID"], table["linguistics_term"].replace(PHENOMENA)
    groups = {"field": table["field"], "phenomenon": terms, "paradigm": table["UID"]}
    texts = {"context": "", "good": table["sentence_good"], "bad": table["sentence_bad"]}
    slugs = {column: names.map(slug_of) for column, names in groups.items()}
    return pd.DataFrame({"id": ids, "item": ids, **texts, **slugs, f"{CLUSTER}pair": ids})


def benchmark_files(folder: Path, benchmark: Benchmark) -> list[Path]:
    """Return the files of a benchmark, sorted.

    Raises:
        DataError: No file matches.
    """
    paths = sorted(folder.glob(benchmark.files))
    if not paths:
        raise DataError(
            f"{folder}: no file matches {benchmark.files}; `dvc import` fetches a benchmark's files (`dvc pull` those "
            "that were imported elsewhere); or take it out of pairs.benchmarks"
        )
    return paths


def read_benchmark(folder: Path, benchmark: Benchmark) -> pd.DataFrame:
    """Read the files of a benchmark as pairs with the groups construction and, of several columns, group.

    Args:
        folder: Where its files are.
        benchmark: The parameters; by its first column pairs are reported like those of a construction.

    Returns:
        The columns id, item, context, good, bad, the groups, and the clusters.

    Raises:
        DataError: A file is damaged, an id is there twice, the pairs cannot be evaluated as the parameters say, or the
            name of a group is no slug, or that of all groups; with its row.
    """
    tables, read = [], read_blimp if benchmark.format == "blimp" else read_generic
    for path in benchmark_files(folder, benchmark):
        table = read(path)
        tables.append(table.assign(place=[f"{path}, row {row}" for row in range(1, len(table) + 1)]))
    pairs = without_gaps(pd.concat(tables, ignore_index=True))
    clusters = cluster_columns(pairs)
    groups = pairs.columns.drop([*PAIR_COLUMNS, *clusters, "place"])
    for column in benchmark.by:
        if column not in groups:
            raise DataError(
                f"{folder}: by names {column}; the pairs can be reported by {', '.join(groups) or 'nothing'}"
            )
        for place, name in pairs[["place", column]].itertuples(index=False, name=None):
            if name == ALL or not re.fullmatch(SLUG_PATTERN, name):
                slug = slug_of(name)
                remedy = f"write {slug}" if slug not in ("", ALL) else "write a slug, such as agreement-1"
                raise DataError(
                    f"{place}: {column} is {shown(name)}; a group has a slug, of lower-case letters, digits and "
                    f"hyphens, other than {ALL}: {remedy}"
                )
    for place, id_ in pairs.loc[pairs["id"].duplicated(), ["place", "id"]].itertuples(index=False, name=None):
        raise DataError(f"{place}: the id {shown(id_)} occurs more than once; give every pair its own")
    bare = pairs.loc[pairs["context"] == "", "id"]
    if benchmark.score == GIVEN_CONTEXT and len(bare):
        raise DataError(
            f"{folder}: score is {benchmark.score}, which needs a context; {len(bare)} of {len(pairs)} pairs have "
            f"none, such as {bare.iloc[0]}; take another score"
        )
    first, *others = benchmark.by
    named = pairs[[*PAIR_COLUMNS]].assign(construction=pairs[first])
    if others:
        named["group"] = pairs[others].agg(", ".join, axis=1)
    return named.join(pairs[clusters])


def slug_of(name: str) -> str:
    """Return a name as a slug; "" if it has no letter a to z and no digit."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
